// Package finding is the vocabulary of what goes wrong with data: a Finding, the Rule it breaks, the Class of the
// error taxonomy the rule belongs to, and the Sink that takes findings.
//
// It promises that a finding never holds a personal value: there is no field for one. A message names the place, the rule
// and the remedy; the few values it may quote come from fields whose personal-data class is none (see Quote).
// Findings are values, not failures: a stage streams them to a Sink in source order and goes on.
package finding

import (
	"encoding/json"
	"strings"
)

// Class is one of the fourteen classes of the error taxonomy. Only classes for which Retries is true may be tried
// again by a machine.
type Class string

// The fourteen classes.
const (
	Auth                 Class = "AUTH"
	Authz                Class = "AUTHZ"
	RateLimit            Class = "RATE_LIMIT"
	TransientNetwork     Class = "TRANSIENT_NETWORK"
	SourceUnavailable    Class = "SOURCE_UNAVAILABLE"
	SchemaChanged        Class = "SCHEMA_CHANGED"
	NotFound             Class = "NOT_FOUND"
	MultipleMatch        Class = "MULTIPLE_MATCH"
	VersionConflict      Class = "VERSION_CONFLICT"
	PolicyBlock          Class = "POLICY_BLOCK"
	Validation           Class = "VALIDATION"
	PartialSource        Class = "PARTIAL_SOURCE"
	AmbiguousResult      Class = "AMBIGUOUS_RESULT"
	PermanentUnsupported Class = "PERMANENT_UNSUPPORTED"
)

// Retries reports whether a failure of this class may be tried again without a person.
func (c Class) Retries() bool {
	return c == RateLimit || c == TransientNetwork || c == SourceUnavailable
}

// Severity orders findings: an Error rejects a row or fails a column, a Warning is doubtful, Info is shown and counted.
type Severity string

// The three severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Scope says what one finding of a rule is about. A finding of scope Column or Batch with severity Error fails the dry-run.
type Scope string

// The scopes of a rule.
const (
	Row    Scope = "row"    // one source row (or a cell of it)
	Column Scope = "column" // a whole column, sheet or file of one source
	Batch  Scope = "batch"  // the batch
)

// Finding is one rejected row, one doubtful cell, or one entry for a hazard of a column, sheet or file (then Rows counts
// the rows concerned and Row and LastRow are the first and the last of them). The JSON form is one line of the findings file.
type Finding struct {
	Rule         string   `json:"rule"`
	Class        Class    `json:"class"`
	Severity     Severity `json:"severity"`
	Source       string   `json:"source,omitempty"`        // name of the source in batch.yaml
	File         string   `json:"file,omitempty"`          // path as written in batch.yaml
	Sheet        string   `json:"sheet,omitempty"`         // worksheet name; empty for text files
	Row          int      `json:"row,omitempty"`           // row number as the user sees it, from 1
	LastRow      int      `json:"last_row,omitempty"`      // last row concerned, for hazards
	Rows         int      `json:"rows,omitempty"`          // rows concerned, for hazards
	Snapshot     string   `json:"snapshot,omitempty"`      // the earlier snapshot that the row is of; empty if it is of the one that was judged
	Line         int      `json:"line,omitempty"`          // physical line, text files only
	Column       string   `json:"column,omitempty"`        // column letters
	Cell         string   `json:"cell,omitempty"`          // A1 reference
	Field        string   `json:"field,omitempty"`         // entity.field the value was meant for
	SubjectToken string   `json:"subject_token,omitempty"` // truncated HMAC, stable within the batch
	Records      IDs      `json:"records,omitempty"`       // ids of records that the row is held against: in the register, or coming in
	Message      string   `json:"message"`                 // what happened; never a personal value
	Remedy       string   `json:"remedy"`                  // what to do next
}

// IDs are ids of records, parted by blanks: findings are compared with ==. The JSON form is a list.
type IDs string

// List gives them one by one.
func (ids IDs) List() []string { return strings.Fields(string(ids)) }

// MarshalJSON writes the list.
func (ids IDs) MarshalJSON() ([]byte, error) { return json.Marshal(ids.List()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (ids *IDs) UnmarshalJSON(data []byte) error {
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*ids = IDs(strings.Join(list, " "))
	return nil
}

// Sink takes findings in source order. Add may keep f. An error from Add stops the stage: the list would not be complete.
type Sink interface {
	Add(f Finding) error
}

// SinkFunc makes a function a Sink.
type SinkFunc func(Finding) error

// Add calls the function.
func (s SinkFunc) Add(f Finding) error { return s(f) }

// Rule is one stable rule id and what it means. Title, Meaning, Example and Remedy are shown to users.
type Rule struct {
	ID       string
	Class    Class
	Severity Severity
	Scope    Scope
	Meaning  string // one sentence
	Example  string // made-up
	Remedy   string // default remedy; a finding may say a better one
}
