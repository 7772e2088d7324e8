package pipeline

import (
	"context"
	"sync"
)

// expected is how many rows the sources have, as far as the inventory knows. Stages after it tell how far they are of these.
type expected struct {
	mu   sync.Mutex
	rows map[string]int64 // by source
}

// expecting gives stages that don't know how much there is to do the rows that the inventory counted.
func (p *Pipeline) expecting(progress func(stage, source string, done, all int64)) func(stage, source string, done, all int64) {
	return func(stage, source string, done, all int64) {
		if all == 0 && stage != Inventory {
			p.expected.mu.Lock()
			all = p.expected.rows[source]
			p.expected.mu.Unlock()
			if done > all { // another export than the one that was counted
				all = 0
			}
		}
		progress(stage, source, done, all)
	}
}

// expect takes the rows of the newest inventory. Sources of later snapshots have other rows, of which nothing is known.
func (p *Pipeline) expect(ctx context.Context) {
	rows := map[string]int64{}
	if inv, _, err := last[InventoryResult](ctx, p.initial(), Inventory); err == nil && inv != nil && p.snap.kind == "" {
		for _, f := range inv.Files {
			for _, s := range f.Sheets {
				if s.Source != "" {
					rows[s.Source] += int64(s.Rows)
				}
			}
		}
	}
	p.expected.mu.Lock()
	p.expected.rows = rows
	p.expected.mu.Unlock()
}
