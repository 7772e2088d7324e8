package pipeline

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"sheetlift/pipeline/ledger"
)

// RetractedSnapshot is a snapshot after the initial one that is no longer part of the batch since it was undone. Its bag is kept.
type RetractedSnapshot struct {
	Snapshot string `json:"snapshot"`
	Next     string `json:"next"` // the command that takes its files in again, once the initial snapshot is imported
}

// retractedSnapshots lists those that were not frozen again since: of these only what stood, not what was replaced before its import.
func (p *Pipeline) retractedSnapshots(ctx context.Context, ops []*ledger.Record) ([]RetractedSnapshot, error) {
	all, undone, err := p.freezes(ctx)
	if err != nil {
		return nil, err
	}
	var list []RetractedSnapshot
	taken := map[int]bool{} // those that are an earlier one, frozen again
	for _, fr := range all {
		if fr.Number == 0 || fr.Number > undone.newest() {
			continue
		}
		imported := slices.ContainsFunc(ops, func(op *ledger.Record) bool { return op.Stage == Import && op.Snapshot == fr.Snapshot })
		if (imported || fr.Number == undone.newest()) && !againFrozen(fr, all, undone, taken) {
			list = append(list, RetractedSnapshot{Snapshot: fr.Snapshot, Next: fr.again()})
		}
	}
	return list, nil
}

// againFrozen reports whether a snapshot that was undone was frozen again after that. The same files in two snapshots are frozen again twice.
func againFrozen(fr *FreezeResult, all []*FreezeResult, undone retractions, taken map[int]bool) bool {
	for _, later := range all {
		same := later.Kind == fr.Kind && slices.EqualFunc(later.Files, fr.Files, func(a, b FrozenFile) bool { return a.File == b.File && a.SHA256 == b.SHA256 })
		between := slices.ContainsFunc(undone, func(number int) bool { return fr.Number <= number && number < later.Number })
		if same && between && !taken[later.Number] {
			taken[later.Number] = true
			return true
		}
	}
	return false
}

// again is the command that freezes the files in the snapshot's bag once more.
func (f *FreezeResult) again() string {
	words := []string{"sheetlift", Freeze, "--snapshot", f.Kind}
	at := ""
	for _, file := range f.Files {
		payload := file.Payload
		if PersonalPath(payload) {
			payload = "FILE" // it lies there, and its name is not shown
		}
		path := filepath.Join(f.Bag, "data", filepath.FromSlash(payload))
		for _, part := range f.Parts {
			if part.File != file.File {
				continue
			}
			if at = max(at, part.ObtainedAt); f.Kind == Delta || part.Sheet == "" {
				path = part.Source + "=" + path
				words = append(words, "--source")
			}
			break
		}
		words = append(words, quoted(path))
	}
	if f.Kind == Delta {
		words = append(words, "--obtained-at", at)
	}
	return strings.Join(words, " ")
}

// quoted makes a path safe to paste into a shell.
func quoted(path string) string {
	if strings.ContainsAny(path, " \t'\"\\$&;|<>()*?[]{}~`!#") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
