package pipeline

import "sheetlift/pipeline/finding"

// Schema names of what a reviewer reads.
const (
	ReviewSchema = "sheetlift/review/v1"
	GapsSchema   = "sheetlift/gaps/v1"
)

// ReviewResult is all that a reviewer of a batch has to see, drawn from the recorded results, the staged files and the findings
// files. It holds no personal value, and no clock but the ledger's: the same state of a batch gives the same review. Names of
// files, sheets and columns that look like a value about a person are given by position. Lists that are cut say by how much.
type ReviewResult struct {
	Schema   string        `json:"schema"`
	Batch    string        `json:"batch"`
	Snapshot string        `json:"snapshot"`
	Tenant   string        `json:"tenant"`
	AsOf     string        `json:"as_of"` // day of the newest export, by which open cases are judged
	Stages   []StageStatus `json:"stages"`
	Files    []ReviewFile  `json:"files"`
	// Sources are what batch.yaml says of each source, with what became of its rows.
	Sources []ReviewSource `json:"sources"`
	// Judged is nil until there is a dry-run.
	Judged      *ReviewJudged  `json:"judged,omitempty"`
	Rules       []ReviewRule   `json:"rules"`
	Hazards     []ReviewHazard `json:"hazards"`
	HazardsLeft int            `json:"hazards_left_out,omitempty"`
	Columns     []ReviewColumn `json:"columns"`
	ColumnsLeft int            `json:"columns_left_out,omitempty"`
	Decisions   []Decision     `json:"decisions"`
	Digests     []ReviewDigest `json:"digests"`
}

// ReviewFile is one file that came in.
type ReviewFile struct {
	File       string        `json:"file"`
	SHA256     string        `json:"sha256"`
	Size       int64         `json:"size"`
	Type       string        `json:"type"`
	Conversion *Conversion   `json:"conversion,omitempty"`
	ObtainedAt string        `json:"obtained_at,omitempty"` // of the frozen bytes; empty before freeze
	Sheets     []ReviewSheet `json:"sheets"`
}

// ReviewSheet is one sheet of a file, whether a source reads it or not.
type ReviewSheet struct {
	Sheet      string `json:"sheet"`
	Source     string `json:"source,omitempty"`
	Visibility string `json:"visibility"`
	Rows       int    `json:"rows"`
	Cells      int    `json:"cells"`
	Columns    int    `json:"columns"`
	Hidden     int    `json:"hidden_rows,omitempty"`
	Merged     int    `json:"merged_ranges,omitempty"`
	Formulas   int    `json:"formulas,omitempty"`
	Errors     int    `json:"error_cells,omitempty"`
	Duplicates int    `json:"duplicate_rows,omitempty"`
}

// ReviewSource is one source: who answers for it, and what became of its rows.
type ReviewSource struct {
	Source     string         `json:"source"`
	File       string         `json:"file"`
	Sheet      string         `json:"sheet,omitempty"`
	System     string         `json:"system"`
	Owner      string         `json:"owner,omitempty"`
	Definition string         `json:"definition,omitempty"`
	ObtainedAt string         `json:"obtained_at"`
	Zone       string         `json:"zone,omitempty"`
	Entities   []string       `json:"entities"`
	Rows       Rows           `json:"rows"`
	Rejected   map[string]int `json:"rejected_by,omitempty"`
	Skipped    map[string]int `json:"skipped_by,omitempty"`
	Corrected  int            `json:"corrected,omitempty"`
	Vanished   int            `json:"vanished,omitempty"`
	Tolerance  int            `json:"tolerance"`
	Reason     string         `json:"tolerance_reason,omitempty"`
	By         string         `json:"tolerance_owner,omitempty"`
	Retention  *Approval      `json:"retention_approved,omitempty"`
}

// ReviewJudged is what the dry-run decided, looked at from several sides.
type ReviewJudged struct {
	Complete bool                    `json:"complete"`
	Passed   bool                    `json:"passed"`
	Imported bool                    `json:"imported"` // exactly these records are in the register
	Rows     Rows                    `json:"rows"`
	Entities map[string]*EntityCount `json:"entities"`
	Cases    CaseCount               `json:"cases"`
	// StillGiven counts the given consents in the register that rejected rows speak against, as the newest dry-run found.
	StillGiven int `json:"still_given,omitempty"`
	// RegisterChanged says that other batches changed the register since that dry-run, so that it may be another number.
	RegisterChanged bool `json:"register_changed,omitempty"`
	// StillGivenElsewhere is that of reconcile, as of now; StillGivenBatches are the batches whose rejected rows these are.
	StillGivenElsewhere int             `json:"still_given_elsewhere,omitempty"`
	StillGivenBatches   []string        `json:"still_given_batches,omitempty"`
	NotBack             []NotBack       `json:"not_back,omitempty"` // as the newest dry-run of the snapshot found
	Evidence            []EvidenceCount `json:"evidence"`
	Timeline            Timeline        `json:"timeline"`
	CaseList            []ReviewCase    `json:"case_list"` // open ones that are overdue or due soon, the most urgent first
	CaseLeft            int             `json:"cases_left_out,omitempty"`
	Kinds               []CaseKind      `json:"case_kinds"`
	Gaps                GapTable        `json:"gaps"`
}

// EvidenceCount counts the consents of one source and purpose. Purpose is empty for those that name none, and OtherPurposes
// for those whose code is not shown.
type EvidenceCount struct {
	Source  string `json:"source"`
	Purpose string `json:"purpose"`
	EntityCount
}

// OtherPurposes stands for purposes beyond the fifty commonest, and for codes that look like a value about a person.
const OtherPurposes = "(others, not shown)"

