package mappings

import (
	"slices"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/pipeline/finding"
)

// Verdict is what becomes of a row.
type Verdict uint8

// A row is accepted only if all its records are right, rejected if any is not, skipped if none applies.
const (
	Accepted Verdict = iota
	Rejected
	Skipped
)

// String gives the word that reports show.
func (v Verdict) String() string { return [...]string{"accepted", "rejected", "skipped"}[v] }

// Row is one data row with its verdict. It is valid until emit returns.
type Row struct {
	Block   *source.Block
	Index   int // in Block
	Num     int // row number as the user sees it
	Line    int // physical line, text files only
	Verdict Verdict
	Rule    string      // why it was skipped, or the first rule that rejected it
	Reason  string      // of a declared skip
	Records []RecordOut // of an accepted row, in the order of the mapping
	Partial []RecordOut // of a rejected row: what could be read of its records. Never to be imported: it may speak against others
	Aside   []RecordOut // of any row: what could be read of records that say no and rest on another lawful basis. They are no consents
	Silent  []RecordOut // records that the row does not give for want of an answer, or of consent: whose they would be, and no more
}

// RecordOut is one record of an accepted row. Of a row that the plan gives its strings may be kept, its slices not.
type RecordOut struct {
	importers.Record
	Spec    int     // index of the record in the mapping
	History bool    // repeats of the key are events
	KeyDup  bool    // other rows of the sheet have the same key
	KeyRows int     // rows with the key; 1 if KeyDup is false
	Alike   bool    // records with the same Columns have the same fields set, from the same origins
	Columns [][]int // by entity field: the sheet columns (from 0) that the value comes from; nil if from none. Records share it

	set   uint64 // a bit for each entity field that is set
	stays uint64 // of them, those whose value stays as it is where it is
	codes []int  // by field of the mapping's record, of rows that are kept: see fieldReader.known
}

// Stays gives a bit for each field of the entity whose value is kept where it is: it is the same one wherever its pointer comes again.
func (r *RecordOut) Stays() uint64 { return r.stays }

// Apply turns the rows of a block into records. Findings of a row go to sink before the row goes to emit; rows above the data
// and blank rows are passed over. An error of sink or emit ends it.
func (pl *Plan) Apply(b *source.Block, sink finding.Sink, emit func(*Row) error) error {
	pl.begin()
	for i := range b.Rows() {
		if b.RowNum[i] <= pl.headerRow || blankRow(b, i) {
			continue
		}
		pl.judge(b, i)
		for _, f := range pl.findings {
			if err := sink.Add(f); err != nil {
				return err
			}
		}
		if err := emit(&pl.row); err != nil {
			return err
		}
	}
	return nil
}

// begin must be called before the rows of another block.
func (pl *Plan) begin() {
	for _, c := range pl.skips {
		c.memo.begin()
	}
	for _, s := range pl.specs {
		s.begin()
	}
}

// judge fills pl.row and pl.findings for row i.
func (pl *Plan) judge(b *source.Block, i int) {
	pl.findings = pl.findings[:0]
	pl.row = Row{Block: b, Index: i, Num: b.RowNum[i], Records: pl.row.Records[:0], Partial: pl.row.Partial[:0], Aside: pl.row.Aside[:0], Silent: pl.row.Silent[:0]}
	if b.Line != nil {
		pl.row.Line = b.Line[i]
	}
	if pl.wholeRow(b, i) {
		return
	}
	rejected, dropped := false, ""
	for n, s := range pl.specs {
		if !s.applies(b, i) {
			continue
		}
		rec := &pl.records[n]
		switch why, ok := pl.record(s, rec, b, i); {
		case why == "consent.not_consent" || why != "" && dropped == "":
			dropped = why
		case why != "":
		case !ok:
			rejected = true
			pl.row.Partial = append(pl.row.Partial, *rec)
		default:
			pl.row.Records = append(pl.row.Records, *rec)
		}
	}
	switch {
	case rejected:
		pl.row.Partial = append(pl.row.Partial, pl.row.Records...)
		pl.row.Records = pl.row.Records[:0]
		pl.row.Verdict = Rejected
	case len(pl.row.Records) > 0:
		pl.row.Verdict = Accepted
		if dropped != "" {
			pl.silent(b, i)
		}
	case dropped != "":
		pl.skip(b, i, dropped, "")
		pl.silent(b, i)
	default:
		pl.skip(b, i, "row.no_record", "")
	}
	pl.token()
}

