package store

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// ValueKind says which field of a Value counts.
type ValueKind uint8

// The kinds of a Value.
const (
	Null ValueKind = iota
	Int
	Text
)

// Value is one value of a row given to Load.
type Value struct {
	Kind ValueKind
	Int  int64
	Text string
}

// Source gives rows to Load, one after the other. It may be called from another goroutine than Load's caller, but never
// from two at once and never after Load returned.
type Source interface {
	// Next goes to the next row; false at the end or after an error.
	Next() bool
	// Values fills one Value a column, in the order of the columns given to Load. Texts must stay valid until Load returns.
	Values(dst []Value)
	// Err is the error that ended Next, if any.
	Err() error
}

// param is one bound argument.
type param struct {
	kind paramKind
	i    int64
	s    string
	b    []byte
}

type paramKind uint8

const (
	paramNull paramKind = iota
	paramInt
	paramText
	paramBlob
)

// toParams takes string, int, int64, bool, []byte, nil, pointers to them (nil is NULL), and named types of these.
func toParams(args []any) ([]param, error) {
	if len(args) == 0 {
		return nil, nil
	}
	params := make([]param, len(args))
	for i, a := range args {
		p, err := toParam(a)
		if err != nil {
			return nil, fmt.Errorf("argument $%d: %w", i+1, err)
		}
		params[i] = p
	}
	return params, nil
}

func toParam(a any) (param, error) {
	switch v := a.(type) {
	case nil:
		return param{}, nil
	case string:
		return textParam(v)
	case int64:
		return param{kind: paramInt, i: v}, nil
	case int:
		return param{kind: paramInt, i: int64(v)}, nil
	case bool:
		return boolParam(v), nil
	case []byte:
		if v == nil {
			return param{}, nil
		}
		return param{kind: paramBlob, b: v}, nil
	}
	v := reflect.ValueOf(a)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return param{}, nil
		}
		return toParam(v.Elem().Interface())
	}
	switch v.Kind() {
	case reflect.String:
		return textParam(v.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return param{kind: paramInt, i: v.Int()}, nil
	case reflect.Bool:
		return boolParam(v.Bool()), nil
	}
	return param{}, fmt.Errorf("unsupported type %T", a)
}

func textParam(s string) (param, error) {
	if err := checkText(s); err != nil {
		return param{}, err
	}
	return param{kind: paramText, s: s}, nil
}

func boolParam(b bool) param {
	p := param{kind: paramInt}
	if b {
		p.i = 1
	}
	return p
}

// checkText holds SQLite to what PostgreSQL takes, so that a batch tried on the one loads on the other.
func checkText(s string) error {
	if strings.IndexByte(s, 0) >= 0 || !utf8.ValidString(s) {
		return ErrText
	}
	return nil
}
