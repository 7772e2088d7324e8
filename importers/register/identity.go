package register

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"

	"github.com/google/uuid"

	"sheetlift/importers"
)

// Identity makes the ids of one tenant.
type Identity struct {
	Namespace uuid.UUID // tenant.namespace of batch.yaml
	Tenant    string
}

// name is the RFC 8785 form of an array of strings: Go's JSON of strings without HTML escaping is already canonical but for
// U+2028 and U+2029, which it escapes and RFC 8785 does not; the escape is deterministic and ids depend on it, so it stays.
func name(parts ...string) []byte {
	b, err := json.Marshal(parts)
	if err != nil {
		panic(err) // strings always marshal
	}
	return b
}

// Record is the id of the record (system, entity, key).
func (id Identity) Record(system, entity, key string) uuid.UUID {
	return uuid.NewSHA1(id.Namespace, name(id.Tenant, system, entity, key))
}

// Event is the id of the event with that content under (system, entity, key).
func (id Identity) Event(system, entity, key, contentDigest string) uuid.UUID {
	return uuid.NewSHA1(id.Namespace, name(id.Tenant, system, entity, key, contentDigest))
}

// KeyDigest is what the id map holds instead of the key: SHA-256 over the namespace and the record's name. Without the
// namespace it can't be tried out against guesses.
func (id Identity) KeyDigest(system, entity, key string) string {
	h := sha256.New()
	h.Write(id.Namespace[:])
	h.Write(name(id.Tenant, system, entity, key))
	return hex.EncodeToString(h.Sum(nil))
}

// ContentDigest is SHA-256 over the typed, length-prefixed values of a record. The original spelling of a date, its zone and
// who stated a value are no part of it: the same decision exported in another layout is the same content.
func ContentDigest(rec *importers.Record) string {
	var buf [2048]byte
	p := buf[:0]
	for i := range rec.Values {
		v := &rec.Values[i]
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
			p = appendText(p, v.Text)
		}
	}
	sum := sha256.Sum256(p)
	return hex.EncodeToString(sum[:])
}

func appendText(p []byte, s string) []byte {
	p = binary.AppendUvarint(p, uint64(len(s)))
	return append(p, s...)
}
