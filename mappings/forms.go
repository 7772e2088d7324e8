package mappings

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"sheetlift/importers"
)

// forms checks the keys that the exports of known systems need: which cells count, several words in a cell, what the kind of a
// column says, digests, and what a source inferred.
func (c *checker) forms(path string, e *importers.Entity, fs *FieldSpec, p *fieldProgram) {
	if fs.First && len(fs.From) < 2 {
		c.fault(path+".first", "remove first", "first is for several columns")
	}
	p.when = c.conditions(path+".when", fs.When)
	if fs.Confirm {
		c.guess(path, e.Name, p.field.Name, "")
	}
	if p.split = fs.Split; c.doc.Has(path+".split") && (p.typ != importers.Enum || strings.TrimSpace(fs.Split) == "") {
		c.fault(path+".split", "write what stands between the words, such as \";\", or remove split", "split is for several words of a closed list in one cell")
	}
	if c.doc.Has(path + ".filled") {
		switch {
		case p.typ != importers.Enum || !p.field.Has(fs.Filled):
			c.fault(path+".filled", "write one of the terms of "+p.path+", or map words with enum", "%q is no term that a filled cell of %s could stand for", fs.Filled, p.path)
		case len(fs.Enum) > 0 || fs.Split != "" || e.Name != "consent" || p.field.Name != "proof_kind" || !slices.Contains(filledKinds, fs.Filled):
			c.fault(path+".filled", "map the words with enum; filled is for proof_kind, as "+strings.Join(filledKinds, " or "), "a filled cell can't stand for one term here")
		}
		p.filled = fs.Filled
	}
	if c.doc.Has(path + ".digest") {
		if fs.Digest != "sha256" || fs.Const != nil || !slices.Contains(digested, p.field.Name) {
			c.fault(path+".digest", "write digest: sha256 for one of "+strings.Join(digested, ", ")+" that comes from a column, or remove it", "there is no such digest of %s", p.path)
		}
		p.digest = true
		p.token = p.field.Name == "proof_ref"
	}
	if p.inferred = c.doc.Has(path + ".inferred"); p.inferred && (strings.TrimSpace(fs.Inferred) == "" || fs.Const != nil) {
		c.fault(path+".inferred", "write how the source inferred the value", "inferred goes with from and says how")
	}
}

// sameProof holds a proof_kind that the column's kind says to the column that the reference comes from: the cell is the proof
// itself, and no remark beside it makes one.
func (c *checker) sameProof(path string, r *RecordSpec) {
	kind, ok := r.Fields["proof_kind"]
	if ok && kind.Filled != "" && !slices.Equal(kind.From, r.Fields["proof_ref"].From) {
		c.fault(path+".fields.proof_kind.filled", "take proof_kind and proof_ref from the same column", "the cell that says the kind of proof is not the proof")
	}
}

// filledKinds are the kinds of proof that a cell itself can be; the others are words about something elsewhere.
var filledKinds = []string{"served_notice_history", "signed_token"}

// digested are the fields that hold digests; a proof's digest is taken of signed tokens only.
var digested = []string{"notice_digest", "wording_digest", "proof_ref"}

// signedToken reports whether text is shaped like a signed token (RFC 7515 compact form): three parts, the first a JSON object
// that names an algorithm other than none, the last a signature.
func signedToken(text []byte) bool {
	parts := bytes.Split(text, []byte("."))
	if len(parts) != 3 || len(parts[1]) == 0 || len(parts[2]) < 8 {
		return false
	}
	head := make([]byte, base64.RawURLEncoding.DecodedLen(len(parts[0])))
	n, err := base64.RawURLEncoding.Decode(head, parts[0])
	var h struct {
		Alg string `json:"alg"`
	}
	return err == nil && json.Unmarshal(head[:n], &h) == nil && h.Alg != "" && !strings.EqualFold(h.Alg, "none")
}
