package pipeline

import (
	"sheetlift/pipeline/finding"
)

// Schema names of the results' JSON.
const (
	InventorySchema = "sheetlift/inventory/v1"
	FreezeSchema    = "sheetlift/freeze/v1"
	MapSchema       = "sheetlift/map/v1"
	DryRunSchema    = "sheetlift/dryrun/v1"
	ImportSchema    = "sheetlift/import/v1"
	ReconcileSchema = "sheetlift/reconcile/v1"
	StatusSchema    = "sheetlift/status/v1"
	TraceSchema     = "sheetlift/trace/v1"
	VerifySchema    = "sheetlift/verify/v1"
	RunSchema       = "sheetlift/run/v1"
	UndoSchema      = "sheetlift/undo/v1"
	ExplainSchema   = "sheetlift/explain/v1"
)

// Outcome is what every stage result begins and ends with. Complete is false when the stage stopped early; such a result is never
// a success. Digest covers everything but FindingsFile, FindingsSum, Digest itself, AlreadyDone, Scratch and Baseline.
type Outcome struct {
	Schema       string      `json:"schema"`
	Batch        string      `json:"batch"`
	Snapshot     string      `json:"snapshot"`
	Complete     bool        `json:"complete"`
	Passed       bool        `json:"passed"`
	Findings     Counts      `json:"findings"`
	ByRule       []RuleCount `json:"by_rule"`
	FindingsFile string      `json:"findings_file,omitempty"`
	FindingsSum  string      `json:"findings_sha256,omitempty"` // SHA-256 of the findings file; results of earlier versions have none
	Digest       string      `json:"digest,omitempty"`
	AlreadyDone  bool        `json:"already_done,omitempty"` // the same inputs were done before; this is the recorded result
	Scratch      bool        `json:"scratch,omitempty"`      // made in a folder that is gone: no gate looks at it, and it has no findings file
	Baseline     *Baseline   `json:"baseline,omitempty"`     // compared with the findings of an earlier run
}

// Baseline counts the findings that an earlier run had and those it did not have, of all stages that were asked for.
type Baseline struct {
	Known Counts `json:"known"`
	New   Counts `json:"new"`
}

func (o *Outcome) outcome() *Outcome { return o }

// Counts are the findings by severity.
type Counts struct {
	Error   int `json:"error"`
	Warning int `json:"warning"`
	Info    int `json:"info"`
}

// RuleCount is how often one rule was broken.
type RuleCount struct {
	Rule     string           `json:"rule"`
	Class    finding.Class    `json:"class"`
	Severity finding.Severity `json:"severity"`
	Count    int              `json:"count"`
	First    *Place           `json:"first,omitempty"`
}

