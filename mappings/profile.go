package mappings

import (
	"sheetlift/importers"
)

// Profile is what one pass over a sheet found out: the header's place, and the evidence that single rows can't give. Its JSON
// form is canonical and holds no personal value: columns are named by their headers (by position where a header looks like a
// value), repeated keys by row numbers, and words only of fields without personal data (see FieldWords).
type Profile struct {
	Mapping   string          `json:"mapping"`              // digest of the mapping it was made with
	Sheet     string          `json:"sheet,omitempty"`      //
	HeaderRow int             `json:"header_row,omitempty"` // row number; 0 if the sheet has none
	Titles    int             `json:"titles,omitempty"`     // the last row of the titles above a list without a header
	Above     int             `json:"above,omitempty"`      // rows above the header that hold something
	Header    []string        `json:"header,omitempty"`     // as messages may show it
	Rows      int             `json:"rows"`                 // data rows
	Skipped   int             `json:"skipped"`              // of them declared skips
	FirstRow  int             `json:"first_row,omitempty"`  // row numbers of the first and the last data row
	LastRow   int             `json:"last_row,omitempty"`
	Ragged    int             `json:"ragged,omitempty"`   // records of a text file that have more fields than the header
	Short     int             `json:"short,omitempty"`    // and fewer
	Columns   []ColumnProfile `json:"columns"`            // every column that has a header or holds something
	Unmapped  []string        `json:"unmapped,omitempty"` // columns that hold something and that the mapping does not name
	Refs      []Ref           `json:"refs"`               // where the columns that the mapping names are
	Keys      []KeyProfile    `json:"keys"`               // one a record of the mapping
	Words     []FieldWords    `json:"words,omitempty"`    // words that closed lists do not know
	LeftOut   []LeftOut       `json:"left_out,omitempty"` // refusals that conditions leave out
}

// ColumnProfile describes the data cells of one column.
type ColumnProfile struct {
	Name       string        `json:"name"` // header, or "column C"
	Letter     string        `json:"letter"`
	Mapped     bool          `json:"mapped,omitempty"`
	Text       int           `json:"text,omitempty"`
	Numbers    int           `json:"numbers,omitempty"`
	Bools      int           `json:"bools,omitempty"`
	Errors     int           `json:"errors,omitempty"`     // error cells such as #N/A
	Blank      int           `json:"blank,omitempty"`      // rows without a value, white space included
	NoCache    int           `json:"no_cache,omitempty"`   // formulas without a stored result
	Dates      int           `json:"dates,omitempty"`      // numbers shown as a day or a day and a time
	Times      int           `json:"times,omitempty"`      // numbers shown as a time of day or a duration
	Distinct   int           `json:"distinct"`             // distinct values
	AtLeast    bool          `json:"at_least,omitempty"`   // Distinct is only a lower bound
	MaxLength  int           `json:"max_length"`           // longest value, bytes
	LostZeros  int           `json:"lost_zeros,omitempty"` // numbers whose leading zeros exist only in the format
	ENotation  int           `json:"e_notation,omitempty"` // numbers in E-notation or with more than 15 digits, and texts that look like such
	Padded     int           `json:"padded,omitempty"`     // texts that begin or end with a space
	Noes       bool          `json:"noes,omitempty"`       // nothing but yes and no words, a no among them, and not mapped
	Unread     *Unread       `json:"unread,omitempty"`     // not mapped, and it speaks against consents that its rows give
	Waiting    []Unread      `json:"waiting,omitempty"`    // not mapped, and by it nobody confirmed consents that its rows give
	Remarks    *Unread       `json:"remarks,omitempty"`    // of remarks that may say that somebody left, beside consents that their rows give
	DateShapes *DateEvidence `json:"date_shapes,omitempty"`
}

