package mappings

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/nyaruka/phonenumbers"
)

// phonePlans answers fast whether a telephone number is valid, from the numbering plans that the library itself uses. It only ever
// says yes, and only where the library says yes (a test holds it to that); everything else is the library's to judge. It is not
// safe for concurrent use.
type phonePlans struct {
	codes []callingCode // by calling code
	buf   []byte

	// Of the last region that was asked for:
	region   string
	home     *callingCode
	homePlan *phonePlan // nil: leave it to the library
}

// callingCode are the plans of the regions that share a calling code, in the library's order: a number is of the first that claims it.
type callingCode struct {
	asked, known bool
	plans        []*phonePlan // nil: leave it to the library
}

// phonePlan is the numbering plan of a region.
type phonePlan struct {
	region, code string
	abroad       *automaton     // what is dialled before a calling code
	trunk        string         // what is dialled before a national number
	prefix       *regexp.Regexp // what may stand before one, trunk or more; nil if nothing does
	begins       *automaton     // the same; nil if it is more than an automaton can do
	rewrites     bool           // a prefix whose last group matches is rewritten, not taken away
	leading      *automaton     // how the region's numbers begin, if that tells them from others of the calling code
	general      numberType
	types        []numberType
	formats      []nationalFormat // of a calling code's numbers; the first region's hold for all
}

// nationalFormat is how some numbers are written at home.
type nationalFormat struct {
	leading *automaton // nil: any
	pattern *automaton
	zero    bool // with a zero before
}

type numberType struct {
	lengths []int32
	pattern *automaton
}

const (
	maxPhoneText   = 200 // the library reads 250 bytes
	maxPhoneDigits = 15  // of E.164
)

// international gives the number in E.164 if s, which follows a plus and holds only digits and phoneSigns, is surely valid.
func (p *phonePlans) international(s []byte) ([]byte, bool) {
	number, ok := p.digits(s)
	if !ok || number[0] == '0' {
		return nil, false
	}
	// Calling codes are prefix-free, so the first that is known is the right one.
	code := 0
	for n := 1; n <= 3; n++ {
		code = code*10 + int(number[n-1]-'0')
		c := p.code(code)
		if !c.known {
			continue
		}
		if len(c.plans) == 0 {
			return nil, false
		}
		main := c.plans[0]
		national, ok := main.national(number[n:])
		if !ok || !c.valid(national) {
			return nil, false
		}
		return p.e164(main, national), true
	}
	return nil, false
}

// national gives the number in E.164 if s, which holds only digits and phoneSigns, is surely valid as people write it in the region,
// and has lost no zero.
func (p *phonePlans) national(s []byte, region string) ([]byte, bool) {
	if p.region != region {
		p.region, p.home, p.homePlan = region, p.code(phonenumbers.GetCountryCodeForRegion(region)), nil
		if at := slices.IndexFunc(p.home.plans, func(plan *phonePlan) bool { return plan.region == region }); at >= 0 {
			p.homePlan = p.home.plans[at]
		}
	}
	plan := p.homePlan
	if plan == nil {
		return nil, false
	}
	number, ok := p.digits(s)
	if !ok || plan.mayBeAbroad(number) {
		return nil, false
	}
	national, ok := plan.national(number)
	if !ok || national[0] == '0' || !p.home.valid(national) {
		return nil, false
	}
	if stripped := number[:len(number)-len(national)]; string(stripped) != plan.trunk && (len(stripped) > 0 || zeroGetsLost(plan.trunk, region) && p.home.plans[0].writesZero(national)) {
		return nil, false
	}
	return p.e164(plan, national), true
}

// mayBeAbroad reports whether a number that people write in the region may be an international one.
func (p *phonePlan) mayBeAbroad(number []byte) bool {
	return p.abroad.begins(number) || len(number) > len(p.code) && string(number[:len(p.code)]) == p.code && !p.general.matches(number)
}

// digits gives the digits of s, if they may be those of a number.
func (p *phonePlans) digits(s []byte) (number []byte, ok bool) {
	p.buf = p.buf[:0]
	for _, c := range s {
		if c >= '0' && c <= '9' {
			p.buf = append(p.buf, c)
		}
	}
	return p.buf, len(s) <= maxPhoneText && len(p.buf) >= 5 && len(p.buf) <= maxPhoneDigits
}

// e164 writes a national number out.
func (p *phonePlans) e164(plan *phonePlan, national []byte) []byte {
	from := len(p.buf)
	p.buf = append(append(append(p.buf, '+'), plan.code...), national...)
	return p.buf[from:]
}

