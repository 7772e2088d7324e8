package mappings

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"sheetlift/importers"
)

// Mapping is one mapping file. Its program, built by Parse, is what profiling and compiling use.
type Mapping struct {
	Version int          `yaml:"version" json:"version" jsonschema:"enum=1,description=version of the mapping language"`
	Name    string       `yaml:"mapping" json:"mapping" jsonschema:"description=name of the mapping as reports show it"`
	Preset  string       `yaml:"preset" json:"preset,omitempty" jsonschema:"description=known source system that the mapping was drafted from"`
	Sheet   string       `yaml:"sheet" json:"sheet,omitempty" jsonschema:"description=worksheet; text files have only one"`
	Header  Header       `yaml:"header" json:"header,omitzero" jsonschema:"description=where the header row is; by default the first row that holds something"`
	Zone    string       `yaml:"zone" json:"zone,omitempty" jsonschema:"description=IANA time zone of times without an offset; goes before the zone of the source in batch.yaml"`
	Skip    []Skip       `yaml:"skip" json:"skip,omitempty" jsonschema:"description=rows that are left out on purpose"`
	Records []RecordSpec `yaml:"records" json:"records" jsonschema:"minItems=1,description=the records that one row gives"`

	program *program
	guesses []guess
	file    string
}

// Header says where the header is: exactly one of row, match and none is set, or none of them for the first row that holds something.
type Header struct {
	Row   int     `yaml:"row" json:"row,omitempty" jsonschema:"minimum=1,description=row number as the spreadsheet program shows it"`
	Match Strings `yaml:"match" json:"match,omitempty" jsonschema:"description=the header is the first row (within 50) that holds all of these"`
	None  bool    `yaml:"none" json:"none,omitempty" jsonschema:"description=there is no header; columns are named by letter"`
	First int     `yaml:"first" json:"first,omitempty" jsonschema:"minimum=2,maximum=50,description=with none: the row in which the list begins, below its titles"`
}

// Condition is a test of one cell: exactly one of equals, in, not_in, matches, not_matches, blank, not_blank. Words match
// trimmed, without regard to case; matches is an RE2 expression on the cell's text as it is. The two negations also hold for a
// blank cell.
type Condition struct {
	Column     Column  `yaml:"column" json:"column"`
	Equals     *string `yaml:"equals" json:"equals,omitempty" jsonschema:"description=the cell is this word (trimmed; case does not matter)"`
	In         Strings `yaml:"in" json:"in,omitempty" jsonschema:"description=the cell is one of these words"`
	NotIn      Strings `yaml:"not_in" json:"not_in,omitempty" jsonschema:"description=the cell is none of these words; a blank cell is none"`
	Matches    string  `yaml:"matches" json:"matches,omitempty" jsonschema:"description=RE2 expression on the cell's text"`
	NotMatches string  `yaml:"not_matches" json:"not_matches,omitempty" jsonschema:"description=RE2 expression that the cell's text must not match; a blank cell does not"`
	Blank      bool    `yaml:"blank" json:"blank,omitempty" jsonschema:"description=the cell is blank"`
	NotBlank   bool    `yaml:"not_blank" json:"not_blank,omitempty" jsonschema:"description=the cell is not blank"`
}

// Conditions is a list of conditions that must all hold; one condition may stand for the list.
type Conditions []Condition

// OneOrMore marks the type for strictyaml.
func (Conditions) OneOrMore() {}

// MarshalJSON writes a single condition without a list, as the mapping has it: the digest does not depend on the form.
func (c Conditions) MarshalJSON() ([]byte, error) {
	if len(c) == 1 {
		return json.Marshal(c[0])
	}
	return json.Marshal([]Condition(c))
}

// Skip leaves rows out, with a reason that reports show.
type Skip struct {
	Condition
	Reason  string `yaml:"reason" json:"reason" jsonschema:"description=why such rows are left out"`
	Confirm bool   `yaml:"confirm" json:"confirm,omitempty" jsonschema:"description=drafted and not yet confirmed by a person; remove the key to confirm"`
}

// RecordSpec is one record that a row gives.
type RecordSpec struct {
	Entity  string               `yaml:"entity" json:"entity"`
	Key     Strings              `yaml:"key" json:"key" jsonschema:"description=names of the fields whose values tell records apart"`
	When    Conditions           `yaml:"when" json:"when,omitempty" jsonschema:"description=the row gives this record only if the conditions hold"`
	History bool                 `yaml:"history" json:"history,omitempty" jsonschema:"description=repeats of a key are events and not conflicts"`
	Confirm bool                 `yaml:"confirm" json:"confirm,omitempty" jsonschema:"description=drafted and not yet confirmed by a person; remove the key to confirm"`
	Fields  map[string]FieldSpec `yaml:"fields" json:"fields" jsonschema:"description=the entity's fields and the columns they come from"`
}

