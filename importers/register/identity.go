package register

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"

	"sheetlift/importers"
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
		if plain(s) {
			p = append(p, s...)
		} else {
			p = appendEscaped(p, s)
		}
		p = append(p, '"')
	}
	return append(p, ']')
}

func appendEscaped(p []byte, s string) []byte {
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

// uuid5 is the UUIDv5 of the name (RFC 9562, 5.5), as uuid.NewSHA1 gives it with some allocations.
func (id Identity) uuid5(parts ...string) (u uuid.UUID) {
	var buf [512]byte
	sum := sha1.Sum(appendName(append(buf[:0], id.Namespace[:]...), parts...))
	copy(u[:], sum[:])
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
	for i := range rec.Values {
		v := rec.Values[i]
		if !v.Set {
			continue
		}
		f := &rec.Entity.Fields[i]
		p = appendText(p, f.Name)
		switch f.Type {
		case importers.DateTime:
			p = append(p, 't')
			p = binary.BigEndian.AppendUint64(p, uint64(v.Int))
			p = appendText(p, v.Precision)
		case importers.Bool, importers.Integer:
			p = append(p, 'i')
			p = binary.BigEndian.AppendUint64(p, uint64(v.Int))
		default:
			p = append(p, 's')
			p = appendText(p, nfc(v.Text))
		}
	}
	return sha256.Sum256(p)
}

// ContentDigest is ContentSum as the register holds it, in hex.
func ContentDigest(rec *importers.Record) string { return hexOf(ContentSum(rec)) }

func hexOf(sum [sha256.Size]byte) string {
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:])
}

// nfc gives ASCII back as it is: it is in NFC, and nearly all values are ASCII.
func nfc(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return norm.NFC.String(s)
		}
	}
	return s
}

func appendText(p []byte, s string) []byte {
	p = binary.AppendUvarint(p, uint64(len(s)))
	return append(p, s...)
}
