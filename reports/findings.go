package reports

import (
	"encoding/json"
	"io"
	"os"

	"sheetlift/pipeline/finding"
)

// Finding writes one finding as a line of NDJSON.
func Finding(w io.Writer, f finding.Finding) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(f)
}

// OpenFindings opens a findings file for writing, from its beginning, readable by its owner only: findings hold no personal
// values, but say much about an organisation's records.
func OpenFindings(path string) (io.WriteCloser, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
}
