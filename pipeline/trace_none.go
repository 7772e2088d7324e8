package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sheetlift/importers/source"
	"sheetlift/mappings"
	"sheetlift/pipeline/finding"
	"sheetlift/pipeline/ledger"
)

// A cell that leads to no record is told why: its file, sheet or row is none of the batch's, its row holds no data, or the row was rejected or
// skipped, by which rule and at which cell. It is looked up in what the dry-run recorded, and nothing of it is a value.

// RejectedBy is one fault of the row that a cell reference means, or that has a key. It holds no personal value.
type RejectedBy struct {
	Rule    string `json:"rule"`
	Source  string `json:"source"`
	Row     int    `json:"row"`
	Cell    string `json:"cell,omitempty"` // empty if it is one of the row as a whole
	Message string `json:"message"`
	Remedy  string `json:"remedy"`
}

// what a row of a frozen sheet is, the more telling the higher.
const (
	placeBeyond = iota // there are not so many rows
	placeBlank
	placeHeader // or above it
	placeData
)

// rowLook is what a frozen sheet has in the place of a cell reference.
type rowLook struct {
	fr     *FreezeResult
	src    *Source
	sheet  string // "" in a text file
	shown  string // its name, or its position if the name is not shown
	row    int64
	kind   int
	header int // its row, 0 if there is none
	last   int // row that holds anything
}

// sheetsSeen are the sheets of a file that a cell reference names, as far as that matters: all of them, and those that sources read.
type sheetsSeen struct {
	all, read []string // as they are shown
	named     bool     // the reference names one of all
	text      bool     // it is a text file, which has none
}

// noRecord says why a cell leads to no record.
func (p *Pipeline) noRecord(ctx context.Context, refs []cellRef, all []*FreezeResult, origin rowOrigins, snapshot string, open []Unfinished) error {
	none := &ErrNoSuchRecord{Row: refs[0].row}
	if len(all) == 0 {
		none.Why, none.Remedy = "nothing of the batch is frozen yet", "run `sheetlift run`"
		return none
	}
	ops, err := p.operations(ctx)
	if err != nil {
		return err
	}
	imported := len(open) > 0 || slices.ContainsFunc(ops, func(op *ledger.Record) bool { return op.Stage == Import })
	looks, seen, err := p.lookAt(ctx, refs, all, origin, snapshot)
	if err != nil {
		return err
	}
	if len(looks) == 0 {
		if err := p.noSheet(refs[0], all, seen, snapshot); err != nil {
			return err
		}
		none.Remedy = "look for the row among the findings of the dry-run: it may be rejected or skipped, or be the header"
		if !imported {
			none.Remedy = "the batch is not imported yet; the findings of the dry-run say which rows are rejected or skipped"
		}
		return none.asOf(open)
	}
	at := slices.MaxFunc(looks, func(a, b rowLook) int { return cmp.Compare(a.kind, b.kind) }) // of several, the newest
	looks = slices.DeleteFunc(looks, func(l rowLook) bool { return l.kind != at.kind || l.fr != at.fr })
	if of := slices.IndexFunc(looks, func(l rowLook) bool { return l.sheet != at.sheet }); of >= 0 && at.kind == placeData {
		return &ConfigError{File: p.batch.path, Message: "several sheets of that file have that row, and none gave a record from it",
			Remedy: fmt.Sprintf("name the sheet: FILE!SHEET!%s; %s and %s have it", refs[0].cell, at.shown, looks[of].shown)}
	}
	switch at.kind {
	case placeBeyond:
		none.Why, none.Remedy = "it has no such row", fmt.Sprintf("the last row of it that holds anything is row %d", at.last)
		if at.last == 0 {
			none.Remedy = "no row of it holds anything"
		}
		if at.fr.Number > 0 {
			none.Remedy += ", in snapshot " + at.fr.Snapshot
		}
		return none
	case placeBlank:
		none.Why, none.Remedy = "the row is blank", fmt.Sprintf("name a cell of another row; the last that holds anything is row %d", at.last)
		return none
	case placeHeader:
		none.Why, none.Remedy = "it is the header", fmt.Sprintf("name a cell below it, as far as row %d", at.last)
		if at.row < int64(at.header) {
			none.Why = fmt.Sprintf("it stands above the header in row %d", at.header)
		}
		return none
	}
	return p.judgedRow(ctx, none, looks, all, origin, open, imported)
}

