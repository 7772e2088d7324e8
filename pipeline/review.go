package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sheetlift/mappings"
)

// How much of a list a review shows. What lies beyond is counted.
const (
	reviewColumns = 2000
	reviewHazards = 500
	reviewCases   = 200
	reviewPlaces  = 3 // of one rule
)

// Review draws together what a reviewer of the batch has to see. It changes nothing. Of what no stage has worked out yet it says
// nothing; staged and findings files that are not those of the recorded results are an error.
func (p *Pipeline) Review(ctx context.Context) (*ReviewResult, error) {
	rv, err := p.reviewer(ctx)
	if err != nil {
		return nil, err
	}
	r := rv.r
	if err := rv.stages(ctx); err != nil {
		return nil, err
	}
	rv.files()
	rv.sources(ctx)
	rv.columns()
	if err := rv.findings(ctx); err != nil {
		return nil, err
	}
	if rv.dry != nil {
		if err := rv.judged(ctx); err != nil {
			return nil, err
		}
		now, changed, err := p.judgedLast(ctx)
		if err != nil {
			return nil, err
		}
		r.Judged.RegisterChanged = changed
		mine, _, err := last[DryRunResult](ctx, rv.Pipeline, DryRun)
		if err != nil {
			return nil, err
		}
		if mine != nil {
			for _, n := range mine.NotBack {
				n.File, n.Sheet = rv.names.file(n.File), rv.names.sheet(n.File, n.Sheet)
				r.Judged.NotBack = append(r.Judged.NotBack, n)
			}
		}
		if now != nil { // a later one than is shown may have looked again
			r.Judged.StillGiven = now.StillGiven
		}
		if rv.imp != nil {
			if r.Judged.StillGivenElsewhere, r.Judged.StillGivenBatches, err = p.opposedElsewhere(ctx); err != nil {
				return nil, err
			}
		}
	}
	rv.digests()
	return r, nil
}

// Gaps gives the table of the fields of ISO/IEC TS 27560 by itself. It needs a dry-run.
func (p *Pipeline) Gaps(ctx context.Context) (*GapsResult, error) {
	rv, err := p.reviewer(ctx)
	if err != nil {
		return nil, err
	}
	if rv.dry == nil {
		return nil, &GateError{Stage: "report gaps", Why: "there is no dry-run yet, so nothing is known of what the rows bring", Remedy: "run `sheetlift run --until dryrun` first"}
	}
	if err := rv.judged(ctx); err != nil {
		return nil, err
	}
	return &GapsResult{Schema: GapsSchema, Batch: rv.r.Batch, Snapshot: rv.r.Snapshot, GapTable: rv.r.Judged.Gaps}, nil
}

// reviewer gathers a review.
type reviewer struct {
	*Pipeline
	r     *ReviewResult
	inv   *InventoryResult
	fr    *FreezeResult
	maps  *MapResult
	dry   *DryRunResult
	imp   *ImportResult
	rec   *ReconcileResult
	names shownNames

	before []*FreezeResult        // the batch's snapshots, oldest first, up to this one
	parsed []*mappings.Mapping    // by source; nil where the file can't be read
	taken  map[[3]string][]string // file, sheet and column to the fields that come from it
	listed map[string]string      // by stage, the digest of its findings file
}

func (p *Pipeline) reviewer(ctx context.Context) (*reviewer, error) {
	p, err := p.newest(ctx)
	if err != nil {
		return nil, err
	}
	rv := &reviewer{Pipeline: p, taken: map[[3]string][]string{}, listed: map[string]string{}}
	rv.r = &ReviewResult{Schema: ReviewSchema, Batch: p.batch.Name, Snapshot: p.snap.name, Tenant: p.batch.Tenant.Name,
		AsOf: p.batch.newestObtained().Format(time.DateOnly)}
	if rv.before, err = p.history(ctx); err != nil {
		return nil, err
	}
	if rv.inv, _, err = last[InventoryResult](ctx, p.initial(), Inventory); err != nil { // the stages after freeze have snapshots
		return nil, err
	}
	if rv.fr, _, err = last[FreezeResult](ctx, p, Freeze); err != nil {
		return nil, err
	}
	if rv.maps, _, err = last[MapResult](ctx, p, Map); err != nil {
		return nil, err
	}
	if rv.imp, _, err = p.currentImport(ctx); err != nil {
		return nil, err
	}
	if rv.imp != nil { // what was undone agrees with nothing any more
		if rv.rec, _, err = last[ReconcileResult](ctx, p, Reconcile); err != nil {
			return nil, err
		}
	}
	if rv.dry, err = rv.judgedRun(ctx); err != nil {
		return nil, err
	}
	rv.names = newShownNames(rv.inv)
	for i := range p.batch.Sources {
		m, err := p.loadMapping(&p.batch.Sources[i])
		if err != nil {
			m = nil // status says that a mapping changed; what was recorded is shown all the same
		}
		rv.parsed = append(rv.parsed, m)
	}
	return rv, nil
}

