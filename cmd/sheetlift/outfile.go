package main

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"sheetlift/pipeline"
)

// outFile is a file that a person asked for. It gets its name when it is whole; until then, and if it never is, what lay there stays.
type outFile struct {
	path string
	f    *os.File
	*bufio.Writer
}

// createOut begins a file beside its final place, so that a folder that is not there, or may not be written to, is known before any
// work is done.
func createOut(flag, path string, mode fs.FileMode) (*outFile, error) {
	if err := replaceable(flag, path); err != nil {
		return nil, err
	}
	o, err := beginOut(path, mode)
	if err != nil {
		return nil, unwritableOut(flag, path, err)
	}
	return o, nil
}

// unwritableOut is the fault of a place where a file can't begin: of a disk, like that of one which ends in the middle.
func unwritableOut(flag, path string, err error) error {
	return &pipeline.FileError{Path: path, Message: "can't be written (--" + flag + "): " + withoutPath(err).Error(), Remedy: "name a file in a folder that you may write to, with room for it", Err: err}
}

func beginOut(path string, mode fs.FileMode) (*outFile, error) {
	var random [6]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+hex.EncodeToString(random[:])+".partial"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return nil, err
	}
	return &outFile{path: path, f: f, Writer: bufio.NewWriterSize(f, 1<<16)}, nil
}

// commit writes the content and gives the file its name.
func (o *outFile) commit(write func(w io.Writer) error) error {
	if err := o.finish(write); err != nil {
		return o.fault(err)
	}
	return nil
}

// fault is a failure to write the file.
func (o *outFile) fault(err error) error {
	return &pipeline.FileError{Path: o.path, Message: "can't be written: " + withoutPath(err).Error(), Remedy: "make room on the disk, or name another place; the stages are done, run the command again to have the report", Err: err}
}

func (o *outFile) finish(write func(w io.Writer) error) error {
	err := write(o.Writer)
	if err == nil {
		err = o.Flush()
	}
	if err == nil {
		err = o.f.Sync()
	}
	if cerr := o.f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(o.f.Name(), o.path)
	}
	if err != nil {
		os.Remove(o.f.Name())
	}
	return err
}

// abandon leaves no trace of a file that was not finished.
func (o *outFile) abandon() {
	o.f.Close()
	os.Remove(o.f.Name())
}

// withoutPath is the reason of a file error; who words it names the path.
func withoutPath(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