// judgedRow says what the dry-run made of a row that gave no record.
func (p *Pipeline) judgedRow(ctx context.Context, none *ErrNoSuchRecord, looks []rowLook, all []*FreezeResult, origin rowOrigins, open []Unfinished, imported bool) error {
	judged, waiting := false, ""
	for _, fr := range slices.Backward(all) {
		for _, at := range looks {
			if fr != at.fr && (fr.part(at.src.Name) == nil || origin.of(fr.Snapshot, at.src.Name) != at.fr.Snapshot || origin.text[[2]string{fr.Snapshot, at.src.Name}]) {
				continue
			}
			q, err := p.at(fr)
			if errors.As(err, new(*ConfigError)) {
				continue
			}
			if err != nil {
				return err
			}
			decided, err := q.decidedBy(ctx)
			if err != nil {
				return err
			}
			if imp, _, err := q.currentImport(ctx); err != nil {
				return err
			} else if imp == nil && waiting == "" {
				waiting = fr.Snapshot
			}
			if len(decided) == 0 {
				continue
			}
			judged = true
			if err := rejectedAt(ctx, decided[0].dry, fr, at, none); err != nil {
				return err
			}
		}
		if none.Why != "" {
			break
		}
	}
	switch {
	case none.Why != "": // whatever is not in yet
		return none
	case !judged && imported:
	case !judged:
		none.Why, none.Remedy = "the batch is not imported yet, and no dry-run has judged the row", "run `sheetlift run`"
	case !imported:
		none.Why, none.Remedy = "the dry-run accepts it, and the batch is not imported yet", "run `sheetlift run`"
	case waiting != "":
		none.Why, none.Remedy = "the dry-run accepts it, and snapshot "+waiting+" is not imported", "run `sheetlift run`"
	}
	if none.Remedy == "" {
		none.Why, none.Remedy = "the dry-run neither rejected nor skipped it", "another row may have given the same records, or they were taken out of the register since: trace them by their key"
	}
	return none.asOf(open)
}

// rejectedAt puts into none why a dry-run of a snapshot rejected or skipped a row, if it did.
func rejectedAt(ctx context.Context, dry *DryRunResult, fr *FreezeResult, at rowLook, none *ErrNoSuchRecord) error {
	by := "the dry-run"
	if fr.Number > 0 {
		by += " of snapshot " + fr.Snapshot
	}
	var rejected *rejectedRow
	if err := readRejected(filepath.Dir(dry.FindingsFile), dry.Listed, func(r *rejectedRow) error {
		if r.Source == at.src.Name && int64(r.Row) == at.row {
			rejected = r
		}
		return nil
	}); err != nil {
		return err
	}
	if rejected != nil {
		none.reject(by, rejected)
		return nil
	}
	if none.Why != "" { // another source that reads the sheet has said more
		return nil
	}
	var skipped *finding.Finding
	mark := []byte(`"row":` + strconv.FormatInt(at.row, 10))
	if err := eachFinding(ctx, dry, mark, func(f *finding.Finding) error {
		rule, _ := finding.ByID(f.Rule)
		if f.Source == at.src.Name && int64(f.Row) == at.row && f.Snapshot == "" && rule.Scope == finding.Row && skips(dry, f) && skipped == nil {
			skipped = f
		}
		return nil
	}); err != nil {
		return err
	}
	if skipped != nil {
		none.Why, none.Remedy = by+" skipped it, by "+skipped.Rule, skipped.Rule+": "+skipped.Message+" "+skipped.Remedy
	}
	return nil
}

// skips reports whether rows of a finding's source were skipped by its rule.
func skips(dry *DryRunResult, f *finding.Finding) bool {
	return slices.ContainsFunc(dry.Sources, func(s DryRunSource) bool { return s.Source == f.Source && s.Skipped[f.Rule] > 0 })
}