func (p *phonePlans) code(code int) *callingCode {
	if p.codes == nil {
		p.codes = make([]callingCode, 1000)
	}
	c := &p.codes[code]
	if !c.asked {
		c.plans, c.known = newPhonePlans(code)
		c.asked = true
	}
	return c
}

// valid reports whether a national number is valid in the region that it is of.
func (c *callingCode) valid(national []byte) bool {
	for _, plan := range c.plans {
		switch {
		case plan.leading != nil:
			if plan.leading.begins(national) {
				return plan.valid(national)
			}
		case plan.valid(national):
			return true
		}
	}
	return false
}

func (p *phonePlan) valid(national []byte) bool {
	return p.general.matches(national) && slices.ContainsFunc(p.types, func(t numberType) bool { return t.matches(national) })
}

// writesZero reports whether a national number is written with a zero before it.
func (p *phonePlan) writesZero(national []byte) bool {
	for _, f := range p.formats {
		if (f.leading == nil || f.leading.begins(national)) && f.pattern.matches(national) {
			return f.zero
		}
	}
	return false
}

// national gives what is left of digits when a national prefix is taken away as the library does; ok is false if that is not sure.
func (p *phonePlan) national(digits []byte) (national []byte, ok bool) {
	if p.prefix == nil || p.begins != nil && !p.begins.begins(digits) {
		return digits, true
	}
	found := p.prefix.FindSubmatchIndex(digits)
	switch {
	case found == nil:
		return digits, true
	case p.rewrites && found[len(found)-1] >= 0:
		return nil, false
	}
	// What is left must be a number of a length that is dialled from anywhere, else the library may leave the prefix where it is.
	national = digits[found[1]:]
	return national, p.general.matches(national)
}

func (t *numberType) matches(national []byte) bool {
	return (len(t.lengths) == 0 || slices.Contains(t.lengths, int32(len(national)))) && t.pattern.matches(national)
}

// newPhonePlans reads the plans of a calling code; known is false if there is no such code.
func newPhonePlans(code int) (plans []*phonePlan, known bool) {
	regions := phonenumbers.GetRegionCodesForCountryCode(code)
	if len(regions) == 0 {
		return nil, false
	}
	collection, err := phonenumbers.MetadataCollection()
	if err != nil || regions[0] == phonenumbers.REGION_CODE_FOR_NON_GEO_ENTITY {
		return nil, true
	}
	for _, region := range regions {
		at := slices.IndexFunc(collection.GetMetadata(), func(m *phonenumbers.PhoneMetadata) bool { return m.GetId() == region })
		if at < 0 {
			return nil, true
		}
		plan := newPhonePlan(collection.GetMetadata()[at])
		if plan == nil || plan.code != strconv.Itoa(code) {
			return nil, true
		}
		plans = append(plans, plan)
	}
	return plans, true
}

// newPhonePlan reads the plan of a region; nil if there is more to it than a phonePlan can hold.
func newPhonePlan(m *phonenumbers.PhoneMetadata) *phonePlan {
	plan := &phonePlan{region: m.GetId(), code: strconv.Itoa(int(m.GetCountryCode())), trunk: m.GetNationalPrefix()}
	general := m.GetGeneralDesc()
	plan.general = numberType{general.GetPossibleLength(), newAutomaton(general.GetNationalNumberPattern())}
	plan.abroad = newAutomaton(m.GetInternationalPrefix())
	if plan.general.pattern == nil || plan.abroad == nil || m.GetInternationalPrefix() == "" {
		return nil
	}
	if leading := m.GetLeadingDigits(); leading != "" {
		if plan.leading = newAutomaton(leading); plan.leading == nil {
			return nil
		}
	}
	if prefix := m.GetNationalPrefixForParsing(); prefix != "" {
		plan.prefix, plan.begins = regexp.MustCompile("^(?:"+prefix+")"), newAutomaton(prefix)
		plan.rewrites = m.GetNationalPrefixTransformRule() != ""
	}
	for _, f := range m.GetNumberFormat() {
		format := nationalFormat{pattern: newAutomaton(f.GetPattern()), zero: strings.Contains(f.GetNationalPrefixFormattingRule(), "0")}
		if all := f.GetLeadingDigitsPattern(); len(all) > 0 {
			format.leading = newAutomaton(all[len(all)-1]) // the last is the most detailed
		}
		if format.pattern == nil || format.leading == nil && len(f.GetLeadingDigitsPattern()) > 0 {
			return nil
		}
		plan.formats = append(plan.formats, format)
	}
	for _, d := range []*phonenumbers.PhoneNumberDesc{m.GetMobile(), m.GetFixedLine(), m.GetTollFree(), m.GetPremiumRate(), m.GetSharedCost(), m.GetVoip(), m.GetPersonalNumber(), m.GetPager(), m.GetUan(), m.GetVoicemail()} {
		if d.GetNationalNumberPattern() == "" {
			continue
		}
		pattern := newAutomaton(d.GetNationalNumberPattern())
		if pattern == nil {
			return nil // a later region's yes may be this one's number
		}
		plan.types = append(plan.types, numberType{d.GetPossibleLength(), pattern})
	}
	return plan
}

