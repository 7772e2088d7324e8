package staged

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"

	"sheetlift/importers"
)

// BenchmarkAppend reports the time for one consent: what differs from row to row, what few rows change, what no row has.
func BenchmarkAppend(b *testing.B) {
	e := importers.ByName("consent")
	const rows = 512
	word := func(field string, words ...string) (int, []*importers.Value) {
		var list []*importers.Value
		for _, w := range words {
			list = append(list, &importers.Value{Set: true, Text: w})
		}
		return e.Field(field), list
	}
	recs := make([]importers.Record, rows)
	origins := make([]Origin, rows)
	for i := range recs {
		rec := importers.NewRecord(e)
		for field, text := range map[string]string{"external_id": "E%08d", "subject_id": "1%05d", "email": "person.%d@example.com", "phone": "+9198%08d"} {
			rec.Values[e.Field(field)] = &importers.Value{Set: true, Text: fmt.Sprintf(text, i)}
		}
		when := &importers.Value{Set: true, Int: int64(i) * 977e6, Raw: fmt.Sprintf("2024-02-11 10:%02d:%02d", i/60%60, i%60), Zone: "Asia/Kolkata", Precision: "second"}
		rec.Values[e.Field("occurred_at")] = when
		recs[i] = rec
		rec.Key = rec.Values[0].Text
		o := &origins[i]
		o.System, o.Key, o.FileDigest, o.Row, o.Block = "crm", rec.Values[0].Text, fmt.Sprintf("%064d", 1), i+2, 1
		o.RowDigest = sha256.Sum256(binary.AppendUvarint(nil, uint64(i)))
		o.ContentDigest = sha256.Sum256(o.RowDigest[:])
		copy(o.ID[:], o.RowDigest[:])
		copy(o.RecordID[:], o.ContentDigest[:])
	}
	for n, words := range [][]string{
		{"purpose", "marketing", "service"}, {"channel", "email", "sms"}, {"status", "given", "given", "given", "refused", "withdrawn"}, {"notice_id", "privacy"},
		{"notice_version", "v3"}, {"collected_via", "web form"}, {"language", "en-IN"}, {"method", "checkbox"},
	} {
		field, list := word(words[0], words[1:]...)
		for i := range recs {
			recs[i].Values[field] = list[i*(n+7)/5%len(list)]
		}
	}
	derived := []Cell{{Text: "receipt"}, {Text: "strong"}, {Text: "proof"}, {Null: true}, {Null: true}}
	w, err := Create(filepath.Join(b.TempDir(), "x.arrow"), e)
	if err != nil {
		b.Fatal(err)
	}
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Append(&origins[i], &recs[i], derived); err != nil {
			b.Fatal(err)
		}
		if i++; i == rows {
			i = 0
		}
	}
	w.Abort()
}