// Timeline counts consents by the month in which they are said to have been decided.
type Timeline struct {
	Months  []MonthCount `json:"months"`            // the last ten years up to AsOf, oldest first; months without any are left out
	Earlier *MonthCount  `json:"earlier,omitempty"` // before them
	Later   *MonthCount  `json:"later,omitempty"`   // after the month of the newest export
	Undated int          `json:"undated"`
	Stamps  []Stamp      `json:"bulk_stamps"`
}

// MonthCount counts consents by status.
type MonthCount struct {
	Month     string `json:"month,omitempty"` // 2024-03
	Given     int    `json:"given"`
	Refused   int    `json:"refused"`
	Withdrawn int    `json:"withdrawn"`
	Expired   int    `json:"expired"`
}

// All is their sum.
func (m *MonthCount) All() int { return m.Given + m.Refused + m.Withdrawn + m.Expired }

// Stamp is one time that many consents of a source carry.
type Stamp struct {
	Source  string `json:"source"`
	At      string `json:"at"` // 2024-03-01, or with a time of day and zone
	Records int    `json:"records"`
	AtLeast bool   `json:"at_least,omitempty"` // the count is a lower bound
	Of      int    `json:"of"`                 // dated consents of the source
}

// ReviewCase is one open case, by its place.
type ReviewCase struct {
	Source   string `json:"source"`
	Place    string `json:"place"`
	Type     string `json:"request_type"`
	Received string `json:"received"`
	Due      string `json:"due"`
	State    string `json:"state"` // overdue, soon
}

// CaseKind counts the cases of one kind in one source.
type CaseKind struct {
	Source    string `json:"source"`
	Type      string `json:"request_type"`
	Open      int    `json:"open"`
	Overdue   int    `json:"overdue"`
	DueSoon   int    `json:"due_soon"`
	Fulfilled int    `json:"closed_fulfilled"`
	Refused   int    `json:"closed_refused"`
	Withdrawn int    `json:"withdrawn"`
}

// GapTable holds what the batch brings against the fields of a consent record of ISO/IEC TS 27560.
type GapTable struct {
	Sources []GapSource `json:"sources"`
	Fields  []GapField  `json:"fields"`
}

// GapSource is one source that brings consents.
type GapSource struct {
	Source   string `json:"source"`
	Consents int    `json:"consents"`
}

// GapField is one field of the standard, with one count a source.
type GapField struct {
	Section  string     `json:"section"`
	Field    string     `json:"field"`
	Required bool       `json:"required"`
	GDPR     string     `json:"gdpr,omitempty"`
	DPV      string     `json:"dpv"`
	Where    string     `json:"answered_by"`
	State    GapState   `json:"state"` // over all sources
	Held     []GapCount `json:"held"`
}

// GapCount counts the consents for which a field is answered, and of these the ones for which only an operator says so.
type GapCount struct {
	Held   int `json:"held"`
	Stated int `json:"stated,omitempty"`
}

// GapState says how far a field is answered.
type GapState string

// The states, from good to bad.
const (
	GapHeld     GapState = "held"     // for every consent
	GapAssigned GapState = "assigned" // by the register
	GapStated   GapState = "stated"   // for every consent, but for some only by an operator's word
	GapPartly   GapState = "partly"
	GapMissing  GapState = "missing"  // for every consent
	GapNoPlace  GapState = "no_place" // the register can't keep it yet
)

// GapsResult is the gap table by itself.
type GapsResult struct {
	Schema   string `json:"schema"`
	Batch    string `json:"batch"`
	Snapshot string `json:"snapshot"`
	GapTable
}

// ReviewRule is one rule that was broken in one stage.
type ReviewRule struct {
	Stage string `json:"stage"`
	RuleCount
	Meaning string          `json:"meaning"`
	Remedy  string          `json:"remedy"`
	Places  []FindingsPlace `json:"places"` // the first of them
}

// FindingsPlace is where a rule was broken.
type FindingsPlace struct {
	Source  string `json:"source,omitempty"`
	Place   string `json:"place"`
	Message string `json:"message"`
}

// ReviewHazard is one finding about a file, sheet or column.
type ReviewHazard struct {
	Rule     string           `json:"rule"`
	Severity finding.Severity `json:"severity"`
	Source   string           `json:"source,omitempty"`
	Place    string           `json:"place"`
	Rows     int              `json:"rows,omitempty"`
	Message  string           `json:"message"`
	Remedy   string           `json:"remedy"`
}

// ReviewColumn is the profile of one column.
type ReviewColumn struct {
	File    string         `json:"file"`
	Sheet   string         `json:"sheet"`
	Column  string         `json:"column"`
	Name    string         `json:"name"`
	Kinds   map[string]int `json:"kinds"`
	Blank   int            `json:"blank"`
	Filled  int            `json:"filled"`
	Count   int            `json:"distinct"`
	AtLeast bool           `json:"distinct_at_least,omitempty"`
	Key     bool           `json:"candidate_key,omitempty"`
	Fields  []string       `json:"fields,omitempty"` // that the mapping takes from it
	Doubts  []string       `json:"doubts,omitempty"`
}

// Decision is one thing that a mapping or batch.yaml decides, with who answers for it.
type Decision struct {
	Source string `json:"source"`
	Record string `json:"record,omitempty"` // entity, and its number where several records are of one
	What   string `json:"what"`             // a field, or: key, header, skip, tolerance, …
	How    string `json:"how"`
	By     string `json:"stated_by,omitempty"`
	At     string `json:"stated_at,omitempty"`
	Kind   string `json:"kind"` // row, stated, inferred, rule, tolerance
	Draft  bool   `json:"unconfirmed,omitempty"`
}

// ReviewDigest is a digest to compare with one that was got elsewhere.
type ReviewDigest struct {
	What   string `json:"what"`
	Of     string `json:"of"`
	SHA256 string `json:"sha256"`
}