// DateEvidence is what the cells of a date column show. Skipped rows don't count.
type DateEvidence struct {
	ISO        int `json:"iso,omitempty"`         // 2026-03-01
	DayFirst   int `json:"day_first,omitempty"`   // can only be day first: 13/04/2026
	MonthFirst int `json:"month_first,omitempty"` // can only be month first: 04/13/2026
	Either     int `json:"either,omitempty"`      // both are possible and differ: 03/04/2026
	Same       int `json:"same,omitempty"`        // both give the same day: 03/03/2026
	TimeOnly   int `json:"time_only,omitempty"`
	Other      int `json:"other,omitempty"`  // other texts
	Cells      int `json:"cells,omitempty"`  // real date cells
	Zoned      int `json:"zoned,omitempty"`  // texts that carry an offset
	Clocks     int `json:"clocks,omitempty"` // texts and cells with a time of day and no offset

	FirstDayFirst   int `json:"first_day_first,omitempty"` // row numbers of the evidence
	FirstMonthFirst int `json:"first_month_first,omitempty"`
	FirstEither     int `json:"first_either,omitempty"`
	LastNumeric     int `json:"last_numeric,omitempty"`
	FirstCell       int `json:"first_cell,omitempty"`
}

func (e *DateEvidence) order() order {
	switch {
	case e.DayFirst > 0 && e.MonthFirst > 0:
		return orderMixed
	case e.DayFirst > 0:
		return dayFirst
	case e.MonthFirst > 0:
		return monthFirst
	}
	return orderUnknown
}

// Ref says which column of the sheet a column of the mapping is.
type Ref struct {
	Column Column `json:"column"`
	Index  int    `json:"index"` // from 0
}

// KeyProfile counts the keys of one record of the mapping. Groups lists the rows of each key that occurs more than once.
type KeyProfile struct {
	Entity   string  `json:"entity"`
	Rows     int     `json:"rows"`
	Distinct int     `json:"distinct"`
	Groups   [][]int `json:"groups,omitempty"`

	Alike      int `json:"alike,omitempty"` // keys that differ from another only in case, width or look
	FirstAlike int `json:"first_alike,omitempty"`
	LastAlike  int `json:"last_alike,omitempty"`
}

// FieldWords lists words of a column that a field's closed list doesn't know. Only words that may be shown are listed: not what
// fewer than three rows hold, nor what is shaped like a name.
type FieldWords struct {
	Record   int         `json:"record"` // index in the mapping
	Field    string      `json:"field"`  // entity.field
	Column   int         `json:"column"` // index from 0
	Rows     int         `json:"rows"`
	Distinct int         `json:"distinct"`
	AtLeast  bool        `json:"at_least,omitempty"`
	FirstRow int         `json:"first_row"`
	LastRow  int         `json:"last_row"`
	Words    []WordCount `json:"words,omitempty"` // the most frequent first
}

// WordCount is one word and the rows that hold it.
type WordCount struct {
	Word string `json:"word"` // trimmed, without case
	Rows int    `json:"rows"`
}

// LeftOut counts the rows that a condition leaves out though their word says no and no record takes it. Only words of our own
// lists are named.
type LeftOut struct {
	Condition string   `json:"condition"` // path in the mapping
	Rows      int      `json:"rows"`
	FirstRow  int      `json:"first_row"`
	LastRow   int      `json:"last_row"`
	Words     []string `json:"words,omitempty"`
}

// Digest is the hex SHA-256 of the profile's JSON form.
func (p *Profile) Digest() string { return digestJSON(p) }

// Bounds of what a profiler keeps.
const (
	distinctPerColumn = 10_000
	distinctInAll     = 1_000_000
	wordsPerField     = 1_000
)

// Profiler gathers a Profile. Feed it every block of the sheet from the top.
type Profiler struct {
	m   *Mapping
	env Env

	p        Profile
	found    bool // the header
	folded   []string
	columns  []*columnStats
	distinct int // over all columns

	skips []*boundCondition
	specs []*profiledSpec
	drops []*dropStats

	unread []*unreadColumn

	remarks  []*remarkColumn
	recorded *Profile // see TakeRemarks
	saying   Remarks
	decides  map[int]bool // columns that more than remarks are read from
	looked   int          // columns that were looked at for those
	used     map[int]bool // columns that the mapping uses
	beside   []*boundSpec // for the rows of those that it does not

	dates []int // columns whose date evidence is wanted
	named namedHeader
	skip  []bool // rows of the block that prove nothing: blank, skipped, ragged, the header again
	buf   []byte
	err   error

	takesKeys bool // see TakeKeys
	apart     bool // see keysApart
}

