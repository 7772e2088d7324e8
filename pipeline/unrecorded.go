package pipeline

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"sheetlift/importers"
	"sheetlift/importers/register"
	"sheetlift/mappings"
)

// A row that gives no record may say something that matters to others all the same: that identifiers are those of one subject, or that
// somebody is against a consent. The register keeps it, with pseudonyms in the place of identifiers, so that it and other batches know what
// the rows of this one are judged by. A skipped row links like one that gives a record. What a rejected row says is a precaution until the
// row is mended: it keeps consents out, and changes nothing of those that are in.

// unrecordedFile lists, beside the findings of a dry-run, what its rows say that give no record, as the import puts it into the register.
const unrecordedFile = "unrecorded.ndjson"

// unrecordedLine is one line of the list: what a row says, or a row of an earlier snapshot that came in or stands anew.
type unrecordedLine struct {
	Said     *register.Unrecorded `json:"said,omitempty"`
	Replaced *register.RowOf      `json:"replaced,omitempty"`
}

// unrecordedWriter writes the list of a dry-run, if there is anything to list. The rows of earlier snapshots come last.
type unrecordedWriter struct {
	dryRunner  *dryRunner
	pseudonyms *importers.Pseudonyms
	file       *os.File
	buf        *bufio.Writer
	enc        *json.Encoder
	sum        hash.Hash
	seen       map[uuid.UUID]bool
	replaced   []register.RowOf
	res        UnrecordedFile
}

func newUnrecordedWriter(d *dryRunner) *unrecordedWriter {
	return &unrecordedWriter{dryRunner: d, pseudonyms: d.id.Pseudonyms(), seen: map[uuid.UUID]bool{}}
}

func (w *unrecordedWriter) fault(err error) error {
	return &FileError{Path: filepath.Join(w.dryRunner.dir, unrecordedFile), Message: "can't be written: " + pathless(err), Remedy: "make room on the disk and run dryrun again", Err: err}
}

func (w *unrecordedWriter) add(line *unrecordedLine) error {
	if w.file == nil {
		var err error
		if w.file, err = os.OpenFile(filepath.Join(w.dryRunner.dir, unrecordedFile), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); err != nil {
			return w.fault(err)
		}
		w.sum = sha256.New()
		w.buf = bufio.NewWriterSize(io.MultiWriter(w.file, w.sum), 1<<16)
		w.enc = json.NewEncoder(w.buf)
	}
	if err := w.enc.Encode(line); err != nil {
		return w.fault(err)
	}
	return nil
}

// say lists one thing that a row says, the k-th of its kind, unless the register has it from this batch.
func (w *unrecordedWriter) say(u *register.Unrecorded, keys []importers.Key, k int) error {
	u.Snapshot, u.Subject = w.dryRunner.snap.name, importers.KeysText(w.pseudonyms.Of(keys))
	id := w.dryRunner.id.UnrecordedID(w.dryRunner.batch.Name, u, k)
	if w.seen[id] || w.dryRunner.facts.unrecorded[id] {
		return nil
	}
	w.seen[id] = true
	u.ID = id.String()
	if u.Kind == register.UnrecordedLink {
		w.res.Links++
	} else {
		w.res.Against++
	}
	return w.add(&unrecordedLine{Said: u})
}

// close finishes the list; it is nil if there is none.
func (w *unrecordedWriter) close() (*UnrecordedFile, error) {
	for i := range w.replaced {
		w.res.Replaced++
		if err := w.add(&unrecordedLine{Replaced: &w.replaced[i]}); err != nil {
			return nil, err
		}
	}
	if w.file == nil {
		return nil, nil
	}
	err := w.buf.Flush()
	if cerr := w.file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, w.fault(err)
	}
	w.res.SHA256 = hex.EncodeToString(w.sum.Sum(nil))
	return &w.res, nil
}