// Place is where a finding is.
type Place struct {
	Source string `json:"source,omitempty"`
	File   string `json:"file,omitempty"`
	Sheet  string `json:"sheet,omitempty"`
	Row    int    `json:"row,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column string `json:"column,omitempty"`
	Cell   string `json:"cell,omitempty"`
}

// Rows counts source rows: Read = Accepted + Rejected + Skipped. Blank rows and rows above or of the header are none.
type Rows struct {
	Read     int `json:"read"`
	Accepted int `json:"accepted"`
	Rejected int `json:"rejected"`
	Skipped  int `json:"skipped"`
}

func (r *Rows) add(o Rows) {
	r.Read += o.Read
	r.Accepted += o.Accepted
	r.Rejected += o.Rejected
	r.Skipped += o.Skipped
}

// InventoryResult is what the files hold.
type InventoryResult struct {
	Outcome
	Config string          `json:"config"` // digest of batch.yaml
	Files  []InventoryFile `json:"files"`
}

// InventoryFile is one file of the batch.
type InventoryFile struct {
	File      string `json:"file"`
	SHA256    string `json:"sha256"`
	Size      int64  `json:"size"`
	Type      string `json:"type"` // in plain words
	Format    string `json:"format"`
	Charset   string `json:"charset,omitempty"`
	Delimiter string `json:"delimiter,omitempty"`
	Date1904  bool   `json:"date1904,omitempty"`
	// Conversion is there when LibreOffice converted the file before it was read.
	Conversion *Conversion      `json:"conversion,omitempty"`
	Sheets     []InventorySheet `json:"sheets"`
}

// Conversion says what made the workbook that was read of a file in a format of its own.
type Conversion struct {
	Tool    string `json:"tool"`
	Version string `json:"version"`
	// SHA256 covers the parts of that workbook, without the zip's time stamps. It is no part of the result's digest: another
	// machine with the same version may lay out the same cells in other column widths.
	SHA256 string `json:"sha256,omitempty"`
}

// InventorySheet is one sheet, whether a source reads it or not.
type InventorySheet struct {
	Sheet        string            `json:"sheet"`
	Source       string            `json:"source,omitempty"` // the source that reads it, if any
	Owner        string            `json:"owner,omitempty"`
	Visibility   string            `json:"visibility"`
	Rows         int               `json:"rows"`          // rows that hold something
	Cells        int               `json:"cells"`         // non-empty cells
	CountedRows  int               `json:"counted_rows"`  // the same by the independent count
	CountedCells int               `json:"counted_cells"` // always equal: a difference stops the batch
	LastRow      int               `json:"last_row"`
	LastColumn   string            `json:"last_column,omitempty"`
	HeaderRow    int               `json:"header_row,omitempty"`
	Columns      []InventoryColumn `json:"columns,omitempty"`
	Keys         []string          `json:"candidate_keys,omitempty"` // letters of columns without blanks or repeats
	Duplicates   int               `json:"duplicate_rows,omitempty"`
	Merged       int               `json:"merged_ranges,omitempty"`
	HiddenRows   int               `json:"hidden_rows,omitempty"`
	Formulas     int               `json:"formulas,omitempty"`
	NoCache      int               `json:"formulas_without_value,omitempty"`
	Errors       int               `json:"error_cells,omitempty"`
}

// InventoryColumn is one column below the header.
type InventoryColumn struct {
	Column          string         `json:"column"` // letters
	Name            string         `json:"name"`   // header; by position when it looks like a personal value
	Kinds           map[string]int `json:"kinds"`  // cells by kind and format class, such as "number:date"
	Blank           int            `json:"blank"`
	Distinct        int            `json:"distinct"`
	DistinctAtLeast bool           `json:"distinct_at_least,omitempty"` // counting stopped at the limit
	ENotation       int            `json:"e_notation,omitempty"`
	LongNumbers     int            `json:"long_numbers,omitempty"` // numbers of more than 15 digits
	ZeroPadded      int            `json:"zero_padded,omitempty"`  // zeros that exist only in the number format
}

// FreezeResult is the bag that was made.
type FreezeResult struct {
	Outcome
	Manifest string       `json:"manifest"` // SHA-256 of the bag's tag manifest: the batch's manifest digest
	Files    []FrozenFile `json:"files"`
	Bytes    int64        `json:"bytes"`
	Bag      string       `json:"bag,omitempty"`       // where it lies; no part of the digest
	SignedBy string       `json:"signed_by,omitempty"` // the installation's public key; no part of the digest
	Kind     string       `json:"kind,omitempty"`      // of a snapshot after the initial one: mended, delta
	Number   int          `json:"number,omitempty"`    // counts the snapshots; 0 is the initial one
	Previous string       `json:"previous,omitempty"`  // manifest digest of the snapshot before
	Parts    []FrozenPart `json:"parts,omitempty"`     // what a snapshot after the initial one holds of which source
}

// FrozenPart is the share of one source in a snapshot after the initial one.
type FrozenPart struct {
	Source     string `json:"source"`
	File       string `json:"file"`
	Sheet      string `json:"sheet,omitempty"` // mended rows: the sheet of the workbook
	Base       string `json:"base,omitempty"`  // mended rows: the snapshot whose rows they are
	ObtainedAt string `json:"obtained_at"`
	ObtainedBy string `json:"obtained_by,omitempty"` // fresh export without a stated time: see ByFile
}

// Where the time of a fresh export is from that nobody stated.
const (
	ByFile        = "file"         // the file was last changed then
	ByFirstExport = "first_export" // the file is older than what batch.yaml says of the first export, whose time counts
)

// FrozenFile is one payload file of the bag.
type FrozenFile struct {
	File       string `json:"file"`    // as written in batch.yaml
	Payload    string `json:"payload"` // below data/
	SHA256     string `json:"sha256"`
	Size       int64  `json:"size"`
	ObtainedAt string `json:"obtained_at"`
}

// MapResult is the compiled mappings.
type MapResult struct {
	Outcome
	Manifest string         `json:"manifest"`
	Sources  []MappedSource `json:"sources"`
}

// MappedSource is one source's mapping against its profile.
type MappedSource struct {
	Source    string   `json:"source"`
	File      string   `json:"file"`
	Sheet     string   `json:"sheet"`
	Mapping   string   `json:"mapping"` // digest
	Profile   string   `json:"profile"` // digest
	Plan      string   `json:"plan"`    // digest
	HeaderRow int      `json:"header_row"`
	Rows      int      `json:"rows"`
	Columns   int      `json:"columns"`
	Unmapped  []string `json:"unmapped"`
	Entities  []string `json:"entities"`
}

// DryRunResult is what importing would do.
type DryRunResult struct {
	Outcome
	Manifest string                  `json:"manifest"`
	Map      string                  `json:"map"`    // digest of the map result
	Config   string                  `json:"config"` // digest of batch.yaml
	Rows     Rows                    `json:"rows"`
	Sources  []DryRunSource          `json:"sources"`
	Entities map[string]*EntityCount `json:"entities"`
	Cases    CaseCount               `json:"cases"`
	// StillGiven counts the given consents in the register that rejected rows speak against (consent.still_given).
	StillGiven int          `json:"still_given,omitempty"`
	Staged     []StagedFile `json:"staged"`
	// Known is there if rows are skipped as known; results of earlier versions have none.
	Known *KnownRows `json:"known,omitempty"`
	// Anew is there in a mended snapshot; results of earlier versions have none.
	Anew *AnewRows `json:"anew,omitempty"`
	// Slips says that rejected rows name purposes or notices which are in no list, so that what they say no to may be any; results of earlier
	// versions take such a purpose for another one, and have none.
	Slips bool `json:"slips,omitempty"`
	// Unrecorded is there if rows that give no record say something that the import keeps.
	Unrecorded *UnrecordedFile `json:"unrecorded,omitempty"`
	Listed     string          `json:"rejected_sha256,omitempty"` // of the list of rejected rows; no part of the digest; results of earlier versions have none
	NotBack    []NotBack       `json:"not_back,omitempty"`        // no part of the digest
	Rejects    []RejectsFile   `json:"rejects,omitempty"`         // written on demand; no part of the digest
	Values     *ValuesFile     `json:"values,omitempty"`          // as Rejects
}

// AnewRows counts rows that came back as they went out and are judged anew, because they were rejected for what other rows say alone.
type AnewRows struct {
	Rows     int `json:"rows"`
	Accepted int `json:"accepted"`
}

// RejectsFile is a file of rejected rows for their owner to mend.
type RejectsFile struct {
	File   string `json:"file"`
	Source string `json:"source,omitempty"` // of a text file; a workbook has all sources
	Rows   int    `json:"rows"`
	SHA256 string `json:"sha256"`
}

// DryRunSource is the share of one source.
type DryRunSource struct {
	Source    string         `json:"source"`
	File      string         `json:"file"`
	Sheet     string         `json:"sheet"`
	Rows      Rows           `json:"rows"`
	Rejected  map[string]int `json:"rejected_by"` // first rule that each rejected row broke
	Skipped   map[string]int `json:"skipped_by"`
	Tolerance int            `json:"tolerance"`
	Corrected int            `json:"corrected,omitempty"` // delta: records that get a new version
	Vanished  int            `json:"vanished,omitempty"`  // delta: records that the register has from this source and that no row gives any more
	Reason    string         `json:"tolerance_reason,omitempty"`
	Owner     string         `json:"tolerance_owner,omitempty"`
}

// EntityCount counts records. The consent fields are zero for other entities.
type EntityCount struct {
	Records          int            `json:"records"`
	Receipts         int            `json:"receipts"`
	LegacyAssertions int            `json:"legacy_assertions"`
	ByConfidence     map[string]int `json:"by_confidence"`
	Missing          map[string]int `json:"missing"`
}

// CaseCount counts the open cases of a dry-run as of the newest obtained_at, or those of the register as of today.
type CaseCount struct {
	AsOf    string `json:"as_of,omitempty"` // that day; no part of the digest, since the manifest has it; results of earlier versions have none
	Open    int    `json:"open"`
	Overdue int    `json:"overdue"`
	DueSoon int    `json:"due_soon"` // within seven days
}

// StagedFile is one staged file.
type StagedFile struct {
	Entity string `json:"entity"`
	Source string `json:"source"`
	Part   string `json:"part,omitempty"` // of a delta: "against" (withdrawals, refusals, expiries; they go first), "correct" (new versions)
	Rows   int    `json:"rows"`
	SHA256 string `json:"sha256"`
	Path   string `json:"path,omitempty"` // no part of the digest
}

// UnrecordedFile is what rows say that give no record: it lies beside the findings.
type UnrecordedFile struct {
	Links    int    `json:"links"`    // identifiers that stand beside each other in such rows
	Against  int    `json:"against"`  // withdrawals, refusals, suppressions and erasures in rejected rows
	Replaced int    `json:"replaced"` // rows of earlier snapshots that came in, or stand anew
	SHA256   string `json:"sha256"`
}

// KnownRows are the rows with records that the register holds already: those of which this batch brought or vouched for all; those that
// vouch for what another batch brought, so that it stays if that one is undone; and those that don't, because by themselves they would be
// rejected, or prove less than is held.
type KnownRows struct {
	Own       int          `json:"own"`
	Vouched   int          `json:"vouched"`
	Unvouched int          `json:"unvouched"`
	Files     []StagedFile `json:"files,omitempty"` // of part "known": the marks that the import leaves
}

// ImportResult is what went into the register.
type ImportResult struct {
	Outcome
	Manifest string          `json:"manifest"`
	DryRun   string          `json:"dryrun"` // digest of the dry-run result that was imported
	Entities []ImportedCount `json:"entities"`
	Staged   []StagedFile    `json:"staged"`
	// Vouched counts the records of other batches that known rows vouch for. They are none of Entities.
	Vouched int64 `json:"vouched,omitempty"`
	// NotBrought is there if it was done before and the newest dry-run accepts more; no part of the digest.
	NotBrought *NotBrought `json:"not_brought,omitempty"`
}

// ImportedCount counts the records that an import put into one table.
type ImportedCount struct {
	Entity    string `json:"entity"`
	Table     string `json:"table"`
	Records   int64  `json:"records"`
	Corrected int64  `json:"corrected,omitempty"` // of them, new versions of records that were there
}

// ReconcileResult says whether frozen, staged and register agree.
type ReconcileResult struct {
	Outcome
	Manifest string             `json:"manifest"`
	DryRun   string             `json:"dryrun"`
	Sources  []ReconciledSource `json:"sources"`
	Entities []ReconciledEntity `json:"entities"`
	Sample   []SamplePair       `json:"sample"`
	// StillGiven is that of the dry-run.
	StillGiven int `json:"still_given,omitempty"`
	// StillGivenElsewhere counts the batch's consents in the register that are given though rejected rows of other batches speak against
	// them; no part of the digest.
	StillGivenElsewhere int `json:"still_given_elsewhere,omitempty"`
}

// ReconciledSource compares the source rows whose records were accepted: as frozen, as staged, as the register's provenance says.
type ReconciledSource struct {
	Source   string `json:"source"`
	Frozen   Tally  `json:"frozen"`
	Staged   Tally  `json:"staged"`
	Register Tally  `json:"register"`
	Agree    bool   `json:"agree"`
}

// ReconciledEntity compares the records of one source and entity as staged and as read back from the register.
type ReconciledEntity struct {
	Source   string `json:"source"`
	Entity   string `json:"entity"`
	Staged   Tally  `json:"staged"`
	Register Tally  `json:"register"`
	Agree    bool   `json:"agree"`
}

// Tally is a count and an order-free, duplicate-aware hash.
type Tally struct {
	Count int64  `json:"count"`
	Hash  string `json:"hash"`
}

// SamplePair is one cell and the record it became, for a person to look at; it holds no value.
type SamplePair struct {
	Source string `json:"source"`
	Entity string `json:"entity"`
	Place  string `json:"place"` // file, sheet and row
	Record string `json:"record"`
	Agree  bool   `json:"agree"`
}

// StatusResult says how far a batch is.
type StatusResult struct {
	Schema   string        `json:"schema"`
	Batch    string        `json:"batch"`
	Snapshot string        `json:"snapshot"` // the newest one, which the stages are of
	Stages   []StageStatus `json:"stages"`
	Next     string        `json:"next"` // the next command, or what is waited for
	Cases    CaseCount     `json:"cases"`
	// StillGiven is that of the newest dry-run.
	StillGiven int         `json:"still_given,omitempty"`
	NotBrought *NotBrought `json:"not_brought,omitempty"`
	NotBack    []NotBack   `json:"not_back,omitempty"` // as the dry-run of the snapshot found
	// Retracted are snapshots that an undo took out of the batch and nobody has frozen again.
	Retracted []RetractedSnapshot `json:"retracted_snapshots,omitempty"`
	Found     *Found              `json:"found,omitempty"` // by the last dry-run, or the stage that came farthest
}

// Found is what a stage found.
type Found struct {
	Stage        string      `json:"stage"`
	Findings     Counts      `json:"findings"`
	ByRule       []RuleCount `json:"by_rule"`
	FindingsFile string      `json:"findings_file,omitempty"`
}

// StageStatus is one stage.
type StageStatus struct {
	Stage    string `json:"stage"`
	State    string `json:"state"` // not started, running, succeeded, failed, interrupted, stale
	Why      string `json:"why,omitempty"`
	Operator string `json:"operator,omitempty"`
	Finished string `json:"finished,omitempty"`
	Digest   string `json:"digest,omitempty"`
	// LeaseSeconds is how long a running stage is kept for its process if that has died: it renews its lease while it lives.
	LeaseSeconds int64 `json:"lease_seconds,omitempty"`
}

// RunResult is what `run` did: the result of each stage it went through.
type RunResult struct {
	Schema  string `json:"schema"`
	Batch   string `json:"batch"`
	Stages  []any  `json:"stages"`
	Waiting string `json:"waiting,omitempty"`
	Fault   *Fault `json:"fault,omitempty"` // why it stopped, if nobody is waited for
}

// Fault is what went wrong, as a result.
type Fault struct {
	Schema  string `json:"schema"`
	Code    int    `json:"code"` // the exit code
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`

	RejectedBy []RejectedBy `json:"rejected_by,omitempty"` // trace of a cell or a key: by what its row was rejected
}

