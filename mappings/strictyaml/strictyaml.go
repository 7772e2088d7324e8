// Package strictyaml reads a configuration file of ours: YAML in, a Go struct out, and every fault of the file at once.
//
// It promises that each fault has its line, its column, the line itself and what to do next; that an unknown key names the
// nearest known one; and that reading a hostile file costs no more than its size: over MaxBytes, nested too deep, or with
// anchors, aliases, merge keys, tags or a second document, the file is refused before it is expanded. A file of another kind, such
// as a table given by mistake, is refused without showing any of its lines: they may hold personal values.
// Scalars are taken as they are written: 007 for a text is "007", never a number.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// MaxBytes is the largest file that is read, maxTokens how many words and signs it may have (the time to parse grows with
// their square), maxDepth the deepest nesting, maxFaults how many faults are listed.
const (
	MaxBytes  = 1 << 20
	maxTokens = 20_000
	maxDepth  = 32
	maxFaults = 200
)

// Fault is one thing wrong with the file.
type Fault struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Path    string `json:"path,omitempty"` // records[0].fields.phone
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
	Excerpt string `json:"excerpt,omitempty"` // the line and a caret under the column
}

// Errors is every fault of one file, in file order.
type Errors struct {
	File   string
	Faults []Fault
}

// Error shows each fault with its place, excerpt and remedy.
func (e *Errors) Error() string {
	var b strings.Builder
	for i, f := range e.Faults {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s:%d:%d: ", e.File, f.Line, f.Column)
		if f.Path != "" {
			b.WriteString(f.Path + ": ")
		}
		b.WriteString(f.Message)
		if f.Excerpt != "" {
			b.WriteString("\n" + f.Excerpt)
		}
		if f.Remedy != "" {
			b.WriteString("\n  " + f.Remedy)
		}
	}
	return b.String()
}

// Document is a file that is well-formed; Decode and Fault collect what else is wrong with it.
type Document struct {
	// NullIsAbsent makes a key without a value, such as "name:", count as if it were not there. Set it before Decode.
	NullIsAbsent bool

	name    string
	lines   [][]byte
	root    ast.Node
	places  map[string]place
	faults  []Fault
	foreign bool // no file of ours: the one fault says so, and no line is shown
}

type place struct{ line, column int }

// Parse reads the YAML. The error, if any, is an *Errors.
func Parse(name string, data []byte) (*Document, error) {
	d := &Document{name: name, places: map[string]place{}}
	refuse := func(line, column int, message, remedy string) (*Document, error) {
		d.fault(place{line, column}, "", message, remedy)
		if line > len(d.lines) || !ours.Match(d.lines[line-1]) {
			d.faults[0].Excerpt = "" // the file may still be another kind of file
		}
		return nil, d.Err()
	}
	if len(data) > MaxBytes {
		return refuse(1, 1, fmt.Sprintf("the file has %d bytes; at most %d are read", len(data), MaxBytes), "split the file")
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	d.lines = bytes.Split(data, []byte("\n"))
	for _, l := range d.lines {
		if l = bytes.TrimSpace(l); len(l) == 0 || l[0] == '#' {
			continue
		}
		switch {
		case bytes.HasPrefix(l, []byte("- ")):
			d.refuseForeign("a list")
			return nil, d.Err()
		case !ours.Match(l):
			d.refuseForeign("text of another kind")
			return nil, d.Err()
		}
		break
	}
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		for i, l := range d.lines {
			if !utf8.Valid(l) || bytes.IndexByte(l, 0) >= 0 {
				return refuse(i+1, 1, "the line is not UTF-8 text", "save the file as UTF-8")
			}
		}
	}
	tokens := lexer.Tokenize(string(data))
	if line, column, message, remedy := unsafeTokens(tokens); message != "" {
		return refuse(line, column, message, remedy)
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		line, column, message := 1, 1, err.Error()
		var syntax *yaml.SyntaxError
		if errors.As(err, &syntax) {
			message = syntax.Message
			if syntax.Token != nil && syntax.Token.Position != nil {
				line, column = syntax.Token.Position.Line, syntax.Token.Position.Column
			}
		}
		return refuse(line, column, "this is not YAML: "+message, "check indentation, colons and quotes around this place")
	}
	for _, doc := range file.Docs {
		if doc == nil || doc.Body == nil {
			continue
		}
		if d.root != nil {
			pos := doc.Body.GetToken().Position
			return refuse(pos.Line, pos.Column, "the file holds a second document", "keep one document a file")
		}
		d.root = doc.Body
	}
	if d.root == nil {
		return refuse(1, 1, "the file is empty", "")
	}
	return d, nil
}

