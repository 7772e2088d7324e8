package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"

	"sheetlift/manifests"
)

// evidenceType is what a value of evidence may be.
type evidenceType uint8

const (
	typeDigest  evidenceType = iota // SHA-256, lower-case hex
	typeID                          // 32 hex digits or a UUID
	typeWord                        // a word of a closed vocabulary in code: stage, entity, state, reason
	typeInteger                     // of at most 2^53-1, so that every JSON reader holds it exactly
	typeBool
)

// evidenceKeys is the allow-list. A new key is a decision: nothing that a person typed and no value of a source belongs here.
var evidenceKeys = map[string]evidenceType{
	// What the ledger itself writes.
	"request":              typeDigest,
	"preconditions":        typeDigest,
	"operator":             typeDigest, // of the principal's name
	"incarnation":          typeID,
	"previous_incarnation": typeID,
	"previous_fence":       typeInteger,
	"previous_state":       typeWord,
	"reason":               typeWord,
	"result":               typeDigest, // the stage's own
	"result_bytes":         typeDigest, // of the stored JSON

	// What stages write.
	"manifest":  typeDigest,
	"inventory": typeDigest,
	"bag":       typeDigest,
	"config":    typeDigest, // of batch.yaml
	"import":    typeDigest,
	"file":      typeDigest,
	"map":       typeDigest,
	"mapping":   typeDigest,
	"profile":   typeDigest,
	"dryrun":    typeDigest,
	"staged":    typeDigest,
	"entity":    typeWord,
	"phase":     typeWord,
	"chunk":     typeInteger,
	"rows":      typeInteger,
	"records":   typeInteger,
	"bytes":     typeInteger,
	"revision":  typeInteger,
	"complete":  typeBool,
	"passed":    typeBool,
}

var (
	digestPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)
	idPattern     = regexp.MustCompile(`^([0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$`)
	wordPattern   = regexp.MustCompile(`^[a-z][a-z0-9_.]{0,63}$`)
)

const maxInteger = 1<<53 - 1

// encodeEvidence checks evidence against the allow-list and gives its canonical JSON. Messages name the key, never the value.
func encodeEvidence(evidence map[string]any) (string, error) {
	checked := make(map[string]any, len(evidence))
	for key, value := range evidence {
		kind, ok := evidenceKeys[key]
		if !ok {
			return "", fmt.Errorf("%w: key %q is not on the list in pipeline/ledger/evidence.go", ErrEvidence, key)
		}
		v, ok := checkEvidence(kind, value)
		if !ok {
			return "", fmt.Errorf("%w: key %q does not take this %T; see pipeline/ledger/evidence.go", ErrEvidence, key, value)
		}
		checked[key] = v
	}
	b, err := manifests.Canonical(checked)
	return string(b), err
}

func checkEvidence(kind evidenceType, value any) (any, bool) {
	switch v := value.(type) {
	case string:
		switch kind {
		case typeDigest:
			return v, digestPattern.MatchString(v)
		case typeID:
			return v, idPattern.MatchString(v)
		case typeWord:
			return v, wordPattern.MatchString(v)
		}
	case int:
		return checkEvidence(kind, int64(v))
	case int64:
		return v, kind == typeInteger && v >= -maxInteger && v <= maxInteger
	case bool:
		return v, kind == typeBool
	}
	return nil, false
}

// decodeEvidence reads what encodeEvidence wrote.
func decodeEvidence(text string) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var m map[string]any
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("evidence is no JSON object: %w", err)
	}
	for key, v := range m {
		if n, ok := v.(json.Number); ok {
			i, err := n.Int64()
			if err != nil {
				return nil, fmt.Errorf("evidence %q is no integer", key)
			}
			m[key] = i
		}
	}
	return m, nil
}

// sum is the SHA-256 of bytes as lower-case hex.
func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
