package mappings

import (
	"fmt"
	"strings"
	"testing"
)

// Every word that the suggestions read as a refusal is warned of among null tokens, with its line; what is no answer is not.
func TestNullTokensThatSayNo(t *testing.T) {
	warned := func(polarity, word string) []lostRefusal {
		text := strings.ReplaceAll("version: 1\nmapping: m\nrecords:\n  - entity: consent\n    key: [email]\n    fields:\n      email: Mail\n      status:\n        from: S\n        enum: { yes: [yip], no: [nope, Abbestellt] }\n        polarity: POLARITY\n        null_tokens:\n          - n/a\n          - ", "POLARITY", polarity) + fmt.Sprintf("%q\n", word)
		m, err := Parse("m.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%q: %v", word, err)
		}
		for _, f := range m.program.specs[0].fields {
			if f.path == "consent.status" {
				return f.lost
			}
		}
		t.Fatal("no status")
		return nil
	}
	for _, says := range []string{"no", "refused", "withdrawn", "opt_out", "objection"} {
		for w := range strings.SplitSeq(AnswerWords[says], "|") {
			for _, word := range []string{w, strings.ToUpper(w), strings.ReplaceAll(w, " ", "_"), w + "."} {
				got := warned("normal", word)
				if want := w != "-"; len(got) > 0 != want {
					t.Errorf("%q (%s): %+v", word, says, got)
				}
				if len(got) > 0 && got[0].line != 14 {
					t.Errorf("%q: line %d", word, got[0].line)
				}
			}
		}
	}
	for word, want := range map[string]bool{"abbestellt": true, "pending": false, "unknown": false, "unbekannt": false, "n.v.": false, "yes": false, "nem": true, "☐": true, "n/a": false, "none": false} {
		if got := warned("normal", word); len(got) > 0 != want {
			t.Errorf("%q: %+v", word, got)
		}
	}
	for word, want := range map[string]bool{"ja": true, "nein": false, "unsubscribed": true} {
		if got := warned("inverted", word); len(got) > 0 != want {
			t.Errorf("inverted, %q: %+v", word, got)
		}
	}
}

// A sign before a word or a number makes another word of it, and a list's dash, a mark behind it or within it none.
func TestSignsAreOfTheWord(t *testing.T) {
	for _, word := range []string{"-1", "- 1", "−1", "1-", "-ja", "!ja", "¬yes", "-x", "ja-"} {
		if saysOf(word, "yes") || refuses(word, true) {
			t.Errorf("%q is a yes", word)
		}
	}
	for _, word := range []string{"1", "- ja", "ja!", "ja.", "(ja)", "yes", "x"} {
		if !saysOf(word, "yes") {
			t.Errorf("%q is no yes", word)
		}
	}
	for _, word := range []string{"opt-out", "opted_out", "- unsubscribed", "-unsubscribed"} {
		if !saysOf(word, "withdrawn", "opt_out") {
			t.Errorf("%q does not speak against consent", word)
		}
	}
}
