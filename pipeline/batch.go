package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/source"
	"sheetlift/manifests"
	"sheetlift/mappings/strictyaml"
)

// Batch is batch.yaml: what is migrated, for whom, from where.
type Batch struct {
	Version  int           `yaml:"version" json:"version"`
	Name     string        `yaml:"batch" json:"batch"`
	Tenant   Tenant        `yaml:"tenant" json:"tenant"`
	Vault    string        `yaml:"vault,omitempty" json:"vault,omitempty"`
	Database string        `yaml:"database,omitempty" json:"database,omitempty"`
	Limits   source.Limits `yaml:"limits,omitempty" json:"limits,omitzero"` // see docs/limits.md
	Sources  []Source      `yaml:"sources" json:"sources"`

	dir         string // folder of batch.yaml
	path        string
	digest      string
	unconfirmed []strictyaml.Fault
	held        map[string]string // see holdFiles
}

// Tenant is the organisation whose registers are migrated. Namespace is a random UUID, made once per tenant by init: every id
// depends on it, so it must never change.
type Tenant struct {
	Name      string `yaml:"name" json:"name"`
	Namespace string `yaml:"namespace" json:"namespace"`
	Confirm   bool   `yaml:"confirm,omitempty" json:"confirm,omitempty"` // drafted by init, and not yet confirmed
}

// Source is one sheet of one file. Paths are relative to batch.yaml.
type Source struct {
	Name              string    `yaml:"name" json:"name"`
	File              string    `yaml:"file" json:"file"`
	Sheet             string    `yaml:"sheet,omitempty" json:"sheet,omitempty"`
	System            string    `yaml:"system" json:"system"`
	Owner             string    `yaml:"owner,omitempty" json:"owner,omitempty"`
	Definition        string    `yaml:"definition,omitempty" json:"definition,omitempty"`
	Mapping           string    `yaml:"mapping" json:"mapping"`
	ObtainedAt        string    `yaml:"obtained_at" json:"obtained_at"`
	Zone              string    `yaml:"zone,omitempty" json:"zone,omitempty"`
	Charset           string    `yaml:"charset,omitempty" json:"charset,omitempty"`
	Delimiter         string    `yaml:"delimiter,omitempty" json:"delimiter,omitempty"`
	Tolerance         Tolerance `yaml:"tolerance,omitempty" json:"tolerance,omitzero"`
	RetentionApproved *Approval `yaml:"retention_approved,omitempty" json:"retention_approved,omitempty"`
	Confirm           bool      `yaml:"confirm,omitempty" json:"confirm,omitempty"` // drafted by init, and not yet confirmed

	obtained int64 // microseconds
}

// Tolerance is how many rejected rows of a source a dry-run may have and still pass. More than none needs a reason and an owner.
type Tolerance struct {
	Rows   int    `yaml:"rows" json:"rows"`
	Reason string `yaml:"reason,omitempty" json:"reason,omitempty"`
	Owner  string `yaml:"owner,omitempty" json:"owner,omitempty"`
}

// Approval lets records past their retention rule in.
type Approval struct {
	Reason string `yaml:"reason" json:"reason"`
	Owner  string `yaml:"owner" json:"owner"`
}

// ConfigError is a fault of batch.yaml or of a mapping as a whole. Remedy says what to do.
type ConfigError struct {
	File    string
	Message string
	Remedy  string
}

// Error gives place and fault.
func (e *ConfigError) Error() string { return e.File + ": " + e.Message }

var sourceName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// BatchFile is what the configuration of a batch is called in a folder that stands for it.
const BatchFile = "batch.yaml"

// LoadBatch reads and checks batch.yaml at path, or in the folder that path is.
func LoadBatch(path string) (*Batch, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		folder := path
		path = filepath.Join(folder, BatchFile)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, &ConfigError{File: folder, Message: "is a folder without a " + BatchFile,
				Remedy: "give the folder that holds one, or the file itself if it is called otherwise; or draft one with `sheetlift init FILE…`"}
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &ConfigError{File: path, Message: "can't be read: " + pathless(err), Remedy: "give the path of a batch.yaml, or draft one with `sheetlift init FILE…`"}
	}
	b := &Batch{path: path}
	doc, err := strictyaml.Parse(path, data)
	if err != nil {
		return nil, err
	}
	doc.NullIsAbsent = true // what is missing is told below, with what to write
	doc.Decode(b)
	if doc.Err() == nil {
		b.check(doc)
	}
	if err := doc.Err(); err != nil {
		return nil, err
	}
	if b.dir, err = filepath.Abs(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if b.digest, err = manifests.Digest(b); err != nil {
		return nil, err
	}
	return b, nil
}

