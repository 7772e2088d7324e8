// Package xlsb reads binary workbooks (MS-XLSB): zip packages like those of package xlsx, whose parts are records instead of
// XML.
//
// It promises that a cell is what the file holds, or the file is refused: all digits of a number, stored results of formulas and
// never a calculated one, cells under a merge too. Formatting runs and phonetic text are passed over. The package itself is
// read by package xlsx, so names, sizes and checksums of parts are held to what is promised there.
//
// Memory grows with the shared strings only. Limits hold before it is spent.
package xlsb

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"sheetlift/importers/source"
	"sheetlift/importers/source/biff"
	"sheetlift/importers/source/numfmt"
	"sheetlift/importers/source/xlsx"
)

// Book is an opened workbook.
type Book struct {
	name    string
	pkg     *xlsx.Package
	lim     source.Limits
	info    source.Info
	sheets  []sheet
	formats []numfmt.Format // by the number that cells give
	looks   []source.Flags  // the same way
	marks   bookMarks
	shared  int           // the part of the shared strings, -1 if there is none
	strings *biff.Strings // nil until a sheet is read
}

// sheet is one sheet and its part.
type sheet struct {
	info source.SheetInfo
	part int
}

// Open opens the workbook in r, whose name is used in messages only.
func Open(ctx context.Context, name string, r io.ReaderAt, size int64, opt source.Options) (*Book, error) {
	pkg, part, err := xlsx.OpenPackage(ctx, name, r, size, opt)
	if err != nil {
		return nil, err
	}
	b := &Book{name: name, pkg: pkg, lim: opt.Limits.WithDefaults(), shared: -1}
	rels, err := pkg.Relations(ctx, part)
	if err != nil {
		return nil, err
	}
	byID, styles := map[string]xlsx.Relation{}, -1
	for _, rel := range rels {
		byID[rel.ID] = rel
		switch rel.Kind {
		case "styles":
			styles = rel.Part
		case "sharedStrings":
			b.shared = rel.Part
		}
	}
	if err := b.readWorkbook(ctx, part, byID); err != nil {
		return nil, err
	}
	// What the parts declare is checked now, so that a file that can't be read to its end is refused before its first cell.
	for _, s := range b.sheets {
		if err := pkg.Claim(s.part); err != nil {
			return nil, err
		}
	}
	if b.shared >= 0 {
		if err := pkg.Claim(b.shared); err != nil {
			return nil, err
		}
	}
	if styles >= 0 {
		if err := b.readStyles(ctx, styles); err != nil {
			return nil, err
		}
	}
	sheets := "sheets"
	if len(b.sheets) == 1 {
		sheets = "sheet"
	}
	b.info.Format = "xlsb"
	b.info.Said = fmt.Sprintf("binary Excel workbook (xlsb), %d %s", len(b.sheets), sheets)
	b.info.SavedBy = pkg.SavedBy(ctx)
	return b, nil
}

func (b *Book) fault(kind error, part, message, remedy string) *source.Error {
	return &source.Error{Kind: kind, File: b.name, Part: part, Message: message, Remedy: remedy}
}

// Info describes the workbook.
func (b *Book) Info() source.Info { return b.info }

// Sheets lists the sheets in workbook order.
func (b *Book) Sheets() []source.SheetInfo {
	out := make([]source.SheetInfo, len(b.sheets))
	for i, s := range b.sheets {
		out[i] = s.info
	}
	return out
}

// Close lets go of the shared strings.
func (b *Book) Close() error {
	b.strings = nil
	return nil
}

func (b *Book) readWorkbook(ctx context.Context, part int, byID map[string]xlsx.Relation) error {
	want := func(kind int) bool { return kind == brtWbProp || kind == brtBundleSh || isMark(kind) }
	err := b.each(ctx, part, want, func(r *records, kind int, p []byte) error {
		switch kind {
		case brtWbProp:
			b.info.Date1904 = len(p) > 0 && p[0]&1 != 0
		case brtBundleSh:
			return b.addSheet(r, p, byID)
		default:
			b.mark(kind, p)
		}
		return nil
	})
	if err == nil && len(b.sheets) == 0 {
		return b.fault(source.ErrMalformed, b.pkg.Name(part), "the workbook lists no sheets", biff.RemedyResave)
	}
	return err
}

