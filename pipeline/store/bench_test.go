package store_test

import (
	"fmt"
	"testing"

	"sheetlift/pipeline/store"
	"sheetlift/pipeline/store/storetest"
)

// registerSource gives rows of twelve columns like a consent register's.
type registerSource struct {
	at, n int
	words [64]string
}

func (s *registerSource) Next() bool { s.at++; return s.at <= s.n }
func (s *registerSource) Err() error { return nil }
func (s *registerSource) Values(dst []store.Value) {
	dst[0] = store.Value{Kind: store.Text, Text: fmt.Sprintf("id-%09d", s.at)}
	for i := 1; i < 10; i++ {
		dst[i] = store.Value{Kind: store.Text, Text: s.words[(s.at+i)%len(s.words)]}
	}
	dst[10] = store.Value{Kind: store.Int, Int: int64(s.at)}
	dst[11] = store.Value{}
}

func BenchmarkLoad(b *testing.B) {
	const rows = 200_000
	columns := []string{"id", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "n", "note"}
	run := func(b *testing.B, url, ddl string) {
		db, err := store.Open(b.Context(), url)
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		src := registerSource{n: rows}
		for i := range src.words {
			src.words[i] = fmt.Sprintf("value number %d", i)
		}
		for b.Loop() {
			err := db.Update(b.Context(), func(tx *store.Tx) error {
				if _, err := tx.Exec(b.Context(), `DROP TABLE IF EXISTS bench`); err != nil {
					return err
				}
				if _, err := tx.Exec(b.Context(), ddl); err != nil {
					return err
				}
				s := src
				_, err := tx.Load(b.Context(), "bench", columns, &s)
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/rows, "µs/row")
	}
	text := ` (id TEXT NOT NULL PRIMARY KEY, c1 TEXT, c2 TEXT, c3 TEXT, c4 TEXT, c5 TEXT, c6 TEXT, c7 TEXT, c8 TEXT, c9 TEXT, n BIGINT NOT NULL, note TEXT)`
	b.Run("sqlite", func(b *testing.B) { run(b, storetest.SQLite(b), `CREATE TABLE bench`+text) })
	b.Run("postgres", func(b *testing.B) { run(b, storetest.Postgres(b), `CREATE TABLE bench`+text) })
}