// check records what the configuration says that can't be.
func (b *Batch) check(doc *strictyaml.Document) {
	fault := func(path, remedy, format string, args ...any) {
		doc.Fault(path, fmt.Sprintf(format, args...), remedy)
	}
	need := func(path, value, remedy string) bool {
		if strings.TrimSpace(value) == "" {
			fault(path, remedy, "missing")
			return false
		}
		return true
	}
	if b.Version != 1 {
		fault("version", "write version: 1", "version %d is not known", b.Version)
	}
	if need("batch", b.Name, "give the batch a name, such as crm-2026-10") && !safeName.MatchString(b.Name) {
		fault("batch", "use letters, digits, dots, dashes and underscores", "batch name %q can't be a folder name", b.Name)
	}
	need("tenant.name", b.Tenant.Name, "name the organisation whose registers these are")
	if ns, err := uuid.Parse(b.Tenant.Namespace); err != nil || ns == uuid.Nil {
		fault("tenant.namespace", "put a random UUID there once and never change it (`sheetlift init` makes one)", "tenant.namespace is not a UUID")
	}
	if b.Tenant.Confirm {
		b.unconfirmed = append(b.unconfirmed, doc.Place("tenant.confirm", "the tenant's name is drafted, and nobody has confirmed it", "check whose registers these are; then remove confirm: true"))
	}
	if len(b.Sources) == 0 {
		fault("sources", "list at least one source", "there are no sources")
	}
	seen := map[string]bool{}
	for i := range b.Sources {
		s := &b.Sources[i]
		at := fmt.Sprintf("sources[%d].", i)
		if need(at+"name", s.Name, "give the source a name") && !sourceName.MatchString(s.Name) {
			fault(at+"name", "use lower-case letters, digits and dashes", "%q is not a source name", s.Name)
		}
		if seen[s.Name] {
			fault(at+"name", "give each source a name of its own", "source %s is declared twice", s.Name)
		}
		seen[s.Name] = true
		if s.Confirm {
			b.unconfirmed = append(b.unconfirmed, doc.Place(at+"confirm", "system, obtained_at and zone of source "+s.Name+" are drafted, and nobody has confirmed them",
				"check each by its evidence, and write who owns the export; then remove confirm: true"))
		}
		need(at+"system", s.System, "name the source system; ids depend on it, so never change it later")
		if need(at+"obtained_at", s.ObtainedAt, "write when the export was made, like 2026-10-01T09:00:00+02:00") {
			t, err := time.Parse(time.RFC3339, s.ObtainedAt)
			if err != nil {
				fault(at+"obtained_at", "write it like 2026-10-01T09:00:00+02:00", "obtained_at %q is not a time with a zone", s.ObtainedAt)
			}
			if t.After(time.Now().Add(24 * time.Hour)) {
				fault(at+"obtained_at", "write when the export was made, not when it will be used", "obtained_at %s lies in the future", s.ObtainedAt)
			}
			s.obtained = t.UnixMicro()
		}
		if s.Zone != "" && importers.Location(s.Zone) == nil {
			fault(at+"zone", "use an IANA name such as Europe/Berlin", "zone %q is unknown", s.Zone)
		}
		if s.Tolerance.Rows < 0 {
			fault(at+"tolerance.rows", "write 0 or more", "tolerance.rows is negative")
		}
		if s.Tolerance.Rows > 0 {
			need(at+"tolerance.reason", s.Tolerance.Reason, "say why so many rejected rows are acceptable")
			need(at+"tolerance.owner", s.Tolerance.Owner, "say who decided it")
		}
		if a := s.RetentionApproved; a != nil {
			need(at+"retention_approved.reason", a.Reason, "say why records past their retention rule come in")
			need(at+"retention_approved.owner", a.Owner, "say who approved it")
		}
		if need(at+"file", s.File, "name the export") && !filepath.IsLocal(filepath.FromSlash(s.File)) {
			fault(at+"file", "keep exports in the folder of batch.yaml or below it", "%q lies outside the folder of batch.yaml", s.File)
		}
		if need(at+"mapping", s.Mapping, "name the mapping file") && !filepath.IsLocal(filepath.FromSlash(s.Mapping)) {
			fault(at+"mapping", "keep mappings in the folder of batch.yaml or below it", "%q lies outside the folder of batch.yaml", s.Mapping)
		}
	}
}

// Unconfirmed lists, with line and column, what init drafted and nobody has confirmed; nil if there is nothing. What is frozen
// is frozen under these words, so freeze refuses them.
func (b *Batch) Unconfirmed() error {
	if len(b.unconfirmed) == 0 {
		return nil
	}
	return &strictyaml.Errors{File: b.path, Faults: b.unconfirmed}
}

var safeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// Dir is the folder of batch.yaml.
func (b *Batch) Dir() string { return b.dir }

// Digest is SHA-256 over the canonical form of the configuration; comments and layout don't matter.
func (b *Batch) Digest() string { return b.digest }

// Files are the paths of the batch's files as written, each once, in order of first mention.
func (b *Batch) Files() []string {
	var files []string
	for _, s := range b.Sources {
		if !slices.Contains(files, s.File) {
			files = append(files, s.File)
		}
	}
	return files
}

// abs makes a path of batch.yaml absolute.
func (b *Batch) abs(p string) string {
	if held := b.held[p]; held != "" {
		return filepath.Join(b.dir, filepath.FromSlash(held))
	}
	return filepath.Join(b.dir, filepath.FromSlash(namedFile(b.dir, p)))
}

// newestObtained is the latest obtained_at: the bag's date.
func (b *Batch) newestObtained() time.Time {
	var newest time.Time
	for _, s := range b.Sources {
		if at := time.UnixMicro(s.obtained).UTC(); at.After(newest) {
			newest = at
		}
	}
	return newest
}

// pathless gives the reason of a file error without the path, which the caller has named.
func pathless(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
