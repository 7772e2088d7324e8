package xls

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"strconv"

	"sheetlift/importers/source"
	"sheetlift/importers/source/biff"
	"sheetlift/importers/source/filepass"
	"sheetlift/importers/source/numfmt"
)

// globals is what is gathered from the records that all sheets share. Code page and formats may come after what they are for.
type globals struct {
	names []rawName
	codes map[int]formatCode // by the number that formats have, or their order before BIFF5
	ids   []int              // of the format of each XF
}

type rawName struct {
	at, state, kind int
	text            []byte
	decoded         bool
}

type formatCode struct {
	text    []byte
	decoded bool
}

// readGlobals reads the records at the beginning of the stream: those of the workbook, or all of a sheet that stands alone.
func (b *Book) readGlobals(ctx context.Context, charset string) error {
	r := b.records(ctx, 0)
	rec, err := r.next()
	if err != nil {
		return b.cut(err)
	}
	version, kind, err := b.begin(rec)
	if err != nil {
		return err
	}
	b.version = version
	switch kind {
	case kindGlobals:
	case kindSheet, kindMacro:
		b.sheets = []sheet{{info: source.SheetInfo{Name: "Sheet1", Visibility: source.Visible, Kind: source.Worksheet}}}
		if kind == kindMacro {
			b.sheets[0].info.Kind = source.MacroSheet
		}
	default:
		return b.fault(source.ErrUnsupported, "it is an old Excel file (.xls) of a kind that isn't read", biff.RemedyResave)
	}
	g := &globals{codes: map[int]formatCode{}}
	for depth := 1; depth > 0; {
		if rec, err = r.next(); err != nil {
			return b.cut(err)
		}
		switch {
		case isBOF(rec.id):
			depth++
		case rec.id == recEOF:
			depth--
		case depth == 1:
			if err := b.global(g, r, rec); err != nil {
				return b.cut(err)
			}
		}
	}
	if err := b.declared(charset); err != nil {
		return err
	}
	b.makeFormats(g)
	if kind == kindGlobals {
		return b.listSheets(r, g)
	}
	if len(g.names) > 0 {
		return b.fault(source.ErrMalformed, "it lists sheets and begins with one, so that others might be missed", biff.RemedyResave)
	}
	switch _, more, err := r.follows(recBOF, recBOF2, recBOF3, recBOF4); {
	case err != nil:
		return b.cut(err)
	case more:
		return b.fault(source.ErrUnsupported, "it holds several sheets and no list of them", biff.RemedyResave)
	}
	return nil
}

func (b *Book) global(g *globals, r *records, rec record) (err error) {
	p := rec.body
	u16 := func(i int) int { return int(binary.LittleEndian.Uint16(p[i:])) }
	switch rec.id {
	case recFilePass:
		return b.decrypt(r)
	case recSheetList4:
		return b.fault(source.ErrUnsupported, "it is a workbook of Excel 4.0 with several sheets", biff.RemedyResave)
	case recDateMode:
		b.info.Date1904 = len(p) >= 2 && u16(0) == 1
	case recCodePage:
		if len(p) >= 2 {
			return b.setCodePage(uint16(u16(0)))
		}
	case recSST:
		b.sst = rec.at
	case recBoundSheet:
		if b.version < 5 || len(p) < 8 {
			break
		}
		n := rawName{at: int(binary.LittleEndian.Uint32(p)), state: int(p[4]), kind: int(p[5])}
		n.text, n.decoded, err = b.shortText(r, p[6:], 1)
		g.names = append(g.names, n)
		return b.named(err, "the name of sheet "+strconv.Itoa(len(g.names)))
	case recFormat2, recFormat:
		return b.format(g, r, rec)
	case recXF:
		if len(p) >= 4 {
			g.ids = append(g.ids, u16(2))
		}
		b.look(p)
	case recFont:
		b.font(p)
	case recName:
		return b.definedName(r, p)
	case recSupBook:
		b.marks.own = append(b.marks.own, len(p) >= 4 && u16(2) == 0x0401)
	case recExternal:
		return b.external(r, p)
	case recXF3, recXF4:
		if len(p) >= 2 {
			g.ids = append(g.ids, int(p[1]))
		}
	}
	return nil
}

// decrypt goes on with the records as they were before they were encrypted.
func (b *Book) decrypt(r *records) error {
	if b.plain {
		return nil
	}
	plain, err := filepass.Decrypt(b.r, b.size, b.password, filepass.Default)
	var e *source.Error
	switch {
	case err == nil:
		b.r, b.plain, r.window = bytes.NewReader(plain), true, nil
		return nil
	case errors.Is(err, filepass.ErrScheme):
		e = b.fault(source.ErrEncrypted, "the workbook is protected with a password in a way that isn't read", "open it in Excel and save it without a password")
	case !errors.Is(err, filepass.ErrPassword):
		e = b.fault(source.ErrUnreadable, "reading failed", "check the disk or the share it lies on")
	case b.password == "":
		e = b.fault(source.ErrEncrypted, "the workbook is protected with a password", "give the password in the environment variable SHEETLIFT_PASSWORD (cells also takes --password-file FILE), or save the workbook without one")
	default:
		e = b.fault(source.ErrEncrypted, "the password does not open the workbook", "check the password, or ask for an export without one")
	}
	e.Err = err
	return e
}

// named says in which text an error is.
func (b *Book) named(err error, what string) error {
	if err == nil {
		return nil
	}
	return b.textFault(err, what)
}

