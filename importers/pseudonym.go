package importers

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
)

// Pseudonyms put digests in the place of identifiers: the same for the same key in all batches of a tenant, and of no use to whoever has
// not the secret. So who was named can be kept without the name (GDPR Article 4(5)), and found again by whoever brings it.
type Pseudonyms struct{ head []byte }

const (
	pseudonymMark  = "\xff" // no identifier is anything but UTF-8
	pseudonymBytes = 16
)

// NewPseudonyms makes the pseudonyms of whoever has the secret.
func NewPseudonyms(secret []byte) *Pseudonyms {
	head := sha256.Sum256(append([]byte("sheetlift pseudonym\n"), secret...))
	return &Pseudonyms{head[:pseudonymBytes]}
}

// Of gives the keys with pseudonyms for their values.
func (p *Pseudonyms) Of(keys []Key) []Key {
	list := make([]Key, len(keys))
	for i, k := range keys {
		if list[i] = k; !k.pseudonymous() {
			d := p.digest(&k)
			list[i].Value = pseudonymMark + string(d[:])
		}
	}
	return list
}

func (p *Pseudonyms) digest(k *Key) (d [pseudonymBytes]byte) {
	if k.pseudonymous() {
		copy(d[:], k.Value[len(pseudonymMark):])
		return d
	}
	var room [128]byte
	buf := append(binary.AppendUvarint(append(append(room[:0], p.head...), byte(kindOf(k))), uint64(len(k.System))), k.System...)
	sum := sha256.Sum256(append(buf, k.Value...))
	copy(d[:], sum[:])
	return d
}

func (k *Key) pseudonymous() bool {
	return len(k.Value) == len(pseudonymMark)+pseudonymBytes && k.Value[:len(pseudonymMark)] == pseudonymMark
}

// link is the pseudonym of a key as Links keep it, but for the lowest bits.
func (p *Pseudonyms) link(k *Key) (hi, lo uint64) {
	d := p.digest(k)
	return binary.LittleEndian.Uint64(d[:]), binary.LittleEndian.Uint64(d[8:])
}

// KeysText puts pseudonymous keys of one system into one text: of each the kind and the pseudonym in hex. ReadKeys reads it.
func KeysText(keys []Key) string {
	var words []string
	for _, k := range keys {
		words = append(words, k.Kind+":"+hex.EncodeToString([]byte(k.Value[len(pseudonymMark):])))
	}
	return strings.Join(words, " ")
}

// ReadKeys reads what KeysText wrote of keys of the system.
func ReadKeys(text, system string) ([]Key, error) { return AppendKeys(nil, text, system) }

// AppendKeys is ReadKeys to the end of a list.
func AppendKeys(keys []Key, text, system string) ([]Key, error) {
	for word := range strings.FieldsSeq(text) {
		kind, digest, _ := strings.Cut(word, ":")
		value, err := hex.DecodeString(digest)
		if err != nil || len(value) != pseudonymBytes || !slices.Contains(kinds[:], kind) {
			return nil, errors.New("a word of the keys is none")
		}
		k := Key{Kind: kind, Value: pseudonymMark + string(value)}
		if !k.Contact() {
			k.System = system
		}
		keys = append(keys, k)
	}
	return keys, nil
}
