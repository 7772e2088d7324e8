package manifests

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"

	"github.com/gowebpki/jcs"
)

// maxExact is the largest integer that every JSON reader holds exactly: RFC 7493 section 2.2, which RFC 8785 builds on.
const maxExact = 1<<53 - 1

// Canonical gives v as canonical JSON (RFC 8785), after encoding/json has applied the field tags.
//
// It refuses, with an *Error of kind ErrSpec, what would not survive: numbers beyond ±(2^53-1) (write ids and large counts as
// strings), NaN and infinities, duplicate keys, and text that is not valid UTF-8, which encoding/json alone would silently
// replace.
func Canonical(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, &Error{Kind: ErrSpec, Message: "the value can't be written as JSON: " + err.Error(), Err: err}
	}
	if err := checkExact(raw); err != nil {
		return nil, err
	}
	out, err := jcs.Transform(raw)
	if err != nil {
		// The library's message may quote a key, and a key may be personal. What is left to refuse here is known.
		return nil, &Error{Kind: ErrSpec, Message: "the value can't be made canonical JSON: it holds the same key twice, undecodable text, or is nested too deep"}
	}
	return out, nil
}

// Digest is the lower-case hex SHA-256 of Canonical(v).
func Digest(v any) (string, error) {
	b, err := Canonical(v)
	if err != nil {
		return "", err
	}
	return hexSum(b), nil
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// checkExact walks over encoding/json's output once. In it a number beyond ±(2^53-1) would be rounded by jcs without a
// word, and the six characters \ufffd are what encoding/json leaves of invalid UTF-8 (a real U+FFFD is written as itself).
func checkExact(raw []byte) error {
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			i++
			for i < len(raw) && raw[i] != '"' {
				if raw[i] != '\\' {
					i++
					continue
				}
				if i+6 <= len(raw) && bytes.EqualFold(raw[i:i+6], []byte(`\ufffd`)) {
					return &Error{Kind: ErrSpec, Message: "a text in the value is not valid UTF-8"}
				}
				i += 2
			}
			i++
		case c == '-' || c >= '0' && c <= '9':
			start := i
			for i < len(raw) && bytes.IndexByte([]byte("+-.0123456789eE"), raw[i]) >= 0 {
				i++
			}
			f, err := strconv.ParseFloat(string(raw[start:i]), 64)
			if err != nil || math.Abs(f) > maxExact {
				return &Error{Kind: ErrSpec, Message: "a number in the value is beyond 2^53-1 and would be rounded",
					Remedy: "write ids and large counts as strings"}
			}
		default:
			i++
		}
	}
	return nil
}
