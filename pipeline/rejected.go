package pipeline

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"sheetlift/pipeline/finding"
)

// rejectedFile lists the rejected rows of a dry-run, beside its findings, source by source and in the order of the rows. It holds
// places, rules and remedies, and no value.
const rejectedFile = "rejected.ndjson"

// rejectedRow is one rejected row and what is wrong with it.
type rejectedRow struct {
	Source string       `json:"source"`
	Row    int          `json:"row"`
	Rule   string       `json:"rule"` // the first that it broke
	Faults []rejectedBy `json:"faults,omitempty"`
}

// rejectedBy is one fault of a row; Column is empty if it is one of the row as a whole.
type rejectedBy struct {
	Column  string `json:"column,omitempty"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

// rejectedWriter writes the list of a dry-run.
type rejectedWriter struct {
	file *os.File
	buf  *bufio.Writer
	enc  *json.Encoder
	path string
}

func newRejectedWriter(dir string) (*rejectedWriter, error) {
	w := &rejectedWriter{path: filepath.Join(dir, rejectedFile)}
	var err error
	if w.file, err = os.OpenFile(w.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); err != nil {
		return nil, w.fault(err)
	}
	w.buf = bufio.NewWriterSize(w.file, 1<<16)
	w.enc = json.NewEncoder(w.buf)
	return w, nil
}

func (w *rejectedWriter) fault(err error) error {
	return &FileError{Path: w.path, Message: "can't be written: " + pathless(err), Remedy: "make room on the disk and run dryrun again", Err: err}
}

func (w *rejectedWriter) add(r *rejectedRow) error {
	if err := w.enc.Encode(r); err != nil {
		return w.fault(err)
	}
	return nil
}

func (w *rejectedWriter) close() error {
	err := w.buf.Flush()
	if cerr := w.file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return w.fault(err)
	}
	return nil
}

// fault notes what a finding says against the row under way.
func (s *settler) fault(f finding.Finding) {
	if f.Severity != finding.Error {
		return
	}
	s.faults = append(s.faults, rejectedBy{Column: f.Column, Rule: f.Rule, Message: f.Message, Remedy: f.Remedy})
}

// readRejected calls f for each rejected row of a dry-run.
func readRejected(dir string, f func(*rejectedRow) error) error {
	path := filepath.Join(dir, rejectedFile)
	file, err := os.Open(path)
	if err != nil {
		return &FileError{Path: path, Message: "can't be read: " + pathless(err), Remedy: "run `sheetlift dryrun` again", Err: err}
	}
	defer file.Close()
	for dec := json.NewDecoder(bufio.NewReaderSize(file, 1<<16)); dec.More(); {
		var r rejectedRow
		if err := dec.Decode(&r); err != nil {
			return &IntegrityError{What: path, Detail: "it is not as the dry-run wrote it", Remedy: "remove the folder it lies in and run `sheetlift dryrun` again", Err: err}
		}
		if err := f(&r); err != nil {
			return err
		}
	}
	return nil
}

// rowToken names a row of a snapshot to somebody who may not know what is in it: an HMAC under the batch's key, truncated to 128
// bits, over snapshot, source, row and row digest. Only what knows the key can make one, so a token that is found again proves
// that sheetlift handed this row out, as it stood.
func rowToken(key []byte, snapshot, source string, row int, digest [32]byte) string {
	h := hmac.New(sha256.New, key)
	var n [8]byte
	for _, s := range []string{"row", snapshot, source} {
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	binary.BigEndian.PutUint64(n[:], uint64(row))
	h.Write(n[:])
	h.Write(digest[:])
	return "r-" + hex.EncodeToString(h.Sum(nil)[:16]) // the letter keeps spreadsheet programs from reading a number
}
