package mappings

import (
	"regexp/syntax"
	"slices"

	"github.com/nyaruka/phonenumbers"
)

// phonePlans answers fast whether an international number is valid, from the numbering plans that the library itself uses.
// It only ever says yes, and only where the library says yes (a test holds it to that); everything else is the library's to
// judge. It is not safe for concurrent use.
type phonePlans struct {
	plans []callingCode // by calling code
	buf   []byte
}

type callingCode struct {
	asked, known bool
	plan         *phonePlan // nil: leave it to the library
}

// phonePlan is the numbering plan of the main region of a calling code.
type phonePlan struct {
	prefix  *automaton // national prefix; a number that begins with it is left to the library
	general *automaton
	types   []numberType
}

type numberType struct {
	lengths []int32
	pattern *automaton
}

// e164 gives the number in E.164 if s, which begins with + and holds only digits and phoneSigns after it, is surely valid.
func (p *phonePlans) e164(s []byte) ([]byte, bool) {
	p.buf = append(p.buf[:0], '+')
	for _, c := range s[1:] {
		if c >= '0' && c <= '9' {
			p.buf = append(p.buf, c)
		}
	}
	number := p.buf[1:]
	if len(s) < 2 || s[1] < '1' || s[1] > '9' || len(number) < 5 || len(number) > 15 {
		return nil, false
	}
	// Calling codes are prefix-free, so the first that is known is the right one.
	if p.plans == nil {
		p.plans = make([]callingCode, 1000)
	}
	code := 0
	for n := 1; n <= 3; n++ {
		code = code*10 + int(number[n-1]-'0')
		c := &p.plans[code]
		if !c.asked {
			c.plan, c.known = newPhonePlan(code)
			c.asked = true
		}
		if !c.known {
			continue
		}
		return p.buf, c.plan != nil && c.plan.valid(number[n:])
	}
	return nil, false
}

func (p *phonePlan) valid(national []byte) bool {
	if p.prefix != nil && p.prefix.begins(national) || !p.general.matches(national) {
		return false
	}
	for i := range p.types {
		t := &p.types[i]
		if (len(t.lengths) == 0 || slices.Contains(t.lengths, int32(len(national)))) && t.pattern.matches(national) {
			return true
		}
	}
	return false
}

// newPhonePlan reads the plan of a calling code; known is false if there is no such code.
func newPhonePlan(code int) (plan *phonePlan, known bool) {
	regions := phonenumbers.GetRegionCodesForCountryCode(code)
	if len(regions) == 0 {
		return nil, false
	}
	collection, err := phonenumbers.MetadataCollection()
	if err != nil || regions[0] == phonenumbers.REGION_CODE_FOR_NON_GEO_ENTITY {
		return nil, true
	}
	for _, m := range collection.GetMetadata() {
		if m.GetId() != regions[0] {
			continue
		}
		// A main region with leading digits does not own all valid numbers of its plan.
		if int(m.GetCountryCode()) != code || len(m.GetLeadingDigits()) > 0 {
			return nil, true
		}
		plan := &phonePlan{}
		if plan.general = newAutomaton(m.GetGeneralDesc().GetNationalNumberPattern()); plan.general == nil {
			return nil, true
		}
		if prefix := m.GetNationalPrefixForParsing(); prefix != "" {
			if plan.prefix = newAutomaton(prefix); plan.prefix == nil {
				return nil, true
			}
		}
		for _, d := range []*phonenumbers.PhoneNumberDesc{m.GetMobile(), m.GetFixedLine(), m.GetTollFree(), m.GetPremiumRate(), m.GetSharedCost(), m.GetVoip(), m.GetPersonalNumber(), m.GetPager(), m.GetUan(), m.GetVoicemail()} {
			if a := newAutomaton(d.GetNationalNumberPattern()); a != nil && d.GetNationalNumberPattern() != "" {
				plan.types = append(plan.types, numberType{d.GetPossibleLength(), a})
			}
		}
		return plan, true
	}
	return nil, true
}

// automaton matches a regular expression on digits by states that it works out when it first gets to them.
type automaton struct {
	prog   *syntax.Prog
	states []automatonState
	index  map[string]int32
}

type automatonState struct {
	next    [10]int32 // 0: not worked out; -1: no match any more
	accept  bool
	threads []uint32
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
	a := &automaton{prog: prog, states: make([]automatonState, 1), index: map[string]int32{}}
	a.state(a.closure(nil, uint32(prog.Start), make([]bool, len(prog.Inst))))
	return a
}

const maxAutomatonStates = 20_000

// matches reports whether the whole of s matches.
func (a *automaton) matches(s []byte) bool {
	at := int32(1)
	for _, c := range s {
		if at = a.step(at, c-'0'); at < 0 {
			return false
		}
	}
	return a.states[at].accept
}

// begins reports whether some beginning of s matches.
func (a *automaton) begins(s []byte) bool {
	at := int32(1)
	for _, c := range s {
		if a.states[at].accept {
			return true
		}
		if at = a.step(at, c-'0'); at < 0 {
			return false
		}
	}
	return a.states[at].accept
}

func (a *automaton) step(at int32, digit byte) int32 {
	if next := a.states[at].next[digit]; next != 0 {
		return next
	}
	var threads []uint32
	seen := make([]bool, len(a.prog.Inst))
	for _, pc := range a.states[at].threads {
		if in := &a.prog.Inst[pc]; in.Op != syntax.InstMatch && in.MatchRune(rune('0'+digit)) {
			threads = a.closure(threads, in.Out, seen)
		}
	}
	next := int32(-1)
	if len(threads) > 0 && len(a.states) < maxAutomatonStates {
		next = a.state(threads)
	}
	a.states[at].next[digit] = next
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
	n := int32(len(a.states))
	a.states = append(a.states, automatonState{accept: accept, threads: threads})
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
