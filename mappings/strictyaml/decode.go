package strictyaml

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// OneOrMore marks a slice type that a single value may stand for: format: X is format: [X].
type OneOrMore interface{ OneOrMore() }

// Scalar is a struct type that a plain scalar may stand for.
type Scalar interface{ FromScalar(s string) error }

// Decode fills v, a pointer to a struct whose fields have yaml tags, and records what doesn't fit. Supported are structs,
// pointers, slices, maps with text keys, strings, ints and uints of every size, and bools. A missing key leaves its field as it
// is. A file that is no mapping at all is one fault without an excerpt: it is another file given by mistake, and its lines may
// hold anything.
func (d *Document) Decode(v any) {
	if _, ok := pairs(d.root); !ok {
		d.refuseForeign(nodeName(d.root))
		return
	}
	d.places[""] = d.at(d.root)
	d.node("", d.root, reflect.ValueOf(v).Elem())
}

func (d *Document) at(n ast.Node) place {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 && !m.IsFlowStyle {
		return d.at(m.Values[0].Key)
	}
	if v, ok := n.(*ast.MappingValueNode); ok {
		return d.at(v.Key)
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return place{t.Position.Line, t.Position.Column}
	}
	return place{1, 1}
}

func (d *Document) node(path string, n ast.Node, v reflect.Value) {
	if v.Kind() == reflect.Pointer {
		if !isNull(n) {
			v.Set(reflect.New(v.Type().Elem()))
			d.node(path, n, v.Elem())
			return
		}
	}
	if s, ok := v.Addr().Interface().(Scalar); ok {
		if text, is := scalar(n); is {
			if err := s.FromScalar(text); err != nil {
				d.fault(d.at(n), path, err.Error(), "")
			}
			return
		}
	}
	if isNull(n) {
		d.fault(d.at(n), path, "there is no value", "give "+kindName(v.Type())+", or remove the key")
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.mapping(path, n, v)
	case reflect.Map:
		d.dictionary(path, n, v)
	case reflect.Slice:
		d.sequence(path, n, v)
	case reflect.String:
		text, ok := scalar(n)
		if !ok {
			d.mismatch(path, n, v)
			return
		}
		v.SetString(text)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		d.integer(path, n, v)
	case reflect.Bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			d.mismatch(path, n, v)
			return
		}
		v.SetBool(b.Value)
	default:
		panic("strictyaml: a field of type " + v.Type().String() + " cannot be decoded")
	}
}

// integer reads a whole number in decimal digits; one that the field can't hold is a fault that says the bounds.
func (d *Document) integer(path string, n ast.Node, v reflect.Value) {
	text, ok := scalar(n)
	_, isInt := n.(*ast.IntegerNode)
	if n.GetToken().Type == token.StringType { // what fits no 64 bits comes as a word
		digits := strings.TrimPrefix(text, "-")
		isInt = digits != "" && strings.Trim(digits, "0123456789") == ""
	}
	if !ok || !isInt {
		d.mismatch(path, n, v)
		return
	}
	bits := v.Type().Bits()
	var low, high string
	var err error
	if v.CanInt() {
		var i int64
		if i, err = strconv.ParseInt(text, 10, bits); err == nil {
			v.SetInt(i)
		}
		low, high = strconv.FormatInt(-1<<(bits-1), 10), strconv.FormatInt(1<<(bits-1)-1, 10)
	} else {
		var u uint64
		if u, err = strconv.ParseUint(text, 10, bits); err == nil {
			v.SetUint(u)
		}
		low, high = "0", strconv.FormatUint(1<<bits-1, 10)
	}
	switch {
	case err == nil:
	case errors.Is(err, strconv.ErrRange) || low == "0" && strings.HasPrefix(text, "-"):
		d.fault(d.at(n), path, "the number is out of range", "write a whole number from "+low+" to "+high)
	default:
		d.fault(d.at(n), path, "this is not a whole number in decimal digits", "write digits only, such as 1000000")
	}
}

func isNull(n ast.Node) bool {
	_, null := n.(*ast.NullNode)
	return null
}

func (d *Document) mismatch(path string, n ast.Node, v reflect.Value) {
	d.fault(d.at(n), path, "this is "+nodeName(n)+" where "+kindName(v.Type())+" is expected", "")
}

