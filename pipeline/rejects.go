package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sheetlift/importers/source"
	"sheetlift/manifests"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
	"sheetlift/pipeline/store"
)

// CheckRejectsPath refuses a name that WriteRejects could not write to, before the work begins.
func CheckRejectsPath(path string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".xlsx", ".csv":
	default:
		return &ConfigError{File: path, Message: "is neither an .xlsx nor a .csv name", Remedy: "give --rejects FILE.xlsx for a workbook to mend, or --rejects FILE.csv for the original records"}
	}
	return unoccupied(path)
}

func unoccupied(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return &ConfigError{File: path, Message: "there is a file of this name already", Remedy: "give another name, or move the file; rejects are never written over, somebody may be mending them"}
	}
	return nil
}

// CheckRejects refuses, before the work begins, rejects that this batch can have none of: original records (FILE.csv) where no source is
// a text file. Of what is not frozen yet nothing is known, and nothing is refused.
func (p *Pipeline) CheckRejects(ctx context.Context, path string) error {
	if !strings.EqualFold(filepath.Ext(path), ".csv") {
		return nil
	}
	q, err := p.newest(ctx)
	if err != nil {
		return err
	}
	fr, _, err := last[FreezeResult](ctx, q, Freeze)
	if err != nil || fr == nil {
		return err
	}
	maps, err := q.loadMappings()
	if err != nil {
		return err
	}
	for i := range q.batch.Sources {
		sh, err := q.openSheet(ctx, fr, &q.batch.Sources[i], maps[i], nil)
		text := err != nil // the stage says what is wrong with it
		if err == nil {
			text = sh.records()
			sh.close()
		}
		if text {
			return nil
		}
	}
	return noRecords(path, fmt.Sprintf("no source of snapshot %s is a text file, so no rejected row has an original record", q.snap.name))
}

func noRecords(path, why string) error {
	return &ConfigError{File: path, Message: why, Remedy: "write a workbook to be mended instead: --rejects " + strings.TrimSuffix(path, filepath.Ext(path)) + ".xlsx"}
}

// WriteRejects writes the rejected rows of a dry-run for their owners: a workbook (FILE.xlsx) with a sheet a source, or for each
// text source the original bytes of its rejected records (FILE.csv, FILE-SOURCE.csv when several). The files hold personal data:
// they are 0600 and recorded as copies. A file is there whole or not at all.
func (p *Pipeline) WriteRejects(ctx context.Context, dry *DryRunResult, path string) error {
	if err := CheckRejectsPath(path); err != nil {
		return err
	}
	w, path, err := p.rejectsWriter(ctx, dry, path, "rejects")
	if err != nil || w == nil {
		return err
	}
	if strings.EqualFold(filepath.Ext(path), ".xlsx") {
		err = w.workbook(ctx, dry, path)
	} else {
		err = w.records(ctx, dry, path)
	}
	dry.Rejects = w.files
	return unwritten(path, err)
}

// rejectsWriter gives the writer of what a dry-run rejected, and the whole path of the file. If no row is rejected it says so, and there is no
// writer; what is what would have been written.
func (p *Pipeline) rejectsWriter(ctx context.Context, dry *DryRunResult, path, what string) (*rejectsWriter, string, error) {
	if dry.Rows.Rejected == 0 {
		p.opt.Notify(ledger.Remark("no row is rejected, so no " + what + " are written"))
		return nil, "", nil
	}
	q, err := p.newest(ctx)
	if err != nil {
		return nil, "", err
	}
	fr, err := q.frozen(ctx, DryRun)
	if err != nil {
		return nil, "", err
	}
	if fr.Manifest != dry.Manifest {
		return nil, "", &GateError{Stage: "rejects", Why: "the dry-run was of another frozen manifest", Remedy: "run `sheetlift dryrun` again"}
	}
	w := &rejectsWriter{Pipeline: q, fr: fr, dir: filepath.Dir(dry.FindingsFile), listed: dry.Listed}
	if w.key, err = tokenKey(ctx, p.db, p.id.Tenant, p.batch.Name); err != nil {
		return nil, "", err
	}
	if w.maps, err = q.loadMappings(); err != nil {
		return nil, "", err
	}
	path, err = filepath.Abs(path)
	return w, path, err
}

// unwritten tells a disk that is full, or gone, from other faults.
func unwritten(path string, err error) error {
	var file *FileError
	var at *fs.PathError
	var call *os.SyscallError
	if errors.As(err, &file) || !errors.As(err, &at) && !errors.As(err, &call) {
		return err
	}
	return &FileError{Path: path, Message: "can't be written: " + pathless(err), Remedy: "make room on the disk (and in TMPDIR), or give another folder", Err: err}
}