// judgedRun is the dry-run to show: the newest, unless it only says that the register knows the rows by now, because they were
// imported; then the one that was imported.
func (rv *reviewer) judgedRun(ctx context.Context) (*DryRunResult, error) {
	newest, _, err := last[DryRunResult](ctx, rv.Pipeline, DryRun)
	if err != nil || newest == nil || rv.imp == nil || newest.Digest == rv.imp.DryRun {
		return newest, err
	}
	imported, _, err := rv.importedDryRun(ctx, rv.imp)
	if err != nil {
		return nil, err
	}
	if imported != nil && imported.Map == newest.Map && imported.Config == newest.Config && imported.Manifest == newest.Manifest {
		return imported, nil
	}
	return newest, nil
}

func (rv *reviewer) stages(ctx context.Context) error {
	st, err := rv.Status(ctx)
	if err != nil {
		return err
	}
	rv.r.Stages = st.Stages
	return nil
}

// files says what came in.
func (rv *reviewer) files() {
	rv.r.Files = []ReviewFile{}
	if rv.inv == nil {
		return
	}
	for i := range rv.inv.Files {
		f := &rv.inv.Files[i]
		out := ReviewFile{File: rv.names.file(f.File), SHA256: f.SHA256, Size: f.Size, Type: f.Type, Conversion: f.Conversion}
		if rv.fr != nil {
			if k := slices.IndexFunc(rv.fr.Files, func(z FrozenFile) bool { return z.File == f.File }); k >= 0 {
				out.ObtainedAt = rv.fr.Files[k].ObtainedAt
				out.SHA256, out.Size = rv.fr.Files[k].SHA256, rv.fr.Files[k].Size // of a delta, other bytes than the inventory saw
			}
		}
		for k := range f.Sheets {
			s := &f.Sheets[k]
			out.Sheets = append(out.Sheets, ReviewSheet{
				Sheet: rv.names.sheet(f.File, s.Sheet), Source: s.Source, Visibility: s.Visibility, Rows: s.Rows, Cells: s.Cells, Columns: len(s.Columns),
				Hidden: s.HiddenRows, Merged: s.Merged, Formulas: s.Formulas, Errors: s.Errors, Duplicates: s.Duplicates,
			})
		}
		rv.r.Files = append(rv.r.Files, out)
	}
	if rv.fr == nil {
		return
	}
	for i, z := range rv.fr.Files {
		if !slices.ContainsFunc(rv.inv.Files, func(f InventoryFile) bool { return f.File == z.File }) {
			rv.r.Files = append(rv.r.Files, ReviewFile{File: shownName(z.File, "further file", i+1), SHA256: z.SHA256, Size: z.Size, Type: "of this snapshot", ObtainedAt: z.ObtainedAt})
		}
	}
}

// sources says who answers for each source, what became of its rows, and what its mapping decides.
func (rv *reviewer) sources(ctx context.Context) {
	rv.r.Decisions = []Decision{}
	for i := range rv.batch.Sources {
		s := &rv.batch.Sources[i]
		out := ReviewSource{
			Source: s.Name, File: rv.names.file(s.File), System: s.System, Owner: s.Owner, Definition: s.Definition, ObtainedAt: s.ObtainedAt, Zone: s.Zone,
			Tolerance: s.Tolerance.Rows, Reason: s.Tolerance.Reason, By: s.Tolerance.Owner, Retention: s.RetentionApproved, Entities: []string{},
		}
		if want := sheetOf(s, rv.parsed[i]); want != "" {
			out.Sheet = rv.names.sheet(s.File, want)
		}
		if m := rv.parsed[i]; m != nil {
			for _, rec := range m.Records {
				if !slices.Contains(out.Entities, rec.Entity) {
					out.Entities = append(out.Entities, rec.Entity)
				}
			}
			rv.decisions(ctx, s, m)
		}
		if rv.dry != nil {
			for _, d := range rv.dry.Sources {
				if d.Source == s.Name {
					out.Rows, out.Rejected, out.Skipped = d.Rows, d.Rejected, d.Skipped
					out.Corrected, out.Vanished = d.Corrected, d.Vanished
					out.Tolerance, out.Reason, out.By = d.Tolerance, d.Reason, d.Owner // as they were when the rows were judged
				}
			}
		}
		rv.r.Sources = append(rv.r.Sources, out)
	}
}

// columns gives the profiles of the sheets that sources read, then of the others.
func (rv *reviewer) columns() {
	rv.r.Columns = []ReviewColumn{}
	if rv.inv == nil {
		return
	}
	for _, read := range []bool{true, false} {
		for i := range rv.inv.Files {
			f := &rv.inv.Files[i]
			for k := range f.Sheets {
				if s := &f.Sheets[k]; (s.Source != "") == read {
					rv.sheetColumns(f, s)
				}
			}
		}
	}
}