// wholeRow judges what needs no record: declared skips, repeated headers, ragged records.
func (pl *Plan) wholeRow(b *source.Block, i int) bool {
	for _, s := range pl.skips {
		if s.holds(b, i) {
			pl.skip(b, i, "row.declared_skip", s.reason)
			return true
		}
	}
	if pl.header.repeats(b, i) {
		pl.reject(b, i, -1, "", problem{rule: "row.repeated_header"})
		pl.row.Verdict = Rejected
		return true
	}
	if b.Line == nil || pl.m.Header.None || len(b.Width) <= i {
		return false
	}
	switch columns := len(pl.profile.Header); {
	case b.Width[i] > columns && ragged(b, i, columns):
		pl.reject(b, i, -1, "", problem{rule: "row.ragged"})
		pl.row.Verdict = Rejected
		return true
	case b.Width[i] < columns:
		pl.note(b, i, -1, "", problem{rule: "row.short"})
	}
	return false
}

func (pl *Plan) skip(b *source.Block, i int, rule, reason string) {
	pl.row.Verdict, pl.row.Rule, pl.row.Reason = Skipped, rule, reason
	p := problem{rule: rule}
	if reason != "" {
		p.message = "The mapping says to skip this row: " + reason + "."
	}
	pl.note(b, i, -1, "", p)
}

// record reads one record. why is set if the row does not give it after all; ok is false if something in it is wrong.
func (pl *Plan) record(s *boundSpec, rec *RecordOut, b *source.Block, i int) (why string, ok bool) {
	if pl.into != nil {
		rec.Values = pl.into.fields(s.blank)
		rec.codes = pl.into.codesFor(len(s.fields))
	} else {
		copy(rec.Values, s.blank)
	}
	rec.set, rec.stays = 0, 0
	if !s.simple {
		rec.Columns = make([][]int, len(rec.Values))
	}
	rec.Key, rec.KeyDup, rec.KeyRows = "", false, 1
	if s.basis >= 0 {
		if out := s.readers[s.basis].read(b, i); out.bad.rule == "" && out.v.Set && out.v.Text != "consent" {
			pl.setAside(s, rec, b, i)
			return "consent.not_consent", false
		}
	}
	var status *outcome
	if s.status >= 0 {
		if status = s.readers[s.status].read(b, i); status.bad.rule == "" && (status.null || status.noAnswer) {
			return "consent.no_answer", false
		}
	}
	ok = true
	for j := range s.fields {
		f := &s.fields[j]
		var out *outcome
		if out = status; j != s.status { // which is there already
			out = s.readers[j].read(b, i)
		}
		switch {
		case out.bad.rule != "":
			pl.reject(b, i, out.bad.col, f.path, out.bad)
			if ok = false; slices.Contains(subjectKinds, f.field.Name) {
				if v, meant := s.readers[j].bare(b, i); meant {
					rec.Values[f.index] = pl.own(&v)
				}
			}
			continue
		case out.doubt.rule != "":
			pl.note(b, i, out.doubt.col, f.path, out.doubt)
		}
		if out.null {
			if f.field.Required {
				pl.reject(b, i, s.readers[j].firstCol(), f.path, problem{rule: "field.required", message: f.path + " is required and the row has no value for it."})
				ok = false
			}
			continue
		}
		if rec.Values[f.index] = &out.v; !out.kept && pl.into != nil {
			rec.Values[f.index] = pl.into.keepValue(&out.v)
		}
		rec.set |= 1 << f.index
		if out.kept {
			rec.stays |= 1 << f.index
		}
		if pl.into != nil {
			rec.codes[j] = out.code
		}
		if !s.simple {
			rec.Columns[f.index] = slices.Clone(out.used) // the reader's own, until it reads again
		}
	}
	if s.simple {
		rec.Columns = s.columnsOf(rec.set)
	}
	if !ok {
		return "", false
	}
	if rec.Key, ok = s.plainKey(rec.Values); !ok && !pl.wholeKey(s, rec, b, i) {
		return "", false
	}
	if groups := pl.groups[rec.Spec]; len(groups) > 0 {
		if n := groups[b.RowNum[i]]; n > 1 {
			rec.KeyDup, rec.KeyRows = true, n
		}
	}
	return "", true
}