// automaton matches a regular expression on digits by states that it works out when it first gets to them.
type automaton struct {
	prog    *syntax.Prog
	next    [][10]int32 // of each state, by digit: 0 if it is not worked out; -1: no match any more
	accepts []bool
	threads [][]uint32
	index   map[string]int32
}

// newAutomaton compiles a pattern; nil if it is more than the automaton can do.
func newAutomaton(pattern string) *automaton {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil
	}
	for i := range prog.Inst {
		if prog.Inst[i].Op == syntax.InstEmptyWidth {
			return nil
		}
	}
	// State 0 is never reached, so that 0 can mean "not worked out".
	a := &automaton{prog: prog, next: make([][10]int32, 1), accepts: make([]bool, 1), threads: make([][]uint32, 1), index: map[string]int32{}}
	a.state(a.closure(nil, uint32(prog.Start), make([]bool, len(prog.Inst))))
	return a
}

const maxAutomatonStates = 20_000

// matches reports whether the whole of s matches.
func (a *automaton) matches(s []byte) bool {
	at := int32(1)
	for _, c := range s {
		next := a.next[at][c-'0']
		if next == 0 {
			next = a.step(at, c-'0')
		}
		if at = next; at < 0 {
			return false
		}
	}
	return a.accepts[at]
}

// begins reports whether some beginning of s matches.
func (a *automaton) begins(s []byte) bool {
	at := int32(1)
	for _, c := range s {
		if a.accepts[at] {
			return true
		}
		next := a.next[at][c-'0']
		if next == 0 {
			next = a.step(at, c-'0')
		}
		if at = next; at < 0 {
			return false
		}
	}
	return a.accepts[at]
}

// step works out a state's next.
func (a *automaton) step(at int32, digit byte) int32 {
	var threads []uint32
	seen := make([]bool, len(a.prog.Inst))
	for _, pc := range a.threads[at] {
		if in := &a.prog.Inst[pc]; in.Op != syntax.InstMatch && in.MatchRune(rune('0'+digit)) {
			threads = a.closure(threads, in.Out, seen)
		}
	}
	next := int32(-1)
	if len(threads) > 0 && len(a.next) < maxAutomatonStates {
		next = a.state(threads)
	}
	a.next[at][digit] = next
	return next
}

// state gives the number of the state with these threads.
func (a *automaton) state(threads []uint32) int32 {
	slices.Sort(threads)
	key := make([]byte, 0, 4*len(threads))
	accept := false
	for _, pc := range threads {
		key = append(key, byte(pc), byte(pc>>8), byte(pc>>16), byte(pc>>24))
		accept = accept || a.prog.Inst[pc].Op == syntax.InstMatch
	}
	if n, ok := a.index[string(key)]; ok {
		return n
	}
	n := int32(len(a.next))
	a.next, a.accepts, a.threads = append(a.next, [10]int32{}), append(a.accepts, accept), append(a.threads, threads)
	a.index[string(key)] = n
	return n
}

// closure adds the instructions that are reached from pc without reading a digit.
func (a *automaton) closure(threads []uint32, pc uint32, seen []bool) []uint32 {
	if seen[pc] {
		return threads
	}
	seen[pc] = true
	switch in := &a.prog.Inst[pc]; in.Op {
	case syntax.InstAlt, syntax.InstAltMatch:
		return a.closure(a.closure(threads, in.Out, seen), in.Arg, seen)
	case syntax.InstCapture, syntax.InstNop:
		return a.closure(threads, in.Out, seen)
	case syntax.InstFail:
		return threads
	}
	return append(threads, pc)
}
