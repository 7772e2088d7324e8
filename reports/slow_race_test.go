//go:build race

package reports

// slow is how many seconds of processor time reports of 100,000 findings may take under the race detector.
const slow = 40