// reject puts in why a row was rejected.
func (e *ErrNoSuchRecord) reject(by string, r *rejectedRow) {
	faults := r.Faults
	if len(faults) == 0 { // a list of an earlier version
		rule, _ := finding.ByID(r.Rule)
		faults = []rejectedBy{{Rule: r.Rule, Message: rule.Meaning, Remedy: rule.Remedy}}
	}
	for _, f := range faults {
		x := RejectedBy{Rule: f.Rule, Source: r.Source, Row: r.Row, Message: f.Message, Remedy: f.Remedy}
		if f.Column != "" {
			x.Cell = f.Column + strconv.Itoa(r.Row)
		}
		if !slices.Contains(e.Rejected, x) {
			e.Rejected = append(e.Rejected, x)
		}
	}
	var names, ways []string
	for _, x := range e.Rejected {
		name := x.Rule
		if x.Cell != "" {
			name += " at " + x.Cell
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		ways = append(ways, name+": "+x.Message+" "+x.Remedy)
	}
	e.Why, e.Remedy = by+" rejected it, by "+strings.Join(names, ", "), strings.Join(ways, "\n")
}

// lookAt looks into the frozen sheets for the row that references mean, newest snapshot first. A sheet that can't be read any more is left out.
func (p *Pipeline) lookAt(ctx context.Context, refs []cellRef, all []*FreezeResult, origin rowOrigins, snapshot string) (looks []rowLook, seen sheetsSeen, err error) {
	for _, fr := range slices.Backward(all) {
		for _, ref := range refs {
			part := fr.part(ref.source)
			mended := part != nil && part.Base != ""
			switch {
			case part == nil && fr.Number > 0, ref.snapshot == "" && mended, ref.snapshot != "" && ref.snapshot != fr.Snapshot:
				continue
			case snapshot != "" && origin.of(snapshot, ref.source) != fr.Snapshot:
				continue
			}
			q, err := p.at(fr)
			if errors.As(err, new(*ConfigError)) { // batch.yaml has not all its sources any more
				continue
			}
			if err != nil {
				return nil, seen, err
			}
			i := slices.IndexFunc(q.batch.Sources, func(s Source) bool { return s.Name == ref.source })
			if i < 0 {
				continue
			}
			l := rowLook{fr: fr, src: &q.batch.Sources[i], row: ref.row}
			ok, err := q.lookInto(ctx, &l, ref, &seen)
			if notAsRecorded(err) || ctx.Err() != nil {
				return nil, seen, cmp.Or(ctx.Err(), err)
			}
			if err == nil && ok {
				looks = append(looks, l)
			}
		}
	}
	return looks, seen, nil
}

// lookInto looks at one sheet; false if the reference means another one.
func (p *Pipeline) lookInto(ctx context.Context, l *rowLook, ref cellRef, seen *sheetsSeen) (bool, error) {
	m, err := p.loadMapping(l.src)
	if err != nil {
		return false, err
	}
	sh, err := p.openSheet(ctx, l.fr, l.src, m, nil)
	if err != nil {
		return false, err
	}
	defer sh.close()
	l.sheet = sh.env.Sheet
	if seen.text = sh.text(); !seen.text {
		for i, info := range sh.book.Sheets() {
			name := shownSheet(info.Name, i+1)
			if info.Name == l.sheet {
				l.shown = name
				if !slices.Contains(seen.read, name) {
					seen.read = append(seen.read, name)
				}
			}
			if !slices.Contains(seen.all, name) {
				seen.all = append(seen.all, name)
			}
			seen.named = seen.named || info.Name == ref.sheet
		}
	}
	if ref.sheet != "" && ref.sheet != l.sheet {
		return false, nil
	}
	_, header, err := sh.header(ctx, m)
	if err != nil {
		return false, err
	}
	l.header = header
	err = sh.each(ctx, func(b *source.Block) error {
		for i, n := range b.RowNum {
			if mappings.BlankRow(b, i) {
				continue
			}
			l.last = max(l.last, n)
			if int64(n) == l.row {
				l.kind = placeData
			}
		}
		return nil
	})
	switch {
	case l.row <= int64(header) && header > 0 && l.row <= int64(l.last):
		l.kind = placeHeader
	case l.kind != placeData && l.row < int64(l.last):
		l.kind = placeBlank
	}
	return true, err
}

// shownSheet is a sheet as faults name it: in quotes, or by its position if its name looks like a value about a person.
func shownSheet(name string, position int) string {
	if personalName(name) {
		return sheetNumber(position)
	}
	return strconv.Quote(name)
}

// firstOf lists names, not all if they are many.
func firstOf(names []string) string {
	const most = 12
	if len(names) > most+1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// noSheet is the fault of a reference that names a sheet, or a snapshot, that has nothing of its file; nil if it is not that.
func (p *Pipeline) noSheet(ref cellRef, all []*FreezeResult, seen sheetsSeen, snapshot string) error {
	fault := func(message, remedy string) error {
		return &ConfigError{File: p.batch.path, Message: message, Remedy: remedy}
	}
	switch {
	case ref.sheet != "" && seen.text:
		return fault("that file is a text file, which has no sheets", "write FILE!"+ref.cell)
	case ref.sheet != "" && seen.named:
		return fault("no source of the batch reads that sheet", "of that file they read "+firstOf(seen.read))
	case ref.sheet != "" && len(seen.all) > 0:
		return fault("that file has no sheet of that name", "its sheets are "+firstOf(seen.all))
	case snapshot != "" && len(seen.all) == 0 && !seen.text:
		var with []string
		for _, fr := range all {
			if fr.Number == 0 || fr.part(ref.source) != nil {
				with = append(with, fr.Snapshot)
			}
		}
		if !slices.Contains(with, snapshot) {
			return fault("snapshot "+snapshot+" does not hold that file", "those that do: "+strings.Join(with, ", "))
		}
	}
	return nil
}

// byPosition gives a sheet its name that a reference means by its position, as it is shown where the name is not.
func (p *Pipeline) byPosition(ctx context.Context, refs []cellRef, all []*FreezeResult) {
	for k := range refs {
		ref := &refs[k]
		if !fileNumber.MatchString(ref.sheet) {
			continue
		}
		for _, fr := range slices.Backward(all) {
			i := slices.IndexFunc(p.batch.Sources, func(s Source) bool { return s.Name == ref.source })
			if part := fr.part(ref.source); i < 0 || part == nil && fr.Number > 0 || part != nil && part.Base != "" {
				continue
			}
			s := &p.batch.Sources[i]
			m, err := p.loadMapping(s)
			if err != nil {
				continue
			}
			q, err := p.at(fr)
			if err != nil {
				continue
			}
			sh, err := q.openSheet(ctx, fr, s, m, nil)
			if err != nil {
				continue
			}
			list := sh.book.Sheets()
			named := slices.ContainsFunc(list, func(info source.SheetInfo) bool { return info.Name == ref.sheet })
			if n, err := strconv.Atoi(ref.sheet[1:]); err == nil && !named && n >= 1 && n <= len(list) && !sh.text() {
				ref.sheet = list[n-1].Name
			}
			sh.close()
			break
		}
	}
}

// eachFinding calls f for each finding of a dry-run whose line holds a mark. Only when it returns nil was the list the one that was recorded.
func eachFinding(ctx context.Context, dry *DryRunResult, mark []byte, f func(*finding.Finding) error) error {
	sum, err := eachLine(ctx, dry.FindingsFile, func(line []byte) error {
		if !bytes.Contains(line, mark) {
			return nil
		}
		x := new(finding.Finding)
		if err := json.Unmarshal(line, x); err != nil {
			return changedFindings(dry.FindingsFile, "a line is no finding")
		}
		return f(x)
	})
	if errors.Is(err, os.ErrNotExist) {
		return &FileError{Path: dry.FindingsFile, Message: "is gone", Remedy: "run `sheetlift dryrun` again; it makes the same list anew", Err: err}
	}
	if err == nil && dry.FindingsSum != "" && sum != dry.FindingsSum {
		err = changedFindings(dry.FindingsFile, "its bytes are not those that dryrun wrote")
	}
	return err
}