// addSheet takes a record of the list of sheets (MS-XLSB 2.4.304).
func (b *Book) addSheet(r *records, p []byte, byID map[string]xlsx.Relation) error {
	if len(p) < 8 {
		return r.short()
	}
	s := sheet{info: source.SheetInfo{Visibility: source.Visible, Kind: source.Worksheet}}
	switch binary.LittleEndian.Uint32(p) {
	case 1:
		s.info.Visibility = source.Hidden
	case 2:
		s.info.Visibility = source.VeryHidden
	}
	rawID, rest, ok := wide(p[8:])
	if !ok {
		return r.short()
	}
	rawName, _, ok := wide(rest)
	if !ok {
		return r.short()
	}
	id, _ := biff.AppendUTF16(nil, rawID)
	name, ok := biff.AppendUTF16(nil, rawName)
	if !ok {
		return r.fault(source.ErrCharset, "the name of sheet "+strconv.Itoa(len(b.sheets)+1)+" has undecodable characters", biff.RemedyResave)
	}
	s.info.Name = string(name)
	fault := func(what string) error {
		f := r.fault(source.ErrMalformed, what, biff.RemedyResave)
		f.Sheet = s.info.Name
		return f
	}
	rel, ok := byID[string(id)]
	switch {
	case !ok || len(id) == 0:
		return fault("no part of the package belongs to this sheet")
	case rel.Part < 0:
		return fault("the part " + strconv.Quote(rel.Name) + " that belongs to this sheet is missing from the package")
	}
	for _, other := range b.sheets {
		if other.part == rel.Part {
			return fault("this sheet and sheet " + strconv.Quote(other.info.Name) + " share one part")
		}
	}
	s.part = rel.Part
	switch strings.ToLower(rel.Kind) {
	case "chartsheet":
		s.info.Kind = source.ChartSheet
	case "dialogsheet":
		s.info.Kind = source.DialogSheet
	case "xlmacrosheet", "xlintlmacrosheet":
		s.info.Kind = source.MacroSheet
	}
	b.sheets = append(b.sheets, s)
	return nil
}

// readStyles gives the format of each cell style, in the order that cells count.
func (b *Book) readStyles(ctx context.Context, part int) error {
	codes := map[int]numfmt.Format{}
	var ids []int
	cells := false
	want := func(kind int) bool {
		cells = (cells || kind == brtBeginCellXFs) && kind != brtEndCellXFs
		return kind == brtFmt || kind == brtXF && cells || kind == brtFont || kind == brtFill
	}
	err := b.each(ctx, part, want, func(r *records, kind int, p []byte) error {
		switch {
		case kind == brtFont:
			b.font(p)
		case kind == brtFill:
			b.fill(p)
		case len(p) < 4:
		case kind == brtXF:
			ids = append(ids, int(binary.LittleEndian.Uint16(p[2:])))
			b.look(p)
		default:
			if raw, _, ok := wide(p[2:]); ok {
				code, _ := biff.AppendUTF16(nil, raw)
				codes[int(binary.LittleEndian.Uint16(p))] = numfmt.Parse(string(code))
			}
		}
		return nil
	})
	for _, id := range ids {
		f, ok := codes[id]
		if !ok {
			f = numfmt.Builtin(id)
		}
		b.formats = append(b.formats, f)
	}
	return err
}

// readStrings reads the shared strings.
func (b *Book) readStrings(ctx context.Context) (*biff.Strings, error) {
	s := &biff.Strings{}
	if b.shared < 0 {
		return s, nil
	}
	err := b.each(ctx, b.shared, func(kind int) bool { return kind == brtSSTItem }, func(r *records, _ int, p []byte) error {
		if len(p) < 1 {
			return r.short()
		}
		raw, _, ok := wide(p[1:]) // after flags that say whether formatting runs and phonetic text follow
		if !ok {
			return r.short()
		}
		if s.Text, ok = biff.AppendUTF16(s.Text, raw); !ok {
			return r.fault(source.ErrCharset, "shared string "+strconv.Itoa(s.Len())+" has undecodable characters", biff.RemedyResave)
		}
		if limit := s.End(&b.lim); limit != "" {
			return r.fault(source.ErrLimit, "shared string "+strconv.Itoa(s.Len())+" passes the limit", biff.RemedyLimit+" ("+limit+")")
		}
		return nil
	})
	return s, err
}

// Read starts reading sheet i. The shared strings are read before the first one.
func (b *Book) Read(ctx context.Context, i int) (source.Reader, error) {
	if i < 0 || i >= len(b.sheets) {
		return nil, fmt.Errorf("sheet %d of %d", i, len(b.sheets))
	}
	if b.strings == nil {
		s, err := b.readStrings(ctx)
		if err != nil {
			return nil, err
		}
		b.strings = s
	}
	return b.newReader(ctx, b.sheets[i])
}
