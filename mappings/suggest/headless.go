package suggest

import (
	"slices"
	"strings"

	"sheetlift/mappings"
)

// headerFields are those whose headers tell a row of them from a row of values.
var headerFields = []string{"email", "phone", "asks", "state", "external_id", "subject_id", "device_id", "occurred_at", "received_at", "due_at", "purpose", "channel", "reason", "request_type", "requester_name"}

// RowOfValues reports whether the cells of a row are values and no headers: an address or an international number, or a word of our lists beside a number
// or a date, and nothing that headers are called by.
func RowOfValues(cells []string) bool {
	said, counted := false, false
	for _, cell := range cells {
		word := valueWord(cell)
		if !word && soundsLikeHeader(cell) {
			return false
		}
		said = said || word
		counted = counted || mappings.NumberOrDate(cell)
	}
	return mappings.LooksLikeRow(cells) || said && counted
}

// soundsLikeHeader reports whether a text is a header that drafts know: then one beside it that looks like a value is one too.
func soundsLikeHeader(text string) bool {
	return !strings.Contains(text, "@") && Sounds(text, headerFields...) != ""
}

// valueWord reports whether a text is a word that cells of registers hold.
func valueWord(text string) bool {
	return strings.TrimSpace(text) != "" && slices.ContainsFunc([]string{answers, "reason", "case.status", "request_type"}, func(list string) bool {
		says, ok := term(list, text)
		return ok && says != ""
	})
}

// FirstOfList finds where a list without a header begins, whose titles may stand above it: the index of its first row among the top rows of a sheet, one
// of which was taken for the header because it has the most texts. ok is false where that is a header, or a row above it is; header is then which.
func FirstOfList(rows [][]string, taken int) (first, header int, ok bool) {
	if taken < 0 || taken >= len(rows) || !RowOfValues(rows[taken]) {
		return 0, taken, false
	}
	first = taken
	for i := range taken {
		if RowOfValues(rows[i]) {
			first = i
			break
		}
	}
	for i := first - 1; i >= 0; i-- {
		if filled(rows[i]) == 0 {
			continue
		}
		if n := filled(rows[i]); n > 1 && (n >= filled(rows[first]) || slices.ContainsFunc(rows[i], soundsLikeHeader)) {
			return 0, i, false
		}
		break
	}
	return first, 0, true
}

func filled(cells []string) (n int) {
	for _, cell := range cells {
		if strings.TrimSpace(cell) != "" {
			n++
		}
	}
	return n
}
