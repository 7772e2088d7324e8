package mappings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-playground/validator/v10"

	"sheetlift/importers"
)

// rules are the checks a mapping declares for a field in the tag language of go-playground/validator.
type rules struct {
	tag string
	v   *validator.Validate
}

// ruleTags are the tags that a mapping may use, by what they check. What looks beyond the value is not among them: at other fields,
// the network, the file system or the host's time zones; results would then depend on more than the row. docs/mapping.md lists them.
var ruleTags = []struct {
	about string
	tags  []string
}{
	{"presence", []string{"required", "omitempty"}},
	{"length and size", []string{"len", "min", "max", "eq", "ne", "lt", "lte", "gt", "gte", "eq_ignore_case", "ne_ignore_case"}},
	{"words", []string{"oneof", "oneofci", "noneof", "noneofci"}},
	{"parts", []string{"contains", "containsany", "containsrune", "excludes", "excludesall", "excludesrune", "startswith", "endswith", "startsnotwith", "endsnotwith"}},
	{"characters", []string{"alpha", "alphaspace", "alphanum", "alphanumspace", "alphaunicode", "alphanumunicode", "ascii", "printascii", "multibyte", "lowercase", "uppercase",
		"boolean", "numeric", "number", "hexadecimal"}},
	{"digests and encodings", []string{"md4", "md5", "sha256", "sha384", "sha512", "ripemd128", "ripemd160", "tiger128", "tiger160", "tiger192", "base32", "base64", "base64url",
		"base64rawurl", "json", "jwt", "html", "html_encoded", "url_encoded", "datauri"}},
	{"ids", []string{"uuid", "uuid3", "uuid4", "uuid5", "uuid7", "uuid_rfc4122", "uuid3_rfc4122", "uuid4_rfc4122", "uuid5_rfc4122", "ulid", "mongodb", "luhn_checksum", "credit_card",
		"isbn", "isbn10", "isbn13", "issn", "bic", "bic_iso_9362_2014", "ein", "ssn", "cve", "semver", "urn_rfc2141", "urn_rfc8141"}},
	{"contact points and addresses", []string{"email", "e164", "url", "http_url", "https_url", "uri", "origin", "hostname", "hostname_rfc1123", "hostname_label", "hostname_port", "fqdn",
		"dns_rfc1035_label", "ip", "ipv4", "ipv6", "cidr", "cidrv4", "cidrv6", "mac", "latitude", "longitude"}},
	{"countries, languages, money", []string{"country_code", "eu_country_code", "iso3166_1_alpha2", "iso3166_1_alpha2_eu", "iso3166_1_alpha3", "iso3166_1_alpha3_eu",
		"iso3166_1_alpha_numeric", "iso3166_1_alpha_numeric_eu", "iso3166_2", "iso4217", "bcp47_language_tag", "bcp47_strict_language_tag",
		"postcode_iso3166_alpha2"}},
	{"times as text", []string{"datetime", "duration"}},
}

func ruleTag(name string) bool {
	for _, group := range ruleTags {
		if slices.Contains(group.tags, name) {
			return true
		}
	}
	return false
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
			if !ruleTag(name) {
				return nil, fmt.Errorf("the tag %q is not known or looks beyond the value", name)
			}
			alone := &rules{tag: strings.TrimSpace(alternative), v: r.v}
			if name == "omitempty" {
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
