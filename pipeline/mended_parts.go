package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sheetlift/importers/source"
	"sheetlift/importers/source/open"
	"sheetlift/manifests"
	"sheetlift/pipeline/ledger"
)

// mendedParts finds out of which sources and snapshots the rows of mended files are.
func (p *Pipeline) mendedParts(ctx context.Context, live []*FreezeResult, files []given) ([]FrozenPart, error) {
	key, err := tokenKey(ctx, p.db, p.id.Tenant, p.batch.Name)
	if err != nil {
		return nil, err
	}
	var parts []FrozenPart
	for i := range files {
		found, err := p.partsOf(ctx, live, key, &files[i])
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if slices.ContainsFunc(parts, func(x FrozenPart) bool { return x.Source == f.Source }) {
				return nil, &ConfigError{File: files[i].path, Message: fmt.Sprintf("rows of source %s come from more than one sheet or file", f.Source), Remedy: "freeze them one after the other, each as a snapshot of its own"}
			}
			parts = append(parts, f)
		}
	}
	slices.SortFunc(parts, func(a, b FrozenPart) int { return p.sourceIndex(a.Source) - p.sourceIndex(b.Source) })
	return parts, nil
}

func (p *Pipeline) partsOf(ctx context.Context, live []*FreezeResult, key []byte, g *given) ([]FrozenPart, error) {
	fd, err := manifests.OpenVerified(g.path, g.digest)
	if err != nil {
		return nil, &GateError{Stage: Freeze, Why: g.label + " changed while it was read", Remedy: "wait until nobody writes to it, then run the command again"}
	}
	defer fd.Close()
	book, err := open.ReaderAt(ctx, g.label, fd, g.size, source.Options{Limits: p.batch.Limits})
	if err != nil {
		return nil, err
	}
	defer book.Close()
	if book.Info().Format == "csv" {
		if s, err := readMendedSheet(ctx, book, 0); err != nil {
			return nil, err
		} else if s != nil {
			return nil, &ConfigError{File: g.path, Message: "it is a sheet of a rejects workbook saved as text, which no longer says what its cells were", Remedy: "save the workbook as .xlsx, with all its sheets, and give that"}
		}
		return p.textPart(live, g)
	}
	var parts []FrozenPart
	for i := range book.Sheets() {
		s, err := readMendedSheet(ctx, book, i)
		if err != nil {
			return nil, err
		}
		switch {
		case s == nil:
			if err := p.tokenless(ctx, book, i, g); err != nil {
				return nil, err
			}
			continue
		case len(s.rows) == 0 && len(s.bare) > 0:
			return nil, &ConfigError{File: g.path, Message: fmt.Sprintf("sheet %d has the column %q, and no row of it has a token", i+1, tokenHeader), Remedy: "put the tokens back from the workbook that `sheetlift dryrun --rejects` wrote, or remove the sheet"}
		case len(s.rows) == 0:
			continue
		}
		part, err := p.owner(ctx, live, key, s)
		if err != nil {
			return nil, err
		}
		if part == nil {
			return nil, &ConfigError{File: g.path, Message: fmt.Sprintf("sheet %d has tokens, and none is of a row of this batch", i+1), Remedy: "give the workbook that `sheetlift dryrun --rejects` wrote for this batch, in its newest state"}
		}
		part.File = g.label
		parts = append(parts, *part)
	}
	if len(parts) == 0 {
		return nil, &ConfigError{File: g.path, Message: "no sheet has a column " + fmt.Sprintf("%q", tokenHeader), Remedy: "give the workbook that `sheetlift dryrun --rejects` wrote; a fresh export goes in with --snapshot delta"}
	}
	return parts, nil
}

// tokenless looks at a sheet of a mended workbook that has no tokens. One that was handed out must have them; of any other it is said
// that nothing of it is taken.
func (p *Pipeline) tokenless(ctx context.Context, book source.Book, i int, g *given) error {
	name := book.Sheets()[i].Name
	if slices.ContainsFunc(p.batch.Sources, func(s Source) bool { return (&rejectsBook{names: map[string]bool{}}).sheetName(s.Name) == name }) {
		return &ConfigError{File: g.path, Message: fmt.Sprintf("sheet %d is called as a source is and has no column %q any more", i+1, tokenHeader), Remedy: "put the column back from the workbook that `sheetlift dryrun --rejects` wrote, or remove the sheet"}
	}
	if name == explainSheet {
		return nil
	}
	filled := errors.New("filled")
	err := (&sheet{book: book, index: i}).each(ctx, func(b *source.Block) error { return filled })
	if errors.Is(err, filled) {
		p.opt.Notify(ledger.Remark(fmt.Sprintf("sheet %d of %s has no column %q, so nothing of it is taken", i+1, p.batch.ShownFile(g.label), tokenHeader)))
		return nil
	}
	return err
}

// owner finds the newest snapshot, and the source of it, that tokens of a sheet are of.
func (p *Pipeline) owner(ctx context.Context, live []*FreezeResult, key []byte, s *mendedSheet) (*FrozenPart, error) {
	for k := len(live) - 1; k >= 0; k-- {
		q, err := p.at(live[k])
		if err != nil {
			return nil, err
		}
		maps, err := q.loadMappings()
		if err != nil {
			return nil, err
		}
		for i := range q.batch.Sources {
			src := &q.batch.Sources[i]
			sh, err := q.openSheet(ctx, live[k], src, maps[i], nil)
			if err != nil {
				return nil, err
			}
			found := errors.New("found")
			err = sh.each(ctx, func(b *source.Block) error {
				for n := range b.RowNum {
					if s.rows[rowToken(key, q.snap.name, src.Name, b.RowNum[n], b.RowDigest(n))] != nil {
						return found
					}
				}
				return nil
			})
			sh.close()
			if errors.Is(err, found) {
				return &FrozenPart{Source: src.Name, Sheet: s.name, Base: q.snap.name, ObtainedAt: time.UnixMicro(src.obtained).UTC().Format(time.RFC3339)}, nil
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// textPart is the part of a text file of mended records: of the source it was given for, or the one that its name ends in, or the
// only one that could be meant.
func (p *Pipeline) textPart(live []*FreezeResult, g *given) ([]FrozenPart, error) {
	name := g.source
	if name == "" && len(p.batch.Sources) == 1 {
		name = p.batch.Sources[0].Name
	}
	stem := strings.TrimSuffix(strings.ToLower(g.label), ".csv")
	for _, s := range p.batch.Sources {
		if g.source == "" && strings.HasSuffix(stem, "-"+s.Name) {
			name = s.Name
		}
	}
	if name == "" {
		var names []string
		for _, s := range p.batch.Sources {
			names = append(names, s.Name)
		}
		return nil, &ConfigError{File: g.path, Message: "it does not say which source its records are of",
			Remedy: fmt.Sprintf("say it: --source NAME=%s, with NAME one of %s; or let its name end in it, as mended-%s.csv does", g.path, strings.Join(names, ", "), names[len(names)-1])}
	}
	for k := len(live) - 1; k >= 0; k-- {
		q, err := p.at(live[k])
		if err != nil {
			return nil, err
		}
		for _, s := range q.batch.Sources {
			if s.Name == name {
				return []FrozenPart{{Source: name, File: g.label, Base: q.snap.name, ObtainedAt: time.UnixMicro(s.obtained).UTC().Format(time.RFC3339)}}, nil
			}
		}
	}
	return nil, &ConfigError{File: g.path, Message: fmt.Sprintf("no snapshot holds source %s", name), Remedy: "name a source that was frozen"}
}