func (w *unrecordedWriter) abort() {
	if w.file != nil {
		w.file.Close() // again after close: for the ways out before it
	}
}

// silentOf gives the keys of the records that a row does not give.
func silentOf(row *mappings.Row, system string) (list [][]importers.Key) {
	for i := range row.Silent {
		list = append(list, importers.SubjectKeys(&row.Silent[i].Record, system))
	}
	return list
}

// linkedKeys gives the keys of the subjects of a row, of which it holds two or more: one list, unless its records name two subjects.
func linkedKeys(row *mappings.Row, system string) [][]importers.Key {
	if len(row.Records)+len(row.Silent) == 0 {
		return nil
	}
	records := silentOf(row, system)
	for i := range row.Records {
		records = append(records, importers.SubjectKeys(&row.Records[i].Record, system))
	}
	if keys, one := importers.RowKeys(records...); one {
		records = append(records[:0], keys)
	}
	return slices.DeleteFunc(records, func(keys []importers.Key) bool { return len(keys) < 2 })
}

// silent takes in the links of a skipped row.
func (s *surveyor) silent(p *passed, row *mappings.Row) {
	if row.Verdict != mappings.Skipped {
		return
	}
	for _, keys := range linkedKeys(row, s.sh.src.System) {
		p.linked = s.sh.linker.Append(p.linked, keys)
		p.ends = append(p.ends, len(p.linked))
	}
}

// unrecorded begins what a row says.
func (s *settler) unrecorded(row *mappings.Row, rejected bool, kind register.UnrecordedKind) *register.Unrecorded {
	return &register.Unrecorded{Source: s.sh.src.Name, System: s.sh.src.System, FileDigest: s.sh.env.FileDigest, Sheet: s.sh.env.Sheet, Row: int64(row.Num), Line: int64(row.Line),
		Rejected: rejected, Kind: kind}
}

// silent lists the links of a skipped row.
func (s *settler) silent(row *mappings.Row) error {
	for _, keys := range linkedKeys(row, s.sh.src.System) {
		if err := s.unsaid.say(s.unrecorded(row, false, register.UnrecordedLink), keys, 0); err != nil {
			return err
		}
	}
	return nil
}

// unrecordedOf lists what a row says that was just rejected: what speaks against consents, and who is one subject. A row that is wrong by
// itself ties nobody: its identifiers may be what is wrong.
func (s *settler) unrecordedOf(row *mappings.Row) error {
	if err := s.unsaid.sayAgainst(row, s.plan, s.sh.src, s.unrecorded(row, true, "")); err != nil || row.Verdict != mappings.Accepted {
		return err
	}
	for k, keys := range linkedKeys(row, s.sh.src.System) {
		if err := s.unsaid.say(s.unrecorded(row, true, register.UnrecordedLink), keys, k); err != nil {
			return err
		}
	}
	return nil
}

// sayAgainst lists what a row says against consents; at is where the row stands.
func (w *unrecordedWriter) sayAgainst(row *mappings.Row, plan *mappings.Plan, src *Source, at *register.Unrecorded) (err error) {
	said(row, func(k int, rec *mappings.RecordOut) {
		u, keys := *at, importers.SubjectKeys(&rec.Record, src.System)
		if id := w.dryRunner.meant(plan, src.System, row, rec); id != uuid.Nil {
			u.RecordID = id.String()
		}
		if err == nil && (len(keys) > 0 || u.RecordID != "") && tellAgainst(&u, &rec.Record, src.obtained) {
			err = w.say(&u, keys, k)
		}
	})
	return err
}