// profiledSpec is a spec as far as keys and closed lists are concerned.
type profiledSpec struct {
	*boundSpec
	keys   keySet
	words  []*wordStats // by position in fields; nil where the field has no closed list
	listed []int        // positions of those that have one
	buf    []byte
}

type wordStats struct {
	FieldWords
	counts map[string]int
	hidden map[string]bool // words that must not be shown in the way some row writes them
}

type columnStats struct {
	ColumnProfile
	seen   valueSet // empty once there is no more room
	no     bool     // some word says no
	other  bool     // some word says neither yes nor no
	places [seenPlaces]place[struct{}]
}

const seenPlaces = 64

// NewProfiler starts a profile of a sheet. A nil mapping profiles the columns alone, with the first row that holds something
// as the header.
func NewProfiler(m *Mapping, env Env) (*Profiler, error) {
	if m == nil {
		m = &Mapping{program: &program{}}
	}
	if env.Zone != "" {
		if _, err := loadZone(env.Zone); err != nil {
			return nil, &SheetError{File: env.File, Sheet: env.Sheet, Message: "the zone of the source: " + err.Error(), Remedy: "give an IANA name, such as Europe/Berlin"}
		}
	}
	p := &Profiler{m: m, env: env}
	p.p.Mapping, p.p.Sheet = m.Digest(), env.Sheet
	if m.Header.None {
		if err := p.bind(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Profiler) fault(row int, message, remedy string, have []string) error {
	p.err = &SheetError{File: p.env.File, Sheet: p.env.Sheet, Row: row, Message: message, Remedy: remedy, Have: have}
	return p.err
}

// bind resolves the mapping's columns in the header and prepares what looks at rows.
func (p *Profiler) bind() error {
	p.found, p.named = true, newNamedHeader(p.p.Header)
	index := map[Column]int{}
	var messages []string
	var first string
	for _, c := range p.m.program.columnsOf() {
		col, message, remedy := c.resolve(p.folded, p.p.Header)
		if message != "" {
			messages = append(messages, message)
			if first == "" {
				first = remedy
			}
			continue
		}
		index[c] = col
		p.p.Refs = append(p.p.Refs, Ref{c, col})
	}
	if len(messages) > 0 {
		return p.fault(p.p.HeaderRow, joinMessages(messages), first, p.have())
	}
	column := func(c Column) int { return index[c] }
	for i := range p.m.program.skips {
		p.skips = append(p.skips, bindCondition(&p.m.program.skips[i], column))
	}
	for i := range p.m.program.specs {
		b, err := bindSpec(&p.m.program.specs[i], &p.env, p.m.Zone, column)
		if err != nil {
			return p.fault(0, err.Error(), "give an IANA name, such as Europe/Berlin", nil)
		}
		s := &profiledSpec{boundSpec: b, keys: newKeySet(keysInMemory), words: make([]*wordStats, len(b.fields))}
		for j := range b.fields {
			f := &b.fields[j]
			if (f.typ == importers.Enum || f.typ == importers.Bool) && f.constant == nil {
				s.words[j] = &wordStats{FieldWords: FieldWords{Record: i, Field: f.path}, counts: map[string]int{}, hidden: map[string]bool{}}
				s.listed = append(s.listed, j)
			}
			if f.isDate() {
				p.dates = append(p.dates, b.readers[j].cols...)
			}
		}
		p.specs = append(p.specs, s)
	}
	p.bindDrops(column)
	if err := p.bindUnread(column); err != nil {
		return p.fault(0, err.Error(), "give an IANA name, such as Europe/Berlin", nil)
	}
	p.apart = p.keysApart()
	return nil
}

func joinMessages(list []string) string {
	s := list[0]
	for _, m := range list[1:] {
		s += "; " + m
	}
	return s
}

// have lists the header as messages may show it.
func (p *Profiler) have() []string {
	var have []string
	for col, name := range p.p.Header {
		if p.folded[col] != "" {
			have = append(have, name)
		}
	}
	return have
}