// rejectsWriter writes rejects of one dry-run.
type rejectsWriter struct {
	*Pipeline
	fr     *FreezeResult
	maps   []*mappings.Mapping
	key    []byte
	dir    string // of the dry-run
	listed string // SHA-256 of its list of rejected rows
	files  []RejectsFile
}

// rows calls f for each rejected row of a source, with its block. head gets the blocks until the header was seen.
func (w *rejectsWriter) rows(ctx context.Context, i int, head func(*sheet, *source.Block, []string, int) error, f func(*sheet, *source.Block, int, *rejectedRow) error) error {
	s := &w.batch.Sources[i]
	wanted := map[int]*rejectedRow{}
	err := readRejected(w.dir, w.listed, func(r *rejectedRow) error {
		if r.Source == s.Name {
			wanted[r.Row] = r
		}
		return nil
	})
	if err != nil || len(wanted) == 0 {
		return err
	}
	sh, err := w.openSheet(ctx, w.fr, s, w.maps[i], nil)
	if err != nil {
		return err
	}
	defer sh.close()
	header, row, err := sh.header(ctx, w.maps[i])
	if err != nil {
		return err
	}
	if err := head(sh, nil, header, row); err != nil {
		return err
	}
	left := len(wanted)
	err = sh.each(ctx, func(b *source.Block) error {
		for k, n := range b.RowNum {
			r := wanted[n]
			if r == nil || n <= row {
				continue
			}
			left--
			if err := f(sh, b, k, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && left != 0 {
		err = &IntegrityError{What: "list of rejected rows", Detail: fmt.Sprintf("%s of source %s not in the frozen file", finding.Count(left, "row", "rows"), s.Name+finding.Word(left, " is", " are")), Remedy: "remove " + w.dir + " and run `sheetlift dryrun` again"}
	}
	return err
}

// header reads the header of a sheet and the number of its row; without one, that of the last row of the titles, or 0.
func (s *sheet) header(ctx context.Context, m *mappings.Mapping) (names []string, row int, err error) {
	found := errors.New("found")
	err = s.whole(ctx, func(b *source.Block) error {
		n, i := m.HeaderIn(b)
		if row = n; i >= 0 && !m.Header.None {
			names = mappings.HeaderNames(b, i)
		}
		if i >= 0 || m.Header.None {
			return found
		}
		return nil
	})
	if errors.Is(err, found) {
		err = nil
	}
	return names, row, err
}

// keep places a file of rejected rows.
func (w *rejectsWriter) keep(ctx context.Context, partial, path string, f RejectsFile) (err error) {
	if f.SHA256, err = w.place(ctx, partial, path, "rejects"); err != nil {
		return err
	}
	f.File = path
	w.files = append(w.files, f)
	return nil
}

// place gives a file written under another name its own, makes it durable and records it as a copy of the kind. It returns its SHA-256.
func (w *rejectsWriter) place(ctx context.Context, partial, path, kind string) (sum string, err error) {
	defer func() {
		if err != nil {
			os.Remove(partial)
		}
	}()
	fault := func(err error) error {
		return &FileError{Path: path, Message: "can't be written: " + pathless(err), Remedy: "make room on the disk, or give another folder", Err: err}
	}
	if sum, _, err = manifests.FileDigest(partial); err != nil {
		return "", fault(err)
	}
	// Recorded before it has its name: a copy that is not there is harmless, one that nobody knows of is not.
	err = w.db.Update(ctx, func(tx *store.Tx) error {
		return recordCopy(ctx, tx, w.id.Tenant, w.batch.Name, Copy{Kind: kind, Digest: sum, Place: path})
	})
	if err != nil {
		return "", err
	}
	switch err := os.Link(partial, path); { // unlike a rename, it never replaces a file
	case err == nil:
		if err := os.Remove(partial); err != nil {
			return "", fault(err)
		}
	case errors.Is(err, os.ErrExist):
		return "", unoccupied(path)
	default: // a file system without links
		if err := unoccupied(path); err != nil {
			return "", err
		}
		if err := os.Rename(partial, path); err != nil {
			return "", fault(err)
		}
	}
	return sum, nil
}

// partialOf opens a file beside path, to be given its name when it is whole.
func partialOf(path string) (*os.File, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".partial-*") // mode 0600
	if err != nil {
		return nil, &FileError{Path: path, Message: "can't be written: " + pathless(err), Remedy: "give a folder that you may write to", Err: err}
	}
	return f, nil
}

// ended makes what was written to a partial file durable and closes it, unless writing had a fault. After a fault the file is removed.
func ended(f *os.File, err error) error {
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
