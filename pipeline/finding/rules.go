package finding

import (
	"fmt"
	"slices"
)

// Rules is every rule the product raises, topic by topic. Ids are stable: scripts and waivers name them.
var Rules = slices.Concat(mappingRules, pipelineRules, hazardRules)

var rulesByID = func() map[string]int {
	m := make(map[string]int, len(Rules))
	for i, r := range Rules {
		if _, twice := m[r.ID]; twice {
			panic(fmt.Sprintf("finding rule %s is declared twice", r.ID))
		}
		m[r.ID] = i
	}
	return m
}()

// ByID returns the rule of that id.
func ByID(id string) (Rule, bool) {
	i, ok := rulesByID[id]
	if !ok {
		return Rule{}, false
	}
	return Rules[i], true
}

// New starts a finding of a declared rule: rule, class and severity are the rule's, message and remedy its meaning and its
// default remedy. The caller adds the place. An undeclared id is a fault of the program, so New panics.
func New(ruleID string) Finding {
	r, ok := ByID(ruleID)
	if !ok {
		panic(fmt.Sprintf("finding rule %q is not declared", ruleID))
	}
	return Finding{Rule: r.ID, Class: r.Class, Severity: r.Severity, Message: r.Meaning, Remedy: r.Remedy}
}
