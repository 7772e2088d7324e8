package mappings

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"sheetlift/importers"
	"sheetlift/importers/source"
)

// dateFault says why a cell gave no date.
type dateFault string

const (
	dateFine      dateFault = ""
	dateShape     dateFault = "date.format"
	dateInvalid   dateFault = "date.invalid"
	dateTimeOnly  dateFault = "date.time_only"
	dateReadings  dateFault = "date.two_readings"
	dateAmbiguous dateFault = "date.ambiguous"
	dateMixed     dateFault = "date.mixed_order"
)

func (r *fieldReader) parseDate(c source.Cell, raw, text []byte, k int) {
	day, fault := r.dateOf(c, text, k)
	if fault != dateFine {
		r.reject(string(fault), k)
		return
	}
	r.setDate(&day, raw, k)
}

// dateOf reads one cell as calendar parts.
func (r *fieldReader) dateOf(c source.Cell, text []byte, k int) (civil, dateFault) {
	if c.Kind == source.Number {
		switch c.Class {
		case source.Date, source.DateTime:
			return r.serial(text, c.Class == source.DateTime)
		case source.Time, source.Duration:
			return civil{}, dateTimeOnly
		case source.Percent, source.Currency:
			return civil{}, dateShape
		}
		if r.p.serial {
			return r.serial(text, false)
		}
		// Digits such as 20260301 may be a declared layout, but never a date by themselves.
		if len(r.p.layouts) == 0 || !plainDigits(text, 15) {
			return civil{}, dateShape
		}
		return r.declaredDate(text)
	}
	text = bytes.TrimSpace(text)
	switch {
	case c.Flags&source.ISODate != 0:
		return isoDate(text)
	case r.p.declared:
		return r.declaredDate(text)
	}
	kind, day, numeric := readShape(text)
	switch kind {
	case shapeISO:
		return day, validDate(&day)
	case shapeTimeOnly:
		return civil{}, dateTimeOnly
	case shapeNumeric:
		o, same := numeric.proof()
		if known := r.orders[k]; known == dayFirst || known == monthFirst {
			o = known
		} else if known == orderMixed {
			return civil{}, dateMixed
		} else if o == orderUnknown && !same && numeric.first <= 12 {
			return civil{}, dateAmbiguous
		}
		day = numeric.in(o)
		return day, validDate(&day)
	}
	return civil{}, dateShape
}

func validDate(c *civil) dateFault {
	if !c.valid() {
		return dateInvalid
	}
	return dateFine
}

func (r *fieldReader) serial(text []byte, showsTime bool) (civil, dateFault) {
	day, reading := readSerial(text, r.date1904, showsTime)
	switch reading {
	case serialBad:
		return civil{}, dateInvalid
	case serialTime:
		return civil{}, dateTimeOnly
	}
	return day, dateFine
}

func isoDate(text []byte) (civil, dateFault) {
	kind, day, _ := readShape(text)
	switch kind {
	case shapeISO:
		return day, validDate(&day)
	case shapeTimeOnly:
		return civil{}, dateTimeOnly
	}
	return civil{}, dateShape
}

// declaredDate reads a text by the declared layouts. All that fit must agree.
func (r *fieldReader) declaredDate(text []byte) (civil, dateFault) {
	var day civil
	fault := dateShape
	take := func(c civil) bool {
		if fault == dateFine && c != day {
			return false
		}
		day, fault = c, dateFine
		return true
	}
	for _, l := range r.p.layouts {
		switch c, reading := l.read(text); reading {
		case readRight:
			if !take(c) {
				return civil{}, dateReadings
			}
		case badDay:
			if fault == dateShape {
				fault = dateInvalid
			}
		}
	}
	if r.p.iso {
		c, f := isoDate(text)
		switch {
		case f == dateFine && !take(c):
			return civil{}, dateReadings
		case f == dateInvalid && fault == dateShape:
			fault = dateInvalid
		}
	}
	if r.p.comma && fault == dateShape {
		if number, ok := decimalComma(text); ok {
			return r.serial(number, false)
		}
	}
	if r.p.serial && fault == dateShape && len(text) > 0 && text[0] >= '0' && text[0] <= '9' && len(bytes.Trim(text, "0123456789.")) == 0 {
		return r.serial(text, false)
	}
	if fault == dateShape {
		if kind, _, _ := readShape(text); kind == shapeTimeOnly {
			return civil{}, dateTimeOnly
		}
	}
	return day, fault
}

