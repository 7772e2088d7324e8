package inflate

import (
	"io"
	"math/bits"
)

// Numbers of RFC 1951, 3.2.5 to 3.2.7.
const (
	maxLiterals  = 288 // codes that a literal/length table may have
	maxDistances = 32
	endOfBlock   = 256
	longestCode  = 15
)

// A table entry says what a code means. The lowest 6 bits are how many bits to take, those of the code and the extra bits
// after it; the 4 bits from codeAt on are how many of these are the code; from baseAt on stands the literal, or the length
// or distance to which the extra bits are added. An entry with isSub says where the codes longer than the table's index go
// on, and its field at codeAt by how many bits.
type entry = uint32

const (
	codeAt    = 8
	isEnd     = 1 << 13
	isSub     = 1 << 14
	isRare    = 1 << 15 // isEnd, isSub, or not a code
	baseAt    = 16
	isLiteral = 1 << 31
)

const (
	litBits  = 11
	litMask  = 1<<litBits - 1
	distBits = 9
	distMask = 1<<distBits - 1
)

// A complete code has at least two codes below each entry with isSub, so there are at most half as many of these as codes.
type (
	literals  [1<<litBits + maxLiterals/2<<(longestCode-litBits)]entry
	distances [1<<distBits + maxDistances/2<<(longestCode-distBits)]entry
)

// What the symbols mean; filled once.
var (
	literalMeaning  = literalMeanings()
	distanceMeaning = distanceMeanings()
)

// literalMeanings gives the entries of the symbols without their code: extra bits in the lowest 6 bits.
func literalMeanings() (m [maxLiterals]entry) {
	for i := range m {
		m[i] = isRare
	}
	for i := range endOfBlock {
		m[i] = isLiteral | entry(i)<<baseAt
	}
	m[endOfBlock] = isRare | isEnd
	length := 3
	for i := range 28 {
		extra := max(0, i/4-1)
		m[endOfBlock+1+i] = entry(length)<<baseAt | entry(extra)
		length += 1 << extra
	}
	m[285] = 258 << baseAt
	return m
}

func distanceMeanings() (m [maxDistances]entry) {
	back := 1
	for i := range m {
		if m[i] = isRare; i < 30 {
			extra := max(0, i/2-1)
			m[i] = entry(back)<<baseAt | entry(extra)
			back += 1 << extra
		}
	}
	return m
}

// useFixed makes the tables of fixed blocks, unless the last block had them.
func (d *Reader) useFixed() {
	if d.fixed {
		return
	}
	var lens [maxLiterals]uint8
	for i := range lens {
		switch {
		case i < 144 || i >= 280:
			lens[i] = 8
		case i < 256:
			lens[i] = 9
		default:
			lens[i] = 7
		}
	}
	build(d.lit[:], litBits, lens[:], literalMeaning[:])
	for i := range maxDistances {
		lens[i] = 5
	}
	build(d.dist[:], distBits, lens[:maxDistances], distanceMeaning[:])
	d.fixed = true
}

// order is the order in which the lengths of the codes for lengths come.
var order = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

const (
	shortBits = 7 // of the codes for lengths
)

// readTables reads the tables of a dynamic block.
func (d *Reader) readTables() error {
	d.fixed = false
	var counts [3]int
	for i, k := range [3]uint{5, 5, 4} {
		v, err := d.take(k)
		if err != nil {
			return err
		}
		counts[i] = v
	}
	nlit, ndist, nlen := counts[0]+257, counts[1]+1, counts[2]+4
	if nlit > 286 || ndist > 30 {
		return ErrCorrupt
	}
	var short [19]uint8
	for _, at := range order[:nlen] {
		v, err := d.take(3)
		if err != nil {
			return err
		}
		short[at] = uint8(v)
	}
	var table [1 << shortBits]entry
	var meaning [19]entry
	for i := range meaning {
		meaning[i] = entry(i) << baseAt
	}
	if !build(table[:], shortBits, short[:], meaning[:]) {
		return ErrCorrupt
	}
	lens := d.lens[:nlit+ndist]
	for i := 0; i < len(lens); {
		if d.n < shortBits+7 {
			if err := d.fill(); err != nil {
				return err
			}
		}
		e := table[d.bits&(1<<shortBits-1)]
		if e&isRare != 0 {
			return ErrCorrupt
		}
		d.bits >>= e & 63
		d.n -= uint(e & 63)
		symbol := e >> baseAt
		if symbol < 16 {
			lens[i] = uint8(symbol)
			i++
			continue
		}
		var again uint8
		least, extra := 3, uint(2)
		switch symbol {
		case 16:
			if i == 0 {
				return ErrCorrupt
			}
			again = lens[i-1]
		case 17:
			extra = 3
		default:
			least, extra = 11, 7
		}
		more, err := d.take(extra)
		if err != nil {
			return err
		}
		times := least + more
		if times > len(lens)-i {
			return ErrCorrupt
		}
		for range times {
			lens[i] = again
			i++
		}
	}
	if d.over() {
		return io.ErrUnexpectedEOF
	}
	if !build(d.lit[:], litBits, lens[:nlit], literalMeaning[:]) || !build(d.dist[:], distBits, lens[nlit:], distanceMeaning[:]) {
		return ErrCorrupt
	}
	return nil
}

// build makes the table for codes of these lengths, indexed by primary bits. It refuses lengths that are no complete code,
// but for a single code of one bit and for no code at all.
func build(table []entry, primary uint, lens []uint8, meaning []entry) bool {
	var count [longestCode + 1]int
	for _, n := range lens {
		count[n]++
	}
	longest := uint(longestCode)
	for longest > 0 && count[longest] == 0 {
		longest--
	}
	if longest == 0 || longest == 1 && count[1] == 1 {
		for i := range table[:1<<primary] {
			table[i] = isRare
		}
		if longest == 0 {
			return true
		}
	}
	var next [longestCode + 1]int // code of the next symbol of each length
	code := 0
	count[0] = 0
	for n := 1; n <= int(longest); n++ {
		code = (code + count[n-1]) << 1
		next[n] = code
	}
	if code+count[longest] != 1<<longest && (longest > 1 || count[1] != 1) {
		return false
	}
	free := 1 << primary // where the next table of longer codes goes
	deeper := max(longest, primary) - primary
	if longest > primary {
		for i := range table[:1<<primary] {
			table[i] = 0
		}
	}
	for symbol, n := range lens {
		if n == 0 {
			continue
		}
		k := uint(n)
		m := meaning[symbol]
		reversed := int(bits.Reverse16(uint16(next[n])) >> (16 - k))
		next[n]++
		if k <= primary {
			e := m + entry(k) | entry(k)<<codeAt
			for i := reversed; i < 1<<primary; i += 1 << k {
				table[i] = e
			}
			continue
		}
		at := &table[reversed&(1<<primary-1)]
		if *at == 0 {
			*at = isRare | isSub | entry(deeper)<<codeAt | entry(free)<<baseAt | entry(primary)
			free += 1 << deeper
		}
		k -= primary
		e := m + entry(k) | entry(k)<<codeAt
		sub := table[*at>>baseAt:][:1<<deeper]
		for i := reversed >> primary; i < len(sub); i += 1 << k {
			sub[i] = e
		}
	}
	return true
}
