package pipeline

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
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
	sum  hash.Hash
	path string
}

func newRejectedWriter(dir string) (*rejectedWriter, error) {
	w := &rejectedWriter{path: filepath.Join(dir, rejectedFile), sum: sha256.New()}
	var err error
	if w.file, err = os.OpenFile(w.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600); err != nil {
		return nil, w.fault(err)
	}
	w.buf = bufio.NewWriterSize(io.MultiWriter(w.file, w.sum), 1<<16)
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

// close finishes the list and returns the SHA-256 of its bytes.
func (w *rejectedWriter) close() (string, error) {
	err := w.buf.Flush()
	if cerr := w.file.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return "", w.fault(err)
	}
	return hex.EncodeToString(w.sum.Sum(nil)), nil
}

// fault notes what a finding says against the row under way.
func (s *settler) fault(f finding.Finding) {
	if f.Severity != finding.Error {
		return
	}
	s.faults = append(s.faults, rejectedBy{Column: f.Column, Rule: f.Rule, Message: f.Message, Remedy: f.Remedy})
}

// readRejected calls f for each rejected row of a dry-run in dir. Only when it returns nil was the list the one that want, its SHA-256,
// names; want is empty in results of earlier versions, whose lists are taken as they are.
func readRejected(dir, want string, f func(*rejectedRow) error) error {
	path := filepath.Join(dir, rejectedFile)
	file, err := os.Open(path)
	if err != nil {
		return &FileError{Path: path, Message: "can't be read: " + pathless(err), Remedy: "run `sheetlift dryrun` again", Err: err}
	}
	defer file.Close()
	sum := sha256.New()
	in := io.TeeReader(file, sum)
	changed := changedRejected(path)
	for dec := json.NewDecoder(bufio.NewReaderSize(in, 1<<16)); dec.More(); {
		var r rejectedRow
		if err := dec.Decode(&r); err != nil {
			changed.Err = err
			return changed
		}
		if err := f(&r); err != nil {
			return err
		}
	}
	if want == "" {
		return nil
	}
	if _, err := io.Copy(io.Discard, in); err != nil { // what follows the last row
		return &FileError{Path: path, Message: "can't be read: " + pathless(err), Remedy: "see to the disk, then run the command again", Err: err}
	}
	if hex.EncodeToString(sum.Sum(nil)) != want {
		return changed
	}
	return nil
}

func changedRejected(path string) *IntegrityError {
	return &IntegrityError{What: "list of rejected rows " + path, Detail: "it is not as the dry-run wrote it", Remedy: changedList}
}

// changedList keeps the folder: the list comes out again only if the register was not changed by others since.
const changedList = "restore it from a backup; or move the folder it lies in to another place and run `sheetlift dryrun`, which makes it anew from the frozen files"

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