// setDate puts calendar parts into r.out: a day, or an instant with its zone.
func (r *fieldReader) setDate(c *civil, raw []byte, k int) {
	v := &r.out.v
	v.Set = true
	v.Raw = r.str(raw)
	var buf [10]byte
	if r.p.field.Type != importers.DateTime {
		v.Text = r.str(c.appendDay(buf[:0]))
		if c.timeSet() {
			r.out.doubt = problem{rule: "date.time_dropped", col: r.cols[k]}
		}
		return
	}
	if r.p.typ == importers.Date {
		if c.timeSet() {
			r.out.doubt = problem{rule: "date.time_dropped", col: r.cols[k]}
		}
		*c = civil{year: c.year, month: c.month, day: c.day}
	}
	v.Precision = c.prec.String()
	switch {
	case c.hasOffset:
		v.Int = (c.seconds()-int64(c.offset))*1e6 + int64(c.micro)
		v.Zone = offsetName(c.offset)
	case r.zone == nil:
		v.Int = c.seconds()*1e6 + int64(c.micro)
	default:
		u, local := r.zone.instant(c)
		switch local {
		case localGap:
			r.rejectWith("date.dst_gap", "The local time does not exist in "+r.zone.name+": clocks were put forward over it.", k)
			return
		case localFold:
			r.rejectWith("date.dst_fold", "The local time happened twice in "+r.zone.name+", because clocks were put back.", k)
			return
		}
		v.Int = u*1e6 + int64(c.micro)
		v.Zone = r.zone.name
	}
}

// constValue reads the const of a mapping like a text cell, but without evidence from a sheet.
func constValue(p *fieldProgram, text, mappingZone string) (*importers.Value, *constFault) {
	r := &fieldReader{p: p, cols: []int{0}, orders: []order{orderUnknown}}
	r.memo.off = true
	if name := firstZone(p.zone, mappingZone); name != "" && p.typ == importers.DateTime {
		r.zone, _ = loadZone(name) // a zone that can't be loaded is a fault of its own
	}
	r.parse(source.Cell{Kind: source.Text}, []byte(text), 0)
	switch bad := r.out.bad; {
	case r.out.null:
		return nil, &constFault{"const is blank or a null token", "give a value, or remove the field"}
	case bad.rule == string(dateShape), bad.rule == string(dateAmbiguous):
		return nil, &constFault{"const is no date that can be read for sure", "write YYYY-MM-DD or YYYY-MM-DDTHH:mm:ss+02:00"}
	case bad.rule != "":
		return nil, &constFault{"const breaks the rule " + bad.rule + " of " + p.path, "give a value that the field takes"}
	case r.out.noAnswer:
		return nil, &constFault{"const says nothing about consent", "write given, refused, withdrawn or expired"}
	}
	v := r.out.v
	v.Origin = importers.Stated
	return &v, nil
}

type constFault struct{ message, remedy string }

func firstZone(names ...string) string {
	for _, n := range names {
		if n != "" {
			return n
		}
	}
	return ""
}

// joinedText joins the cells that hold something.
func (r *fieldReader) joinedText(b *source.Block, i int) *outcome {
	joined := r.gather(b, i)
	if joined == nil {
		return &r.out
	}
	doubt := r.out.doubt
	r.parse(source.Cell{Kind: source.Text}, joined, 0)
	if !r.out.null {
		r.out.used = r.used
	}
	if r.out.doubt.rule == "" {
		r.out.doubt = doubt
	}
	return &r.out
}