// shortText gives a string whose length takes one byte or two: decoded in BIFF8, as its bytes before.
func (b *Book) shortText(r *records, p []byte, lengthBytes int) (raw []byte, decoded bool, err error) {
	if len(p) < lengthBytes {
		return nil, false, nil
	}
	n := int(p[0])
	if lengthBytes == 2 {
		n = int(binary.LittleEndian.Uint16(p))
	}
	p = p[lengthBytes:]
	if b.version == 8 {
		t := &text{r: r, body: p}
		raw, err = t.unicode(nil, n)
		return raw, true, err
	}
	return append([]byte(nil), p[:min(n, len(p))]...), false, nil
}

func (b *Book) format(g *globals, r *records, rec record) error {
	p, id, lengthBytes := rec.body, len(g.codes), 1
	switch {
	case b.version == 4 && len(p) >= 2:
		p = p[2:]
	case b.version >= 5 && len(p) >= 2:
		id, p = int(binary.LittleEndian.Uint16(p)), p[2:]
		if b.version == 8 {
			lengthBytes = 2
		}
	}
	raw, decoded, err := b.shortText(r, p, lengthBytes)
	if err != nil && !errors.Is(err, errText) && !errors.Is(err, io.ErrUnexpectedEOF) { // a damaged format is no reason to refuse the cells
		return err
	}
	g.codes[id] = formatCode{raw, decoded}
	return nil
}

// makeFormats gives each number that a cell may give its format. In BIFF2 that is the format's own; later the one of an XF.
func (b *Book) makeFormats(g *globals) {
	parsed := map[int]numfmt.Format{}
	for id, c := range g.codes {
		code := c.text
		if !c.decoded {
			if decoded, err := b.appendBytes(nil, code); err == nil {
				code = decoded
			}
		}
		parsed[id] = numfmt.Parse(string(code))
	}
	if b.version == 2 {
		for id := range len(g.codes) {
			b.formats = append(b.formats, parsed[id])
		}
		return
	}
	for _, id := range g.ids {
		f, ok := parsed[id]
		if !ok && b.version >= 5 {
			f = numfmt.Builtin(id)
		}
		b.formats = append(b.formats, f)
	}
}

// listSheets makes the list of sheets, whose records must begin where the list says.
func (b *Book) listSheets(r *records, g *globals) error {
	for i, n := range g.names {
		s := sheet{pos: int64(n.at), info: source.SheetInfo{Visibility: source.Visible, Kind: source.Worksheet}}
		name := n.text
		if !n.decoded {
			var err error
			if name, err = b.appendBytes(nil, name); err != nil {
				return b.textFault(err, "the name of sheet "+strconv.Itoa(i+1))
			}
		}
		s.info.Name = string(name)
		switch n.state & 3 {
		case 1:
			s.info.Visibility = source.Hidden
		case 2:
			s.info.Visibility = source.VeryHidden
		}
		fault := func(what, remedy string) error {
			f := b.fault(source.ErrMalformed, what, remedy)
			f.Sheet = s.info.Name
			return f
		}
		switch n.kind {
		case 1:
			s.info.Kind = source.MacroSheet
		case 2:
			s.info.Kind = source.ChartSheet
		case 6: // a module of Visual Basic: text, not cells
			s.info.Kind, s.empty = source.MacroSheet, true
			b.sheets = append(b.sheets, s)
			continue
		}
		for _, other := range b.sheets {
			if other.pos == s.pos && !other.empty {
				return fault("this sheet and sheet "+strconv.Quote(other.info.Name)+" share their records", biff.RemedyResave)
			}
		}
		r.jump(s.pos)
		rec, err := r.next()
		if err != nil {
			if err = b.cut(err); errors.Is(err, source.ErrTruncated) {
				return fault("its records lie beyond the end of the workbook", biff.RemedyDamaged)
			}
			return err
		}
		_, kind, err := b.begin(rec)
		if err != nil {
			return fault("no records of a sheet begin where the workbook says", biff.RemedyDamaged)
		}
		switch { // what begins there counts, whatever the list calls it
		case kind == kindChart:
			s.info.Kind, s.empty = source.ChartSheet, true
		case s.info.Kind == source.ChartSheet:
			s.info.Kind = source.Worksheet
		}
		b.sheets = append(b.sheets, s)
	}
	if len(b.sheets) == 0 {
		return b.fault(source.ErrMalformed, "the workbook lists no sheets", biff.RemedyResave)
	}
	return nil
}

// readStrings reads the shared strings (MS-XLS 2.4.265).
func (b *Book) readStrings(ctx context.Context) (*biff.Strings, error) {
	s := &biff.Strings{}
	if b.sst == 0 {
		return s, nil
	}
	r := b.records(ctx, b.sst)
	rec, err := r.next()
	if err != nil {
		return nil, b.cut(err)
	}
	t := &text{r: r, body: rec.body}
	p, err := t.take(8)
	if err != nil {
		return nil, b.cut(err)
	}
	for count := binary.LittleEndian.Uint32(p[4:]); count > 0; count-- {
		if len(t.body) == 0 {
			rec, ok, err := r.follows(recContinue)
			if err != nil {
				return nil, b.cut(err)
			}
			if !ok {
				break // fewer than declared: a cell that points to one of them is refused
			}
			t.body = rec.body
			count++
			continue
		}
		if p, err = t.take(2); err != nil {
			return nil, b.cut(err)
		}
		if s.Text, err = t.unicode(s.Text, int(binary.LittleEndian.Uint16(p))); err != nil {
			return nil, b.textFault(err, "shared string "+strconv.Itoa(s.Len()))
		}
		if limit := s.End(&b.lim); limit != "" {
			return nil, b.fault(source.ErrLimit, "shared string "+strconv.Itoa(s.Len())+" passes the limit", biff.RemedyLimit+" ("+limit+")")
		}
	}
	return s, nil
}