// ours is how a line of a file of keys and values begins: with a key, an item, a bracket, or a sign that is refused later.
var ours = regexp.MustCompile(`^\s*(?:- |-$|[{}\[\]]|\? |---|#|(?:"[^"]*"|'[^']*'|[^\s"'#,;|@:][^,;|@:\t]*):(?:\s|$))`)

// refuseForeign records that the file is of another kind, once and for all.
func (d *Document) refuseForeign(what string) {
	d.fault(place{1, 1}, "", "this is no configuration file of keys and values (key: value), but "+what,
		"give the path of a batch.yaml or of a mapping file; a file with data is named in batch.yaml, under sources")
	d.faults[len(d.faults)-1].Excerpt = ""
	d.foreign = true
}

// unsafeTokens finds what is refused before anything is built from the tokens.
func unsafeTokens(tokens token.Tokens) (line, column int, message, remedy string) {
	flow, entries, entryLine := 0, 0, 0
	for n, t := range tokens {
		if n >= maxTokens {
			return t.Position.Line, t.Position.Column, fmt.Sprintf("the file has more than %d words and signs", maxTokens), "split the file"
		}
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			message, remedy = "anchors, aliases and merge keys are not read", "write the values out"
		case token.TagType, token.DirectiveType:
			message, remedy = "tags and directives are not read", "remove it"
		case token.MappingKeyType:
			message, remedy = "explicit keys (?) are not read", "write key: value"
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow--
		case token.SequenceEntryType:
			if t.Position.Line != entryLine {
				entries, entryLine = 0, t.Position.Line
			}
			entries++
		}
		if flow > maxDepth || entries > maxDepth || t.Position.IndentNum > 40*maxDepth {
			message, remedy = "the file is nested too deep", "check brackets and indentation"
		}
		if message != "" {
			return t.Position.Line, t.Position.Column, message, remedy
		}
	}
	return 0, 0, "", ""
}

// Fault records something wrong with the value at path, or with the nearest value above it that the file has.
func (d *Document) Fault(path, message, remedy string) {
	d.fault(d.nearest(path), path, message, remedy)
}

// Place is a fault with its place and excerpt that is not recorded: for what is only later found to be one.
func (d *Document) Place(path, message, remedy string) Fault {
	at := d.nearest(path)
	return Fault{Line: at.line, Column: at.column, Path: path, Message: message, Remedy: remedy, Excerpt: d.excerpt(at)}
}

func (d *Document) nearest(path string) place {
	at, found := d.places[path]
	for p := path; !found && p != ""; {
		if i := strings.LastIndexAny(p, ".["); i >= 0 {
			p = p[:i]
		} else {
			p = ""
		}
		at, found = d.places[p]
	}
	if !found {
		at = place{1, 1}
	}
	return at
}

// Has reports whether the file has a value at path.
func (d *Document) Has(path string) bool {
	_, ok := d.places[path]
	return ok
}

// Err returns the faults so far as an *Errors in file order, or nil.
func (d *Document) Err() error {
	if len(d.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(d.faults, func(a, b Fault) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return &Errors{File: d.name, Faults: d.faults}
}

func (d *Document) fault(at place, path, message, remedy string) {
	if d.foreign || len(d.faults) >= maxFaults {
		return
	}
	d.faults = append(d.faults, Fault{
		Line: at.line, Column: at.column, Path: path, Message: message, Remedy: remedy, Excerpt: d.excerpt(at),
	})
}

// excerpt is the line with a caret under the column, cut to a screen's width around it.
func (d *Document) excerpt(at place) string {
	if at.line < 1 || at.line > len(d.lines) {
		return ""
	}
	const before, width = 60, 100
	line := []rune(strings.ReplaceAll(string(d.lines[at.line-1]), "\t", " "))
	for i, r := range line {
		if r < ' ' {
			line[i] = '\uFFFD'
		}
	}
	column := min(max(at.column-1, 0), len(line))
	from := max(column-before, 0)
	to := min(from+width, len(line))
	prefix := fmt.Sprintf("  %4d | ", at.line)
	return prefix + string(line[from:to]) + "\n" + strings.Repeat(" ", len(prefix)-2) + "| " + strings.Repeat(" ", column-from) + "^"
}