// FaultSchema is the form of a Fault.
const FaultSchema = "sheetlift/fault/v1"

// TraceResult leads from an external id, or from a cell, to records and their cells.
type TraceResult struct {
	Schema  string        `json:"schema"`
	Batch   string        `json:"batch"`
	Entity  string        `json:"entity,omitempty"`  // that was asked for
	Cell    string        `json:"cell,omitempty"`    // that was asked for
	Repeats int64         `json:"repeats,omitempty"` // the row of the same sheet that the cell's row repeats, and that gave the records
	Records []TraceRecord `json:"records"`
	// Unfinished is what may still change them: while there is any, no state is final.
	Unfinished []Unfinished `json:"unfinished,omitempty"`
}

// Unfinished is an import that is not finished and has put something into the register, or an undo that is not.
type Unfinished struct {
	Stage    string `json:"stage"`
	Batch    string `json:"batch"`
	Snapshot string `json:"snapshot"`
	Running  bool   `json:"running"`        // a process works on it
	Records  int64  `json:"records"`        // in the register; of an undo, taken out of it
	Of       int64  `json:"of,omitempty"`   // that an import brings
	Next     string `json:"next,omitempty"` // the command that goes on with it, on that batch
}

// TraceRecord is one record. Values of personal fields are masked.
type TraceRecord struct {
	Entity     string            `json:"entity,omitempty"` // if a cell was asked for
	ID         string            `json:"id"`
	RecordID   string            `json:"record_id"`
	System     string            `json:"system"`
	Class      string            `json:"class,omitempty"`
	Version    int64             `json:"version"`
	FromCell   []string          `json:"from_cell,omitempty"` // fields that the cell gave
	NotGiven   []NotGiven        `json:"not_given,omitempty"` // fields that its column is mapped to, and that the cell gave nothing of
	Untold     bool              `json:"untold,omitempty"`    // which fields the cell gave can't be told: the frozen file is not what it was, or two records of the mapping fit alike
	Values     map[string]string `json:"values"`
	Places     []TracePlace      `json:"places"`
	State      string            `json:"state,omitempty"` // consent: effective state of subject, purpose and channel
	StateCause string            `json:"state_cause,omitempty"`
	// Opposed are the rejected rows, of this batch and others, that speak against a given consent and change nothing of it.
	Opposed []OpposedBy `json:"opposed_by_rejected,omitempty"`
	// StateSoFar takes the place of State while something is unfinished that may change it.
	StateSoFar      string `json:"state_so_far,omitempty"`
	StateSoFarCause string `json:"state_so_far_cause,omitempty"`
}