func (rv *reviewer) sheetColumns(f *InventoryFile, s *InventorySheet) {
	for i := range s.Columns {
		c := &s.Columns[i]
		if len(rv.r.Columns) == reviewColumns {
			rv.r.ColumnsLeft++
			continue
		}
		out := ReviewColumn{
			File: rv.names.file(f.File), Sheet: rv.names.sheet(f.File, s.Sheet), Column: c.Column, Name: c.Name, Kinds: c.Kinds, Blank: c.Blank,
			Count: c.Distinct, AtLeast: c.DistinctAtLeast, Key: slices.Contains(s.Keys, c.Column), Fields: rv.taken[[3]string{f.File, s.Sheet, c.Column}],
		}
		for _, n := range c.Kinds {
			out.Filled += n
		}
		doubt := func(n int, what string) {
			if n > 0 {
				out.Doubts = append(out.Doubts, fmt.Sprintf("%d %s", n, what))
			}
		}
		doubt(c.ENotation, "in E-notation")
		doubt(c.LongNumbers, "of more than 15 digits")
		doubt(c.ZeroPadded, "with zeros only in the format")
		rv.r.Columns = append(rv.r.Columns, out)
	}
}

// digests lists what a reviewer can compare with what was got elsewhere.
func (rv *reviewer) digests() {
	add := func(what, of, sum string) {
		if sum != "" {
			rv.r.Digests = append(rv.r.Digests, ReviewDigest{what, of, sum})
		}
	}
	add("configuration", "batch.yaml", rv.batch.digest)
	for _, f := range rv.r.Files {
		add("file", f.File, f.SHA256)
	}
	for _, fr := range rv.before {
		add("manifest", "snapshot "+fr.Snapshot, fr.Manifest)
	}
	if rv.maps != nil {
		for _, s := range rv.maps.Sources {
			add("mapping", s.Source, s.Mapping)
			add("profile", s.Source, s.Profile)
		}
	}
	if rv.dry != nil {
		for _, f := range rv.dry.Staged {
			add("staged", strings.TrimSuffix(f.Source+", "+f.Entity+", "+f.Part, ", "), f.SHA256)
		}
	}
	outcomes := rv.outcomes()
	for _, x := range outcomes {
		add("result", x.stage, x.Digest)
	}
	for _, x := range outcomes {
		add("findings", x.stage, rv.listed[x.stage])
	}
}

type stageOutcome struct {
	stage string
	*Outcome
}

// outcomes are those of the stages that succeeded, in order.
func (rv *reviewer) outcomes() (list []stageOutcome) {
	if rv.inv != nil {
		list = append(list, stageOutcome{Inventory, &rv.inv.Outcome})
	}
	if rv.fr != nil {
		list = append(list, stageOutcome{Freeze, &rv.fr.Outcome})
	}
	if rv.maps != nil {
		list = append(list, stageOutcome{Map, &rv.maps.Outcome})
	}
	if rv.dry != nil {
		list = append(list, stageOutcome{DryRun, &rv.dry.Outcome})
	}
	if rv.imp != nil {
		list = append(list, stageOutcome{Import, &rv.imp.Outcome})
	}
	if rv.rec != nil {
		list = append(list, stageOutcome{Reconcile, &rv.rec.Outcome})
	}
	return list
}

// shownNames gives files and sheets as they may be shown: by position where a name looks like a value about a person.
type shownNames struct {
	files  map[string]string
	sheets map[[2]string]string
}

func newShownNames(inv *InventoryResult) shownNames {
	n := shownNames{map[string]string{}, map[[2]string]string{}}
	if inv == nil {
		return n
	}
	for i := range inv.Files {
		f := &inv.Files[i]
		n.files[f.File] = shownName(f.File, "file", i+1)
		for k := range f.Sheets {
			n.sheets[[2]string{f.File, f.Sheets[k].Sheet}] = shownName(f.Sheets[k].Sheet, "sheet", k+1)
		}
	}
	return n
}

// shownName judges a path by its parts as well: folders have names.
func shownName(name, kind string, position int) string {
	if personalName(name) || kind != "sheet" && PersonalPath(name) {
		return fmt.Sprintf("%s %d", kind, position)
	}
	return name
}

func (n shownNames) file(name string) string {
	if s, ok := n.files[name]; ok {
		return s
	}
	return shownName(name, "file", 0)
}

func (n shownNames) sheet(file, name string) string {
	if s, ok := n.sheets[[2]string{file, name}]; ok {
		return s
	}
	return shownName(name, "sheet", 0)
}

// place words a place in a file.
func (n shownNames) place(file, sheet string, row, last int, column, cell string) string {
	var parts []string
	if file != "" {
		parts = append(parts, n.file(file))
	}
	if sheet != "" {
		parts = append(parts, "sheet "+strings.TrimPrefix(n.sheet(file, sheet), "sheet "))
	}
	rows := ""
	switch {
	case row > 0 && last > row:
		rows = fmt.Sprintf("rows %d to %d", row, last)
	case row > 0:
		rows = fmt.Sprintf("row %d", row)
	}
	switch {
	case cell != "":
		parts = append(parts, cell)
	case column != "" && rows != "":
		parts = append(parts, "column "+column+" "+rows)
	case column != "":
		parts = append(parts, "column "+column)
	case rows != "":
		parts = append(parts, rows)
	}
	return strings.Join(parts, ", ")
}
