package mappings

import (
	"fmt"
	"strings"

	"github.com/go-playground/validator/v10"

	"sheetlift/importers"
)

// rules are the checks a mapping declares for a field in the tag language of go-playground/validator.
type rules struct {
	tag string
	v   *validator.Validate
}

// refusedTags are tags that look beyond the value: at other fields, the network or the file system. Results would then depend
// on more than the row.
var refusedTags = map[string]bool{
	"file": true, "dir": true, "image": true, "filepath": true, "dirpath": true, "dive": true, "keys": true, "endkeys": true, "structonly": true,
	"nostructlevel": true, "validateFn": true, "unique": true, "isdefault": true,
	"tcp_addr": true, "tcp4_addr": true, "tcp6_addr": true, "udp_addr": true, "udp4_addr": true, "udp6_addr": true,
	"ip_addr": true, "ip4_addr": true, "ip6_addr": true, "unix_addr": true, "uds_exists": true,
}

// compileRules tries every tag by itself, because validator reports a bad tag only by panicking when it gets to it.
func compileRules(tag string, typ importers.Type) (*rules, error) {
	if typ == importers.Bool {
		return nil, fmt.Errorf("rules are for texts and numbers, not for bool")
	}
	r := &rules{tag: tag, v: validator.New()}
	for _, one := range strings.Split(tag, ",") {
		for _, alternative := range strings.Split(one, "|") {
			name, _, _ := strings.Cut(strings.TrimSpace(alternative), "=")
			if name == "" {
				return nil, fmt.Errorf("an empty tag stands in %q", tag)
			}
			if refusedTags[name] || strings.Contains(name, "field") || strings.HasPrefix(name, "required_") || strings.HasPrefix(name, "excluded_") || strings.HasPrefix(name, "skip_") {
				return nil, fmt.Errorf("the tag %q looks beyond the value and is not allowed", name)
			}
			alone := &rules{tag: strings.TrimSpace(alternative), v: r.v}
			if name == "omitempty" || name == "omitnil" || name == "omitzero" {
				continue
			}
			for _, sample := range ruleSamples(typ) {
				if _, err := alone.holds(sample); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, sample := range ruleSamples(typ) {
		if _, err := r.holds(sample); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func ruleSamples(typ importers.Type) []any {
	if typ == importers.Integer {
		return []any{int64(0), int64(12)}
	}
	return []any{"", "x"}
}

// holds reports whether value keeps the rules; the error says that the tag itself can't be evaluated.
func (r *rules) holds(value any) (ok bool, err error) {
	defer func() {
		if recover() != nil {
			ok, err = false, fmt.Errorf("the rules %q can't be evaluated: a tag or its parameter is wrong", r.tag)
		}
	}()
	return r.v.Var(value, r.tag) == nil, nil
}
