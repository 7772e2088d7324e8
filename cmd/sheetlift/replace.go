package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"sheetlift/pipeline"
)

// ours says how to know a file of each kind that an earlier run wrote. Nothing else is replaced: a mistyped flag must not cost an
// export, a mapping or a register.
var ours = map[string]func(head []byte, f *os.File, size int64) bool{
	"junit": func(head []byte, _ *os.File, _ int64) bool { return bytes.Contains(head, []byte("<testsuites name=")) },
	"sarif": func(head []byte, _ *os.File, _ int64) bool {
		return bytes.Contains(head, []byte(`"name": "sheetlift"`))
	},
	"ndjson": func(head []byte, _ *os.File, _ int64) bool { return bytes.HasPrefix(head, []byte(`{"rule":"`)) },
	"html": func(head []byte, _ *os.File, _ int64) bool {
		return bytes.HasPrefix(head, []byte("<!DOCTYPE html>")) && bytes.Contains(head, []byte("<title>Review of "))
	},
	"xlsx": func(_ []byte, f *os.File, size int64) bool { return pipeline.OwnWorkbook(f, size, "Review of ") }, // no workbook of rejects, which somebody may have mended
}

// replaceable refuses to write over a file that is there and is no earlier one of the kind. An empty file holds nothing to lose.
func replaceable(kind, path string) error {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return unwritableOut(kind, path, err)
	case !st.Mode().IsRegular():
		return usageError{fmt.Errorf("--%s %s: is no file that can be replaced", kind, path)}
	case st.Size() == 0:
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return usageError{fmt.Errorf("--%s %s: can't be replaced: %w", kind, path, withoutPath(err))}
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return usageError{fmt.Errorf("--%s %s: can't be replaced: %w", kind, path, withoutPath(err))}
	}
	if !ours[kind](head[:n], f, st.Size()) {
		return usageError{fmt.Errorf("--%s %s: a file is there that no earlier run wrote; it stays as it is: name another one, or remove it", kind, path)}
	}
	return nil
}
