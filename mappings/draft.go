package mappings

import (
	"encoding/json"
	"fmt"
	"strings"

	"sheetlift/importers"
	"sheetlift/importers/source"
)

// todo is what a drafted mapping says where a person has to decide.
const todo = "TODO"

// Draft writes a bare mapping for a sheet: its header's place, every column as a comment to choose from, and TODO where a
// person has to decide. Parse refuses it until the TODOs are filled in, and says which. headerRow 0 means that the sheet has no
// header; header then counts the columns. A header that looks like a value about a person is named by its position, see ShownHeaders.
func Draft(name string, header []string, sheet string, headerRow int) []byte {
	var b strings.Builder
	b.WriteString("# A mapping says which columns become which fields. Fill in every TODO; docs/mapping.md explains each key,\n")
	b.WriteString("# and `sheetlift schema` prints a JSON Schema for editors.\n")
	b.WriteString("version: 1\n")
	fmt.Fprintf(&b, "mapping: %s\n", quoteYAML(name))
	if sheet != "" {
		fmt.Fprintf(&b, "sheet: %s\n", quoteYAML(sheet))
	}
	if headerRow > 0 {
		fmt.Fprintf(&b, "header: { row: %d }\n", headerRow)
	} else {
		b.WriteString("header: { none: true }\n")
	}
	b.WriteString("# zone: Europe/Berlin        # of times without an offset\n")
	b.WriteString("# skip:\n#   - { column: Status, equals: TEST, reason: sample rows }\n")
	b.WriteString("records:\n")
	fmt.Fprintf(&b, "  - entity: %s             # one of: %s\n", todo, strings.Join(entityNames(), ", "))
	fmt.Fprintf(&b, "    key: [%s]              # fields whose values tell records apart\n", todo)
	b.WriteString("    fields:\n")
	b.WriteString("      # FIELD: COLUMN, one a line. Columns of the sheet:\n")
	seen := map[string]int{}
	total := map[string]int{}
	shown := ShownHeaders(header)
	for _, h := range header {
		total[headerFold(h)]++
	}
	for col, h := range header {
		folded := headerFold(h)
		seen[folded]++
		letter := source.Letters(col)
		switch {
		case headerRow == 0 || folded == "" || shown[col] != h:
			fmt.Fprintf(&b, "      # %s: { from: { letter: %s } }\n", todo, letter)
		case total[folded] > 1:
			fmt.Fprintf(&b, "      # %s: { from: { header: %s, nth: %d } }   # column %s\n", todo, quoteYAML(h), seen[folded], letter)
		default:
			fmt.Fprintf(&b, "      # %s: %s   # column %s\n", todo, quoteYAML(h), letter)
		}
	}
	b.WriteString("# The fields of each entity (* required); docs/entities.md says what they mean:\n")
	for i := range importers.Entities {
		e := &importers.Entities[i]
		line := "#   " + e.Name + ":"
		for j := range e.Fields {
			word := " " + e.Fields[j].Name
			if e.Fields[j].Required {
				word += "*"
			}
			if len(line)+len(word) > 110 {
				b.WriteString(line + "\n")
				line = "#     "
			}
			line += word
		}
		b.WriteString(line + "\n")
	}
	return []byte(b.String())
}

// quoteYAML writes s as a plain scalar where that is safe, else as a double-quoted one; JSON strings are YAML.
func quoteYAML(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	plain := s != ""
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != ' ' && r != '-' && r != '_' && (r < '0' || r > '9')) {
			plain = false
		}
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		plain = false
	}
	if plain {
		return s
	}
	quoted, err := json.Marshal(s)
	if err != nil {
		panic("mappings: " + err.Error()) // a valid string always marshals
	}
	return string(quoted)
}
