package importers

// Origin says who gave a value.
type Origin uint8

// A value comes from the source row itself, from an operator's statement in the mapping (const with stated_by), or was
// inferred. Only FromRow can ever answer a question of the consent rule.
const (
	FromRow Origin = iota
	Stated
	Inferred
)

// Value is one typed value of one field of one record. The zero Value is absent: no column, a blank cell or a declared
// null token.
type Value struct {
	Set       bool
	Origin    Origin
	Text      string // text, id, email, phone (E.164), enum term, date (YYYY-MM-DD)
	Int       int64  // datetime (microseconds since 1970 UTC), bool (0, 1), integer
	Raw       string // date, datetime: the text or number as the file holds it
	Zone      string // datetime: IANA zone or fixed offset used; empty when neither the cell nor a declaration gave one
	Precision string // datetime: "day", "minute", "second", "micro"
}

// Record is one record that a row gives, before the rules that look beyond the row. Records share values, which repeat from row to
// row, so a value is never changed: another one takes its place.
type Record struct {
	Entity *Entity
	Values []*Value // by field index; never nil, NoValue where the record has no value
	Key    string   // external key: the key fields' values, "\" and "|" escaped by "\", joined by "|"
}

// Get returns the value of the named field; the zero Value when the entity has no such field.
func (r *Record) Get(field string) *Value {
	if i := r.Entity.Field(field); i >= 0 {
		return r.Values[i]
	}
	return noValue
}

var noValue = &Value{}

// NoValue is the value of a field that a record has no value for.
func NoValue() *Value { return noValue }

// NewRecord returns a record of the entity without any value.
func NewRecord(e *Entity) Record {
	r := Record{Entity: e, Values: make([]*Value, len(e.Fields))}
	for i := range r.Values {
		r.Values[i] = noValue
	}
	return r
}