// gather joins the texts of the cells that hold something (the raw numbers for a date) and puts
// their columns into r.used. It gives nil if there are none or one can't be taken; r.out then says so.
func (r *fieldReader) gather(b *source.Block, i int) []byte {
	r.out = outcome{null: true}
	joined := make([]byte, 0, 64)
	r.used = r.used[:0]
	var doubt problem
	for k, col := range r.cols {
		c := b.Cell(col, i)
		raw := b.Bytes(c)
		switch {
		case c.Kind == source.Empty && c.Flags&source.NoCache != 0:
			r.out = outcome{}
			r.reject("value.no_cache", k)
			return nil
		case c.Kind == source.ErrorValue:
			r.out = outcome{}
			r.reject("value.error_cell", k)
			return nil
		case len(bytes.TrimSpace(raw)) == 0:
			continue
		case len(r.p.nulls) > 0 && r.p.nulls[r.folded(c, raw)]:
			continue
		}
		part := raw
		if c.Kind == source.Number && !r.p.isDate() {
			r.out = outcome{}
			if r.parseText(c, raw, k); r.out.bad.rule != "" {
				return nil
			}
			part = []byte(r.out.v.Text)
			if r.out.doubt.rule != "" {
				doubt = r.out.doubt
			}
		}
		if len(joined) > 0 {
			joined = append(joined, r.p.join...)
		}
		joined = append(joined, part...)
		r.used = append(r.used, col)
	}
	if len(r.used) == 0 {
		r.out = outcome{null: true}
		return nil
	}
	r.out = outcome{doubt: doubt}
	return joined
}

// joinedDate reads a date and a time that stand in several columns. Texts are joined and read by the declared layouts; where
// a cell is a number, the first column is the day and the second the time of day.
func (r *fieldReader) joinedDate(b *source.Block, i int) *outcome {
	numbers := false
	for _, col := range r.cols {
		numbers = numbers || b.Cell(col, i).Kind == source.Number
	}
	joined := r.gather(b, i)
	if joined == nil {
		return &r.out
	}
	used := r.used
	r.out.used = used
	if !numbers {
		day, fault := r.dateOf(source.Cell{Kind: source.Text}, joined, 0)
		if fault != dateFine {
			r.reject(string(fault), 0)
			return &r.out
		}
		return r.finishDate(&day, joined, 0)
	}
	if len(r.cols) != 2 {
		r.reject("date.format", 0)
		return &r.out
	}
	dayCell, clockCell := b.Cell(r.cols[0], i), b.Cell(r.cols[1], i)
	if !slices.Contains(used, r.cols[0]) {
		r.reject("date.time_only", 1)
		return &r.out
	}
	day, fault := r.dateOf(dayCell, b.Bytes(dayCell), 0)
	if fault != dateFine {
		r.reject(string(fault), 0)
		return &r.out
	}
	if slices.Contains(used, r.cols[1]) {
		if day.prec != byDay {
			r.rejectWith("date.format", "The first column already holds a time of day.", 0)
			return &r.out
		}
		if fault := day.addClock(clockCell, b.Bytes(clockCell)); fault != dateFine {
			r.reject(string(fault), 1)
			return &r.out
		}
	}
	return r.finishDate(&day, joined, 0)
}

func (r *fieldReader) finishDate(day *civil, raw []byte, k int) *outcome {
	r.setDate(day, raw, k)
	if r.out.bad.rule == "" {
		r.check(k)
	}
	return &r.out
}

// addClock adds the time of day that a second cell holds: a text such as 9:46, or a fraction of a day.
func (c *civil) addClock(cell source.Cell, raw []byte) dateFault {
	if cell.Kind == source.Number {
		if cell.Class == source.Date || cell.Class == source.Percent || cell.Class == source.Currency {
			return dateShape
		}
		f, err := strconv.ParseFloat(string(raw), 64)
		ms := int(math.Round(f * 86400e3))
		if err != nil || !(f >= 0 && f < 1) || ms == 86400e3 {
			return dateInvalid
		}
		c.setClock(ms)
		return dateFine
	}
	var clock civil
	if !clock.readClock(bytes.TrimSpace(raw)) {
		return dateShape
	}
	clock.year, clock.month, clock.day = c.year, c.month, c.day
	*c = clock
	return validDate(c)
}
