package register

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"sheetlift/importers"
	"sheetlift/importers/digest"
	"sheetlift/manifests"
)

// TestNameIsCanonical holds the hand-written form of names to the library's RFC 8785.
func TestNameIsCanonical(t *testing.T) {
	for _, parts := range [][]string{
		{"acme", "crm", "consent", "C-1"},
		{"a\"b\\c", "<&>", "\u2028\u2029", "Zoë ✓ 😀"},
		{"\x00\x01\b\t\n\v\f\r\x1f\x7f"},
		{""},
	} {
		want, err := manifests.Canonical(parts)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendName(nil, parts...); string(got) != string(want) {
			t.Errorf("name(%q) = %s, want %s", parts, got, want)
		}
	}
}

// A namer gives what identity gives without it, whatever it was asked for before. The reference is written out here: names by the
// library's RFC 8785 and the UUIDs of google/uuid, contents as the format of ContentSum says.
func TestNamer(t *testing.T) {
	text := rapid.OneOf(rapid.StringN(0, 30, -1), rapid.SampledFrom([]string{"", "plain", "C-1|2\\|", "e\u0301", "eight by", "sevenby\u00e9", "e\u0301ight bytes"}))
	rapid.Check(t, func(t *rapid.T) {
		id := Identity{Tenant: text.Draw(t, "tenant")}
		copy(id.Namespace[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "namespace"))
		e := &importers.Entities[rapid.IntRange(0, len(importers.Entities)-1).Draw(t, "entity")]
		system := text.Draw(t, "system")
		n := id.Namer(system, e)
		var contents, names digest.Batch
		for range rapid.IntRange(1, 4).Draw(t, "records") {
			rec := importers.NewRecord(e)
			var content []byte
			var set uint64
			for i := range rec.Values {
				if !rapid.Bool().Draw(t, "set") {
					continue
				}
				v := &importers.Value{Set: true, Text: text.Draw(t, "text"), Int: rapid.Int64().Draw(t, "int"), Raw: "raw", Zone: "UTC", Precision: rapid.SampledFrom([]string{"day", "micro"}).Draw(t, "precision")}
				rec.Values[i], set = v, set|1<<i
				put := func(s string) { content = append(binary.AppendUvarint(content, uint64(len(s))), s...) }
				put(e.Fields[i].Name)
				switch e.Fields[i].Type {
				case importers.DateTime:
					content = binary.BigEndian.AppendUint64(append(content, 't'), uint64(v.Int))
					put(v.Precision)
				case importers.Bool, importers.Integer:
					content = binary.BigEndian.AppendUint64(append(content, 'i'), uint64(v.Int))
				default:
					content = append(content, 's')
					put(norm.NFC.String(v.Text))
				}
			}
			sum := sha256.Sum256(content)
			stays := rapid.Uint64().Draw(t, "stays") & set
			contents.Reset()
			n.AddContent(&contents, &rec, stays)
			n.AddContent(&contents, &rec, stays)
			if got := contents.SHA256(); got[0] != sum || got[1] != sum || ContentSum(&rec) != sum {
				t.Fatalf("contents %x, ContentSum %x, want %x", got, ContentSum(&rec), sum)
			}
			key := text.Draw(t, "key")
			name := func(parts ...string) uuid.UUID {
				p, err := manifests.Canonical(append([]string{id.Tenant, system, e.Name, key}, parts...))
				if err != nil {
					t.Fatal(err)
				}
				return uuid.NewSHA1(id.Namespace, p)
			}
			names.Reset()
			n.AddRecord(&names, key)
			n.AddEvent(&names, key, &sum)
			got := names.SHA1()
			if got, want := UUID(got[0][:]), name(); got != want || id.Record(system, e.Name, key) != want {
				t.Fatalf("record %s, want %s", got, want)
			}
			if got, want := UUID(got[1][:]), name(hex.EncodeToString(sum[:])); got != want || id.Event(system, e.Name, key, sum) != want {
				t.Fatalf("event %s, want %s", got, want)
			}
		}
	})
}

// BenchmarkNamer compares the ways to identify a consent.
func BenchmarkNamer(b *testing.B) {
	id := Identity{Namespace: uuid.NameSpaceDNS, Tenant: "acme"}
	e := importers.ByName("consent")
	rec := importers.NewRecord(e)
	for field, text := range map[string]string{"external_id": "E00004711", "subject_id": "104711", "email": "person.4711@example.com", "phone": "+919800004711",
		"purpose": "marketing", "channel": "email", "status": "given", "notice_version": "v3", "collected_via": "web form", "language": "en-IN"} {
		rec.Values[e.Field(field)] = &importers.Value{Set: true, Text: text}
	}
	rec.Values[e.Field("occurred_at")] = &importers.Value{Set: true, Int: 1772356500000000, Precision: "second"}
	key := "E00004711"
	b.Run("identity", func(b *testing.B) {
		for b.Loop() {
			content := ContentSum(&rec)
			id.Record("crm", "consent", key)
			id.Event("crm", "consent", key, content)
		}
	})
	b.Run("namer", func(b *testing.B) {
		n := id.Namer("crm", e)
		var contents, names digest.Batch
		const together = 32
		for i := 0; b.Loop(); i++ {
			if i%together != 0 {
				continue
			}
			contents.Reset()
			names.Reset()
			for range together {
				n.AddContent(&contents, &rec, 0)
			}
			for _, content := range contents.SHA256() {
				n.AddRecord(&names, key)
				n.AddEvent(&names, key, &content)
			}
			names.SHA1()
		}
	})
}