// setAside keeps what can be read of a record that rests on another lawful basis, if it says no: towards processing on legitimate interest
// that is in effect an objection.
func (pl *Plan) setAside(s *boundSpec, rec *RecordOut, b *source.Block, i int) {
	if s.status < 0 {
		return
	}
	said := s.readers[s.status].read(b, i)
	if said.bad.rule != "" || said.null || said.noAnswer || said.v.Text != importers.StatusRefused && said.v.Text != importers.StatusWithdrawn {
		return
	}
	out := *rec
	out.Values, out.Columns, out.Alike, out.set, out.stays = slices.Clone(s.blank), make([][]int, len(s.blank)), false, 0, 0
	out.Key, out.KeyDup, out.KeyRows, out.codes = "", false, 1, nil
	for j := range s.fields {
		f := &s.fields[j]
		switch read := s.readers[j].read(b, i); {
		case read.bad.rule == "" && !read.null:
			out.Values[f.index] = pl.own(&read.v)
			out.Columns[f.index] = slices.Clone(read.used)
			out.set |= 1 << f.index
		case read.bad.rule != "" && slices.Contains(subjectKinds, f.field.Name):
			if v, meant := s.readers[j].bare(b, i); meant {
				out.Values[f.index] = pl.own(&v)
			}
		}
	}
	pl.row.Aside = append(pl.row.Aside, out)
}

// own gives a value that outlives the next one.
func (pl *Plan) own(v *importers.Value) *importers.Value {
	if pl.into != nil {
		return pl.into.keepValue(v)
	}
	own := *v
	return &own
}

// wholeKey puts the key into rec, or rejects the row if a part of the key is missing.
func (pl *Plan) wholeKey(s *boundSpec, rec *RecordOut, b *source.Block, i int) bool {
	key, whole := s.appendKey(pl.key[:0], func(field int) *importers.Value { return rec.Values[field] })
	pl.key = key
	if !whole {
		for _, field := range s.key {
			if !rec.Values[field].Set {
				r := s.readers[s.byField[field]]
				pl.reject(b, i, r.firstCol(), r.p.path, problem{rule: "key.incomplete", message: r.p.path + " is part of the key and the row has no value for it."})
				break
			}
		}
		return false
	}
	rec.Key = pl.text.of(key)
	return true
}

// reject adds a finding that rejects the row.
func (pl *Plan) reject(b *source.Block, i, col int, field string, p problem) {
	if pl.row.Rule == "" {
		pl.row.Rule = p.rule
	}
	if r, _ := finding.ByID(p.rule); r.Scope == finding.Column {
		return // the finding about the column counts its rows
	}
	pl.note(b, i, col, field, p)
}

// note adds a finding about the row, once.
func (pl *Plan) note(b *source.Block, i, col int, field string, p problem) {
	f := pl.at(p.rule, col, field)
	if p.message != "" {
		f.Message = p.message
	}
	if p.remedy != "" {
		f.Remedy = p.remedy
	}
	f.Row = b.RowNum[i]
	if b.Line != nil {
		f.Line = b.Line[i]
	}
	if col >= 0 {
		f.Cell = source.Ref(col, f.Row)
	}
	if !slices.Contains(pl.findings, f) {
		pl.findings = append(pl.findings, f)
	}
}

// subjectKinds are the fields that name a subject, the best first.
var subjectKinds = []string{"subject_id", "email", "phone", "device_id"}

// token puts the subject's token on the row's findings, if some record could read an identifier.
func (pl *Plan) token() {
	if len(pl.findings) == 0 || pl.env.Token == nil || pl.row.Verdict == Skipped {
		return
	}
	for _, kind := range subjectKinds {
		for n, s := range pl.specs {
			field := s.entity.Field(kind)
			if field < 0 || !s.applies(pl.row.Block, pl.row.Index) {
				continue
			}
			if v := pl.records[n].Values[field]; v.Set && v.Origin == importers.FromRow {
				token := pl.env.Token(kind, v.Text)
				for k := range pl.findings {
					pl.findings[k].SubjectToken = token
				}
				return
			}
		}
	}
}
