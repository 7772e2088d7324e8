package register

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"unsafe"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"sheetlift/importers"
	"sheetlift/importers/digest"
)

// Identity makes the ids of one tenant.
type Identity struct {
	Namespace uuid.UUID // tenant.namespace of batch.yaml
	Tenant    string
}

// appendName appends the RFC 8785 form of an array of strings (section 3.2.2.2: only what JSON requires is escaped). The strings
// are UTF-8.
func appendName(p []byte, parts ...string) []byte {
	sep := byte('[')
	for _, s := range parts {
		p = append(p, sep, '"')
		sep = ','
		p = append(appendString(p, s), '"')
	}
	return append(p, ']')
}

// appendString appends what stands between the quotes.
func appendString(p []byte, s string) []byte {
	if plain(s) {
		return append(p, s...)
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			p = append(p, '\\', c)
		case c >= 0x20:
			p = append(p, c)
		case strings.IndexByte("\b\t\n\f\r", c) >= 0:
			p = append(p, '\\', "btn fr"[c-'\b'])
		default:
			p = append(p, '\\', 'u', '0', '0', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		}
	}
	return p
}

// plain reports whether a string needs no escape.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// uuid5 is the UUIDv5 of the name, as uuid.NewSHA1 gives it with some allocations.
func (id Identity) uuid5(parts ...string) uuid.UUID {
	var buf [512]byte
	sum := sha1.Sum(appendName(append(buf[:0], id.Namespace[:]...), parts...))
	return UUID(sum[:])
}

// UUID is the UUIDv5 of a name of which this is the SHA-1, after its namespace (RFC 9562, 5.5).
func UUID(sum []byte) (u uuid.UUID) {
	copy(u[:], sum)
	u[6] = u[6]&0x0f | 0x50
	u[8] = u[8]&0x3f | 0x80
	return u
}

// Record is the id of the record (system, entity, key).
func (id Identity) Record(system, entity, key string) uuid.UUID {
	return id.uuid5(id.Tenant, system, entity, key)
}

// Event is the id of the event with that content under (system, entity, key).
func (id Identity) Event(system, entity, key string, content [sha256.Size]byte) uuid.UUID {
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], content[:])
	return id.uuid5(id.Tenant, system, entity, key, string(text[:]))
}

// Namer makes what the digests and ids of one system's records of an entity are made of: those that ContentSum and Identity give. It is not
// for concurrent use.
type Namer struct {
	name   []byte // the namespace, then the name up to the key
	fields []namedField
}

// namedField is what the content of a field begins with.
type namedField struct {
	head  []byte
	mark  byte         // as contentMark gives it
	known []namedValue // contents of values that stay, at the places of their pointers
}

type namedValue struct {
	v       *importers.Value
	content []byte
}

const namedValues = 64 // of a field, a power of two

// appendKnown appends the content of a value that stays as it is.
func (f *namedField) appendKnown(p []byte, v *importers.Value) []byte {
	if f.known == nil {
		f.known = make([]namedValue, namedValues)
	}
	at := &f.known[uint64(uintptr(unsafe.Pointer(v)))*0x9E3779B97F4A7C15>>(64-6)]
	if at.v != v {
		at.v, at.content = v, f.append(at.content[:0], v)
	}
	return append(p, at.content...)
}

func (f *namedField) append(p []byte, v *importers.Value) []byte {
	return appendContent(append(p, f.head...), f.mark, v)
}

// Namer gives a namer of the system's records of the entity.
func (id Identity) Namer(system string, e *importers.Entity) *Namer {
	name := appendName(append([]byte(nil), id.Namespace[:]...), id.Tenant, system, e.Name)
	n := &Namer{name: append(name[:len(name)-1], ',', '"')}
	for i := range e.Fields {
		f := &e.Fields[i]
		mark := contentMark(f.Type)
		n.fields = append(n.fields, namedField{head: append(appendText(nil, f.Name), mark), mark: mark})
	}
	return n
}

// AddRecord adds to a batch what has the SHA-1 that Identity.Record is the UUID of.
func (n *Namer) AddRecord(to *digest.Batch, key string) {
	to.Add(append(n.append(to.Room(), key), '"', ']'))
}

// AddEvent is AddRecord of Identity.Event.
func (n *Namer) AddEvent(to *digest.Batch, key string, content *[sha256.Size]byte) {
	p := append(n.append(to.Room(), key), '"', ',', '"')
	to.Add(append(hex.AppendEncode(p, content[:]), '"', ']'))
}

func (n *Namer) append(p []byte, key string) []byte { return appendString(append(p, n.name...), key) }

// AddContent adds to a batch what has the ContentSum of a record of the entity for its SHA-256. stays has a bit for each field whose value
// stays as it is as long as its pointer is in use: what such a value adds is worked out once.
func (n *Namer) AddContent(to *digest.Batch, rec *importers.Record, stays uint64) {
	p := to.Room()
	for i, v := range rec.Values {
		switch f := &n.fields[i]; {
		case stays>>i&1 == 1:
			p = f.appendKnown(p, v)
		case v.Set:
			p = f.append(p, v)
		}
	}
	to.Add(p)
}

// KeyDigest is what the id map holds instead of the key: SHA-256 over the namespace and the record's name. Without the
// namespace it can't be tried out against guesses.
func (id Identity) KeyDigest(system, entity, key string) string {
	var buf [512]byte
	sum := sha256.Sum256(appendName(append(buf[:0], id.Namespace[:]...), id.Tenant, system, entity, key))
	return hexOf(sum)
}

// ContentSum is SHA-256 over the typed, length-prefixed values of a record. The original spelling of a date, its zone, who
// stated a value, and whether ë is one character or two are no part of it: the same decision exported in another layout or by
// another program is the same content.
func ContentSum(rec *importers.Record) [sha256.Size]byte {
	var buf [2048]byte
	p := buf[:0]
	for i, v := range rec.Values {
		if v.Set {
			f := &rec.Entity.Fields[i]
			mark := contentMark(f.Type)
			p = appendContent(append(appendText(p, f.Name), mark), mark, v)
		}
	}
	return sha256.Sum256(p)
}

// contentMark says how the value of a field of the type is written.
func contentMark(t importers.Type) byte {
	switch t {
	case importers.DateTime:
		return 't'
	case importers.Bool, importers.Integer:
		return 'i'
	}
	return 's'
}

func appendContent(p []byte, mark byte, v *importers.Value) []byte {
	switch mark {
	case 't':
		return appendText(binary.BigEndian.AppendUint64(p, uint64(v.Int)), v.Precision)
	case 'i':
		return binary.BigEndian.AppendUint64(p, uint64(v.Int))
	}
	text := v.Text
	if !importers.ASCII(text) { // ASCII is in NFC, and nearly all values are ASCII
		text = norm.NFC.String(text)
	}
	return appendText(p, text)
}

// ContentDigest is ContentSum as the register holds it, in hex.
func ContentDigest(rec *importers.Record) string { return hexOf(ContentSum(rec)) }

func hexOf(sum [sha256.Size]byte) string {
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:])
}

func appendText(p []byte, s string) []byte {
	p = binary.AppendUvarint(p, uint64(len(s)))
	return append(p, s...)
}
