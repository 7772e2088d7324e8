package pipeline

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"sheetlift/importers/register"
	"sheetlift/importers/source"
	"sheetlift/pipeline/store"
)

// A row that repeats another one of its sheet gives nothing of its own, and vouches for nothing once more: the register has the place of the
// other. The bytes of the row lead there.

// twin is a row that gave a record, and whose repeat a cell reference means.
type twin struct {
	ref cellRef
	register.Provenance
}

// twins finds the rows which those that references mean repeat, as the frozen files have them. snapshot narrows it to one.
func (p *Pipeline) twins(ctx context.Context, refs []cellRef, all []*FreezeResult, origin rowOrigins, snapshot string) (list []twin, err error) {
	for _, fr := range all {
		q, err := p.at(fr)
		if errors.As(err, new(*ConfigError)) { // batch.yaml has not all its sources any more
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			i := slices.IndexFunc(q.batch.Sources, func(s Source) bool { return s.Name == ref.source })
			part := fr.part(ref.source)
			if i < 0 || ref.snapshot != "" || part != nil && part.Base != "" || part == nil && fr.Kind != "" || snapshot != "" && origin.of(snapshot, ref.source) != fr.Snapshot {
				continue
			}
			sheet, digest, err := q.rowAt(ctx, fr, &q.batch.Sources[i], int(ref.row))
			if notAsRecorded(err) {
				return nil, err
			}
			if err != nil || digest == "" || ref.sheet != "" && ref.sheet != sheet { // what can't be read gave nothing, so there is nothing to show
				continue
			}
			err = p.db.View(ctx, func(tx *store.Tx) error {
				return register.EachOfDigest(ctx, tx, p.id.Tenant, p.batch.Name, ref.source, digest, func(pr register.Provenance) error {
					name, _, retracted := strings.Cut(pr.Snapshot, register.Retracted)
					if pr.Sheet != sheet || origin.of(name, pr.Source) != fr.Snapshot || retracted && !pr.Left() {
						return nil
					}
					at := ref
					at.row, at.cell = pr.Row, strings.TrimRight(ref.cell, "0123456789")+strconv.FormatInt(pr.Row, 10)
					list = append(list, twin{at, pr})
					return nil
				})
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// rowAt reads a row of a source's frozen sheet: the sheet's name, and the digest of the row, "" if there is no such row.
func (p *Pipeline) rowAt(ctx context.Context, fr *FreezeResult, s *Source, row int) (sheet, digest string, err error) {
	m, err := p.loadMapping(s)
	if err != nil {
		return "", "", err
	}
	sh, err := p.openSheet(ctx, fr, s, m, nil)
	if err != nil {
		return "", "", err
	}
	defer sh.close()
	err = sh.each(ctx, func(b *source.Block) error {
		for i, n := range b.RowNum {
			if n == row {
				sum := b.RowDigest(i)
				digest = hex.EncodeToString(sum[:])
				return errEnough
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return sh.env.Sheet, digest, err
}
