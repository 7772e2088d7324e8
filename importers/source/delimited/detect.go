package delimited

import (
	"bytes"
	"slices"
)

// candidates are the delimiters that are recognised, in the order that breaks a tie.
var candidates = []byte{',', ';', '\t', '|'}

// detectDelimiter weighs the candidates on a sample of decoded text: the one under which quoting works out and most records
// have the same number of fields wins, more fields before fewer. Text in which no candidate splits anything is one column.
func detectDelimiter(sample []byte, whole bool) byte {
	best, found := verdict{}, byte(',')
	for _, d := range candidates {
		if v := weigh(sample, whole, d); v.better(best) {
			best, found = v, d
		}
	}
	return found
}

// verdict is how well a delimiter fits a sample.
type verdict struct {
	quality float64 // share of records that have the most frequent number of fields, less what quotes say against it
	fields  int     // that number, at least two; 0 when nothing is split
}

func (v verdict) better(o verdict) bool {
	switch {
	case v.fields < 2:
		return false
	case o.fields < 2:
		return true
	case v.quality >= 0.9 && o.quality >= 0.9:
		return v.fields > o.fields
	}
	return v.quality > o.quality
}

func weigh(sample []byte, whole bool, delimiter byte) verdict {
	s := scanner{delimiter: delimiter}
	var v verdict
	counts := map[int]int{}
	records, misquoted := 0, 0
	for at := 0; at < len(sample) && records < 1000; {
		rec, st := s.scan(sample, at, whole, nil)
		if st == recordCut {
			break
		}
		if st == recordUnclosed {
			misquoted += 5
			break
		}
		if at = rec.next; rec.blank {
			continue
		}
		misquoted += rec.stray
		counts[rec.fields]++
		records++
	}
	most := 0
	for n, k := range counts {
		if n >= 2 && (k > most || k == most && n > v.fields) {
			most, v.fields = k, n
		}
	}
	v.quality = float64(most-misquoted) / float64(max(records, 1))
	return v
}

// sepLine recognises a first line sep=X, by which spreadsheet programs are told the delimiter. It gives X and the length of
// the line with its end.
func sepLine(head []byte) (delimiter byte, length int, ok bool) {
	end := bytes.IndexAny(head, "\r\n")
	if end < 0 {
		end = len(head)
	}
	line := bytes.Trim(head[:end], `"`)
	if len(line) != 5 || !bytes.EqualFold(line[:4], []byte("sep=")) || line[4] == '"' {
		return 0, 0, false
	}
	if length = end; length < len(head) {
		length++
		if head[end] == '\r' && length < len(head) && head[length] == '\n' {
			length++
		}
	}
	return line[4], length, true
}

// lineEnds names the line ends of a sample, those inside quotes included.
func lineEnds(sample []byte) string {
	var kinds []string
	for i := 0; i < len(sample); i++ {
		k := ""
		switch {
		case sample[i] == '\n':
			k = "LF"
		case sample[i] == '\r' && i+1 < len(sample) && sample[i+1] == '\n':
			k = "CRLF"
			i++
		case sample[i] == '\r' && i+1 < len(sample):
			k = "CR"
		}
		if k != "" && !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	switch len(kinds) {
	case 0:
		return ""
	case 1:
		return kinds[0]
	}
	return "mixed"
}