// tellAgainst puts what a record says against consents into u; false if it is nothing.
func tellAgainst(u *register.Unrecorded, rec *importers.Record, obtained int64) bool {
	u.ObtainedAt = obtained
	event := func(ev importers.Event) {
		u.Kind, u.Status, u.Purpose, u.Channel = register.UnrecordedEvent, ev.Status, ev.Scope.Purpose, ev.Scope.Channel
		u.Dated, u.Earliest, u.Latest = ev.Dated, ev.Earliest, ev.Latest
	}
	switch rec.Entity.Name {
	case "suppression":
		x := importers.SuppressionOf(rec, "", obtained)
		u.Kind, u.Status, u.Purpose, u.Channel = register.UnrecordedSuppression, x.Reason, x.Scope.Purpose, x.Scope.Channel
		u.Dated, u.Earliest, u.Latest = x.Dated, x.Earliest, x.Latest
	case "case":
		if e, ok := importers.ErasureOf(rec, "", obtained); ok {
			u.Kind, u.Dated, u.Earliest, u.Latest = register.UnrecordedErasure, e.Dated, e.Latest, e.Latest
			return true
		}
		ev, ok := importers.CaseEvent(rec, "", obtained)
		event(ev)
		return ok
	default:
		event(importers.EventOf(rec, "", importers.LegacyAssertion, obtained))
	}
	return true
}

// checkUnrecorded reports whether the list of a dry-run, if it has one, is as it was written.
func checkUnrecorded(dry *DryRunResult) error {
	if dry.Unrecorded == nil {
		return nil
	}
	file, err := openUnrecorded(dry)
	if err != nil {
		return err
	}
	return file.Close()
}

// openUnrecorded opens the list of a dry-run, once its bytes were found to be those that the result names.
func openUnrecorded(dry *DryRunResult) (*os.File, error) {
	path := filepath.Join(filepath.Dir(dry.FindingsFile), unrecordedFile)
	file, err := os.Open(path)
	if err != nil {
		return nil, &FileError{Path: path, Message: "can't be read: " + pathless(err), Remedy: "run `sheetlift dryrun` again; it makes lost files anew", Err: err}
	}
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	switch {
	case err != nil:
		err = &FileError{Path: path, Message: "can't be read: " + pathless(err), Remedy: "see to the disk, then run the command again", Err: err}
	case hex.EncodeToString(sum.Sum(nil)) != dry.Unrecorded.SHA256:
		err = changedUnrecorded(path, nil)
	default:
		return file, nil
	}
	file.Close()
	return nil, err
}

func changedUnrecorded(path string, err error) error {
	return &IntegrityError{What: "list of what rows say that give no record " + path, Detail: "its bytes are not those that were dry-run", Remedy: "remove the folder it lies in and run `sheetlift dryrun` again", Err: err}
}

// errEnough ends eachUnrecorded early.
var errEnough = errors.New("enough was read")

// joint lists the link of a row that comes in and ties more identifiers than any of its records has, because it gives several, or does not
// give one: each record by itself would leave the register without it.
func (s *settler) joint(row *mappings.Row, records []identified) error {
	most, alike := 0, len(row.Silent) == 0
	for i := range records {
		most = max(most, len(records[i].keys))
		alike = alike && slices.Equal(records[i].keys, records[0].keys)
	}
	if alike {
		return nil
	}
	list := linkedKeys(row, s.sh.src.System)
	if len(list) != 1 || len(list[0]) == most {
		return nil
	}
	return s.unsaid.say(s.unrecorded(row, false, register.UnrecordedLink), list[0], 0)
}

// eachUnrecorded calls f for each line of the list of a dry-run, if it has one, until f says that it is enough.
func eachUnrecorded(dry *DryRunResult, f func(*unrecordedLine) error) error {
	if dry.Unrecorded == nil {
		return nil
	}
	file, err := openUnrecorded(dry)
	if err != nil {
		return err
	}
	defer file.Close()
	dec := json.NewDecoder(bufio.NewReaderSize(file, 1<<16))
	for {
		var line unrecordedLine
		switch err := dec.Decode(&line); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return changedUnrecorded(file.Name(), err)
		}
		switch err := f(&line); {
		case errors.Is(err, errEnough):
			return nil
		case err != nil:
			return err
		}
	}
}