// FieldSpec says where one field's value comes from and how it is read. The short form `field: Header` is from alone.
type FieldSpec struct {
	From       Columns            `yaml:"from" json:"from,omitempty" jsonschema:"description=column or columns"`
	Join       *string            `yaml:"join" json:"join,omitempty" jsonschema:"description=what stands between joined columns of text and dates; a space by default"`
	First      bool               `yaml:"first" json:"first,omitempty" jsonschema:"description=of several columns the first that is not blank counts; so it is anyway for all but text and dates"`
	When       Conditions         `yaml:"when" json:"when,omitempty" jsonschema:"description=the cell counts only if the conditions hold; else the field has no value"`
	Split      string             `yaml:"split" json:"split,omitempty" jsonschema:"description=what stands between several words in one cell"`
	Type       importers.Type     `yaml:"type" json:"type,omitempty" jsonschema:"enum=text,enum=id,enum=email,enum=phone,enum=date,enum=datetime,enum=enum,enum=bool,enum=integer,enum=country,enum=language,description=how the cell is read; the field's own type by default"`
	Format     Strings            `yaml:"format" json:"format,omitempty" jsonschema:"description=layouts of dates in text or the words iso8601 and serial"`
	Zone       string             `yaml:"zone" json:"zone,omitempty" jsonschema:"description=IANA time zone; goes before all others but an offset in the cell"`
	Region     string             `yaml:"region" json:"region,omitempty" jsonschema:"description=ISO 3166 country of telephone numbers without + or 00"`
	Decimal    string             `yaml:"decimal" json:"decimal,omitempty" jsonschema:"enum=point,enum=comma,description=what stands before the decimals of a number in text; a point by default"`
	Enum       map[string]Strings `yaml:"enum" json:"enum,omitempty" jsonschema:"description=term: [words of the source]; for consent status and bool also yes and no"`
	Polarity   string             `yaml:"polarity" json:"polarity,omitempty" jsonschema:"enum=normal,enum=inverted,description=what yes means: normal is consent and inverted is an opt-out"`
	NullTokens Strings            `yaml:"null_tokens" json:"null_tokens,omitempty" jsonschema:"description=words that mean no value"`
	Normalize  Strings            `yaml:"normalize" json:"normalize,omitempty" jsonschema:"description=trim; nfc; lower; upper; collapse; apostrophe; plus"`
	Filled     string             `yaml:"filled" json:"filled,omitempty" jsonschema:"description=the term that any filled cell stands for; for a column that holds one kind of thing"`
	Digest     string             `yaml:"digest" json:"digest,omitempty" jsonschema:"enum=sha256,description=the value is the digest of the cell's text"`
	Inferred   string             `yaml:"inferred" json:"inferred,omitempty" jsonschema:"description=how the source came by the value without anybody having said it; such a value never counts as evidence"`
	Rules      string             `yaml:"rules" json:"rules,omitempty" jsonschema:"description=checks in the tag language of go-playground/validator"`
	Const      *string            `yaml:"const" json:"const,omitempty" jsonschema:"description=one value for every row"`
	StatedBy   *StatedBy          `yaml:"stated_by" json:"stated_by,omitempty" jsonschema:"description=who states the const and when"`
	Confirm    bool               `yaml:"confirm" json:"confirm,omitempty" jsonschema:"description=drafted and not yet confirmed by a person; remove the key to confirm"`
}

// FromScalar reads the short form.
func (f *FieldSpec) FromScalar(s string) error {
	f.From = Columns{{Header: s}}
	return nil
}

// StatedBy is who answers for a const value.
type StatedBy struct {
	Name string `yaml:"name" json:"name" jsonschema:"description=person or role who states it"`
	At   string `yaml:"at" json:"at" jsonschema:"description=date (YYYY-MM-DD) or RFC 3339 time of the statement"`
}

// Column names a column: by header text (nth where it repeats), by letter, or by index from 1.
type Column struct {
	Header string `yaml:"header" json:"header,omitempty" jsonschema:"description=header text"`
	Nth    int    `yaml:"nth" json:"nth,omitempty" jsonschema:"minimum=1,description=which of several columns with the same header; counted from the left"`
	Letter string `yaml:"letter" json:"letter,omitempty" jsonschema:"description=column letters as the spreadsheet program shows them"`
	Index  int    `yaml:"index" json:"index,omitempty" jsonschema:"minimum=1,description=column number counted from 1"`
}

// FromScalar reads the short form, the header text.
func (c *Column) FromScalar(s string) error {
	c.Header = s
	return nil
}

// String names the column as messages show it.
func (c Column) String() string {
	switch {
	case c.Letter != "":
		return "column " + c.Letter
	case c.Index > 0:
		return fmt.Sprintf("column number %d", c.Index)
	case c.Nth > 0:
		return fmt.Sprintf("%q (nth: %d)", c.Header, c.Nth)
	}
	return fmt.Sprintf("%q", c.Header)
}

// Strings is a list of texts that one text may stand for.
type Strings []string

// OneOrMore marks the type for strictyaml.
func (Strings) OneOrMore() {}

// Columns is a list of columns that one column may stand for.
type Columns []Column

// OneOrMore marks the type for strictyaml.
func (Columns) OneOrMore() {}

// Digest is the hex SHA-256 of the mapping's content. Comments, layout, short forms and the order of keys don't matter.
func (m *Mapping) Digest() string { return digestJSON(m) }

// digestJSON hashes the JSON form of one of our own types: struct fields in their order, map keys sorted. That is canonical
// for us, because the types hold no floats and their text is UTF-8.
func digestJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic("mappings: " + err.Error()) // our own types always marshal
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
