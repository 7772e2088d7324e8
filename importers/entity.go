// Package importers says what is imported and in which order: the entities and their fields, the vocabularies their values
// come from, and the rules of consent (what makes a receipt, which event wins), as pure functions.
//
// The entity table (Entities) is the one place where a field is described. Staged Arrow schema, SQL columns, mapping checks,
// JSON Schema and report names derive from it, and a test holds the hand-written migrations to it.
//
// Invariants: entities import in the order of the table, configs before suppressions and cases before consent; nothing in
// this package reads a clock, a file or a database.
package importers

import "fmt"

// Type is the type of a field, as a mapping names it.
type Type string

// The nine field types. Text is kept as it is; ID is text always; Email is an address without a display name; Phone is
// E.164; Date is a calendar day; DateTime is an instant with its precision, zone and original text; Enum is a term of a closed
// list; Bool is true or false; Integer is a whole number of at most 15 digits.
const (
	Text     Type = "text"
	ID       Type = "id"
	Email    Type = "email"
	Phone    Type = "phone"
	Date     Type = "date"
	DateTime Type = "datetime"
	Enum     Type = "enum"
	Bool     Type = "bool"
	Integer  Type = "integer"
)

// Data is the personal-data class of a field. Only fields of class None may ever show values in a report.
type Data string

// The five classes.
const (
	None       Data = "none"
	Identifier Data = "identifier"
	Contact    Data = "contact"
	FreeText   Data = "free_text"
	Special    Data = "special"
)

// Term is one value of a closed list and the IRI or clause of the vocabulary that defines it (empty where no published
// vocabulary has it).
type Term struct {
	Name string
	IRI  string
}

// Field describes one field of an entity.
type Field struct {
	Name     string
	Type     Type
	Required bool   // a record without it is rejected (rule field.required)
	Data     Data   // personal-data class
	Max      int    // maximum length of the value in characters; a longer one rejects the row, it is never cut. 0 for dates, bools, integers
	Terms    []Term // closed list, for Enum
	Ref      string // name of the config entity this field points to by key, or empty
	Std      string // the ISO/IEC TS 27560 (DPV guide) or GDPR Article 30 term it stands for
	Doc      string // what it means, one sentence
}

// Has reports whether name is a term of the field's closed list.
func (f *Field) Has(name string) bool {
	for _, t := range f.Terms {
		if t.Name == name {
			return true
		}
	}
	return false
}

// Storage is how a column is stored, in Arrow and in both databases.
type Storage uint8

// Stored as UTF-8 text or as a 64-bit integer; both may be null.
const (
	AsText Storage = iota
	AsInt
)

// Column is one stored column of an entity.
type Column struct {
	Name    string
	Storage Storage
	Field   int  // index into Entity.Fields, or -1 for an envelope or derived column
	Part    Part // which part of the field's value it holds
	NotNull bool
}

// Part says which part of a Value a column holds.
type Part uint8

// The parts of a value. A date is stored as its ISO day and its original text; a date-time as microseconds since 1970 UTC,
// original text, zone and precision.
const (
	Main Part = iota
	OriginalText
	Zone
	Precision
)

// Entity describes one kind of record.
type Entity struct {
	Name    string   // singular, as mappings and reports name it
	Tables  []string // the register table, or the two of consent: receipts, legacy_assertions
	Config  bool     // a configuration entity, imported first
	Event   bool     // an event: its id adds the content digest, repeats of a key are history where the mapping says so
	Fields  []Field
	Derived []Column // columns worked out by the rules of this package, never mapped
	Doc     string

	columns []Column
	byName  map[string]int
	refs    []int
	subject [len(kinds)]int // indices of the fields that name a subject, -1 where there is none
}

// Field returns the index of the named field, or -1.
func (e *Entity) Field(name string) int {
	if i, ok := e.byName[name]; ok {
		return i
	}
	return -1
}

// Refs are the indexes of the fields that point to config entities.
func (e *Entity) Refs() []int { return e.refs }

// Columns returns the stored columns of the entity's own content: the fields' columns in table order, then the derived ones.
func (e *Entity) Columns() []Column { return e.columns }

// Envelope returns the columns that every staged record carries before its content: who it is and where it came from.
//
//	id              UUIDv5 of the record (for events: of the event)
//	record_id       UUIDv5 of (tenant, system, entity, key); equal to id but for events
//	system          name of the source system
//	external_key    the record's key in the source, parts joined by "|"
//	content_digest  SHA-256 of the typed content, hex
//	file_digest     SHA-256 of the frozen file, hex
//	sheet           sheet name, empty for text files
//	row             row number as the user sees it
//	line            physical line, 0 for workbooks
//	row_digest      SHA-256 over the row's typed cells, hex
func Envelope() []Column {
	return []Column{
		{Name: "id", Field: -1, NotNull: true},
		{Name: "record_id", Field: -1, NotNull: true},
		{Name: "system", Field: -1, NotNull: true},
		{Name: "external_key", Field: -1, NotNull: true},
		{Name: "content_digest", Field: -1, NotNull: true},
		{Name: "file_digest", Field: -1, NotNull: true},
		{Name: "sheet", Field: -1, NotNull: true},
		{Name: "row", Storage: AsInt, Field: -1, NotNull: true},
		{Name: "line", Storage: AsInt, Field: -1, NotNull: true},
		{Name: "row_digest", Field: -1, NotNull: true},
	}
}

func (e *Entity) init() {
	e.byName = make(map[string]int, len(e.Fields))
	for i := range e.Fields {
		f := &e.Fields[i]
		if _, dup := e.byName[f.Name]; dup {
			panic(fmt.Sprintf("entity %s: field %s twice", e.Name, f.Name))
		}
		e.byName[f.Name] = i
		switch f.Type {
		case Date:
			e.columns = append(e.columns,
				Column{Name: f.Name, Field: i},
				Column{Name: f.Name + "_text", Field: i, Part: OriginalText})
		case DateTime:
			e.columns = append(e.columns,
				Column{Name: f.Name, Storage: AsInt, Field: i},
				Column{Name: f.Name + "_text", Field: i, Part: OriginalText},
				Column{Name: f.Name + "_zone", Field: i, Part: Zone},
				Column{Name: f.Name + "_precision", Field: i, Part: Precision})
		case Bool, Integer:
			e.columns = append(e.columns, Column{Name: f.Name, Storage: AsInt, Field: i})
		default:
			e.columns = append(e.columns, Column{Name: f.Name, Field: i})
		}
	}
	for i := range e.Fields {
		if e.Fields[i].Ref != "" {
			e.refs = append(e.refs, i)
		}
	}
	e.columns = append(e.columns, e.Derived...)
	for n, kind := range kinds {
		e.subject[n] = e.Field(kind)
	}
}

// ByName returns the entity of that name, or nil.
func ByName(name string) *Entity {
	for i := range Entities {
		if Entities[i].Name == name {
			return &Entities[i]
		}
	}
	return nil
}

func init() {
	for i := range Entities {
		Entities[i].init()
	}
}
