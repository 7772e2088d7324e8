package pipeline

import (
	"fmt"
	"strings"

	"sheetlift/mappings"
)

// A rejected row is in the rejects file of its snapshot, and of no later one. If it does not come back, nothing but its snapshot knows of
// it: each later dry-run counts such rows, so that none is forgotten.

// NotBack counts rows of a source that an earlier snapshot rejected and that no later one has brought back, neither in nor rejected
// again. A row that came back in a text file with another key than it had is not known again, and is counted.
type NotBack struct {
	Snapshot string `json:"snapshot"`
	Source   string `json:"source"`
	File     string `json:"file"` // that its rows are numbered by
	Sheet    string `json:"sheet,omitempty"`
	Rows     int    `json:"rows"`
	First    []int  `json:"first_rows"` // at most notBackShown of them
}

// notBackShown is how many rows are named.
const notBackShown = 10

// awaited are the rejected rows of earlier snapshots that did not come back so far, oldest first.
type awaited struct {
	list  []awaitedRow
	names map[string][]int // by what a row is known by, which of the list have it
}

type awaitedRow struct {
	snapshot, source, file, sheet string
	row                           int
	gone                          bool // it came back
}

// again takes out the oldest row of an earlier snapshot that is known by one of the names.
func (a *awaited) again(snapshot string, names []string) {
	for _, name := range names {
		list := a.names[name]
		for len(list) > 0 && a.list[list[0]].gone {
			list = list[1:]
		}
		a.names[name] = list
		if len(list) > 0 && a.list[list[0]].snapshot != snapshot {
			a.list[list[0]].gone = true
			return
		}
	}
}

func (a *awaited) add(r awaitedRow, names []string) {
	for _, name := range names {
		a.names[name] = append(a.names[name], len(a.list))
	}
	a.list = append(a.list, r)
}

// counted gives them by snapshot and source.
func (a *awaited) counted() (list []NotBack) {
	for _, r := range a.list {
		if r.gone {
			continue
		}
		k := len(list) - 1
		if k < 0 || list[k].Snapshot != r.snapshot || list[k].Source != r.source {
			list = append(list, NotBack{Snapshot: r.snapshot, Source: r.source, File: r.file, Sheet: r.sheet})
			k++
		}
		if list[k].Rows++; len(list[k].First) < notBackShown {
			list[k].First = append(list[k].First, r.row)
		}
	}
	return list
}

// await notes a rejected row of an earlier snapshot; out counts by key how many it rejected. back says that what the row said is superseded.
func (l *leavings) await(fr *FreezeResult, sh *sheet, plan *mappings.Plan, row *mappings.Row, now *came, out map[string]int, back bool) {
	keys, digest := namedKeys(plan, row), row.Block.RowDigest(row.Index)
	at := l.rowPlace(fr.Snapshot, sh.src.Name, row.Num)
	names := []string{fmt.Sprintf("%s\x00%d", at.source, at.row), sh.src.Name + "\x00=" + string(digest[:])}
	if len(keys) > 0 {
		names = append(names, sh.src.Name+"\x00#"+strings.Join(keys, "\x00"))
	}
	l.awaited.again(fr.Snapshot, names)
	if back || l.cameAtAll(fr, sh, row.Num, keys, digest, now, out) {
		return
	}
	l.awaited.add(awaitedRow{snapshot: fr.Snapshot, source: sh.src.Name, file: sh.src.File, sheet: sh.env.Sheet, row: row.Num}, names)
}

// cameAtAll reports whether the snapshot has a row of an earlier one, whatever is decided of it: by its place in a workbook, else by its bytes or keys.
func (l *leavings) cameAtAll(fr *FreezeResult, sh *sheet, num int, keys []string, digest [32]byte, now *came, out map[string]int) bool {
	if now == nil {
		return false
	}
	if now.view != nil && now.view.rows != nil && l.from.of(fr.Snapshot, sh.src.Name) == l.from.of(l.snap.name, sh.src.Name) {
		_, ok := now.view.at[num]
		return ok
	}
	if now.out[digest] {
		return true
	}
	for _, key := range keys {
		if now.keys[key].rows+now.outKeys[key] < max(1, out[key]) {
			return false
		}
	}
	return len(keys) > 0
}