// NotGiven is a field that a cell gave nothing of, although its column is mapped to it.
type NotGiven struct {
	Field   string `json:"field"`
	Because string `json:"because"`        // blank, when (the field's own condition leaves the cell out), or no_value (the cell's word stands for none, or another cell went first)
	From    string `json:"from,omitempty"` // the cells that the field's value came from instead
}

// OpposedBy is the place of a rejected row. If it is one of another batch, that is named, and the digest of its file.
type OpposedBy struct {
	Batch    string `json:"batch,omitempty"`
	Snapshot string `json:"snapshot"`
	SHA256   string `json:"sha256,omitempty"`
	Place
}

// TracePlace is one place a record came from.
type TracePlace struct {
	Batch    string            `json:"batch"`
	Snapshot string            `json:"snapshot"` // with an ending if the batch was undone: see Undone
	Source   string            `json:"source"`
	File     string            `json:"file,omitempty"`
	SHA256   string            `json:"sha256"`
	Sheet    string            `json:"sheet,omitempty"`
	Row      int64             `json:"row"`
	Line     int64             `json:"line,omitempty"`
	Cells    map[string]string `json:"cells,omitempty"` // field to A1 references
	Mapping  string            `json:"mapping"`
	Staged   string            `json:"staged"`
	Known    bool              `json:"known,omitempty"` // the row brought nothing: the register held the record already, and the row vouches for it
}

// VerifyResult is the fsck of a batch.
type VerifyResult struct {
	Schema string        `json:"schema"`
	Batch  string        `json:"batch"`
	Passed bool          `json:"passed"`
	Checks []VerifyCheck `json:"checks"`
}

// VerifyCheck is one thing that was recomputed.
type VerifyCheck struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail,omitempty"`
	// Stage is, of a file of the work folder that is gone, the stage that makes it anew.
	Stage string `json:"stage,omitempty"`
}