// pairs gives the entries of a mapping; ok is false if n is none.
func pairs(n ast.Node) (list []*ast.MappingValueNode, ok bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	}
	return nil, false
}

func (d *Document) mapping(path string, n ast.Node, v reflect.Value) {
	list, ok := pairs(n)
	if !ok {
		d.mismatch(path, n, v)
		return
	}
	fields := map[string][]int{}
	names := []string{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); name != "" && name != "-" {
			fields[name] = f.Index
			names = append(names, name)
		}
	}
	seen := map[string]place{}
	for _, kv := range list {
		key, at := keyText(kv), d.at(kv.Key)
		sub := join(path, key)
		if first, twice := seen[key]; twice {
			d.fault(at, sub, fmt.Sprintf("key %q stands here a second time; the first is in line %d", key, first.line), "keep one of them")
			continue
		}
		seen[key] = at
		if d.NullIsAbsent && isNull(kv.Value) {
			if _, known := fields[key]; known {
				continue
			}
		}
		d.places[sub] = at
		index, known := fields[key]
		if !known {
			remedy := "known keys: " + strings.Join(names, ", ")
			if near := Nearest(key, names); near != "" {
				remedy = fmt.Sprintf("did you mean %q? %s", near, remedy)
			}
			d.fault(at, sub, fmt.Sprintf("unknown key %q", key), remedy)
			continue
		}
		d.node(sub, kv.Value, v.FieldByIndex(index))
	}
}

func (d *Document) dictionary(path string, n ast.Node, v reflect.Value) {
	list, ok := pairs(n)
	if !ok {
		d.mismatch(path, n, v)
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(list)))
	seen := map[string]place{}
	for _, kv := range list {
		key, at := keyText(kv), d.at(kv.Key)
		sub := join(path, key)
		if first, twice := seen[key]; twice {
			d.fault(at, sub, fmt.Sprintf("key %q stands here a second time; the first is in line %d", key, first.line), "keep one of them")
			continue
		}
		seen[key] = at
		if d.NullIsAbsent && isNull(kv.Value) {
			continue
		}
		d.places[sub] = at
		e := reflect.New(v.Type().Elem()).Elem()
		d.node(sub, kv.Value, e)
		v.SetMapIndex(reflect.ValueOf(key), e)
	}
}

func (d *Document) sequence(path string, n ast.Node, v reflect.Value) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		if _, one := v.Interface().(OneOrMore); !one {
			d.mismatch(path, n, v)
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		d.node(path, n, v.Index(0))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)))
	for i, item := range seq.Values {
		sub := path + "[" + strconv.Itoa(i) + "]"
		d.places[sub] = d.at(item)
		d.node(sub, item, v.Index(i))
	}
}

// scalar gives the text of a plain, quoted or block scalar as the file has it; null is no scalar.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func keyText(kv *ast.MappingValueNode) string {
	if s, ok := scalar(kv.Key); ok {
		return s
	}
	return kv.Key.GetToken().Value
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func nodeName(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode:
		if n.GetToken().Type == token.StringType {
			return "a word"
		}
		return "a quoted text"
	case *ast.LiteralNode:
		return "a text"
	case *ast.BoolNode:
		return "true or false"
	case *ast.NullNode:
		return "nothing"
	}
	return "a number"
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindName(t.Elem())
	case reflect.Struct, reflect.Map:
		return "a mapping (key: value)"
	case reflect.Slice:
		return "a list"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	}
	return "a text"
}

// Nearest returns the name closest to word, or "" if none is near enough to be a slip of the pen.
func Nearest(word string, names []string) string {
	best, bestDistance := "", max(2, len(word)/3)+1
	for _, name := range names {
		if d := distance(strings.ToLower(word), strings.ToLower(name)); d < bestDistance {
			best, bestDistance = name, d
		}
	}
	return best
}

// distance is Levenshtein's, with an exchange of two neighbours counted once; long words are never near.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	if len(x) > 64 || len(y) > 64 {
		return 1 << 20
	}
	var two []int
	one := make([]int, len(y)+1)
	for j := range one {
		one[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row := make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			change := one[j-1]
			if x[i-1] != y[j-1] {
				change++
			}
			row[j] = min(one[j]+1, row[j-1]+1, change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], two[j-2]+1)
			}
		}
		two, one = one, slices.Clone(row)
	}
	return one[len(y)]
}
