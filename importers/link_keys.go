package importers

import (
	"encoding/binary"
	"hash/maphash"

	"sheetlift/importers/hugepage"
)

// LinkKey is the digest of a key. The low bits of hi hold kind, system number and whether it is the last of its row.
type LinkKey struct{ hi, lo uint64 }

const (
	linkLast    = 1 << 0
	linkKindAt  = 1
	linkSysAt   = 3
	linkSystems = 1 << 13
	linkTag     = linkSystems<<linkSysAt - 2 // kind and system
)

func (k LinkKey) kind() int      { return int(k.hi >> linkKindAt & 3) }
func (k LinkKey) tag() uint64    { return k.hi & linkTag }
func (k LinkKey) last() bool     { return k.hi&linkLast != 0 }
func (k LinkKey) plain() LinkKey { return LinkKey{k.hi &^ linkLast, k.lo} }

// linkSystem is the number and the digest of a source system. Contact points have none, which is number 0.
type linkSystem struct{ number, digest uint64 }

// Linker digests the keys of one system's records, as Links keep them. It may be used beside the Links that it is of.
type Linker struct {
	seeds      [2]maphash.Seed
	system     linkSystem
	pseudonyms *Pseudonyms // nil: see NewLinks
}

// Linker makes a linker. Once the links are built it changes nothing: no row has keys of a system that is new then.
func (l *Links) Linker(system string) Linker {
	if system == "" {
		return Linker{seeds: l.seeds, pseudonyms: l.pseudonyms}
	}
	sys, ok := l.systems[system]
	if !ok {
		sys = linkSystem{uint64(len(l.systems)+1) % linkSystems, maphash.String(l.seeds[0], system)}
		if l.filter == nil {
			l.systems[system] = sys
		}
	}
	return Linker{l.seeds, sys, l.pseudonyms}
}

// Append appends the digests of keys of the linker's system, and of contact points.
func (l *Linker) Append(to []LinkKey, keys []Key) []LinkKey {
	for i := range keys {
		to = append(to, l.digest(&keys[i]))
	}
	return to
}

func (l *Linker) digest(k *Key) LinkKey {
	var sys linkSystem
	if k.System != "" {
		sys = l.system
	}
	var hi, lo uint64
	if l.pseudonyms != nil {
		hi, lo = l.pseudonyms.link(k)
	} else {
		hi, lo = maphash.String(l.seeds[0], k.Value)^sys.digest, maphash.String(l.seeds[1], k.Value)^sys.digest
	}
	tag := sys.number<<linkSysAt | uint64(kindOf(k))<<linkKindAt
	return LinkKey{hi&^(linkTag|linkLast) | tag, lo}
}

func (l *Links) digest(k *Key) LinkKey {
	by := l.Linker(k.System)
	return by.digest(k)
}

// Digests are those of keys of whatever systems.
func (l *Links) Digests(keys []Key) []LinkKey {
	list := make([]LinkKey, len(keys))
	for i := range keys {
		list[i] = l.digest(&keys[i])
	}
	return list
}

// AppendTo appends the digest to p, for ReadLinkKey.
func (k LinkKey) AppendTo(p []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(p, k.hi), k.lo)
}

// LinkKeyBytes is how many bytes AppendTo appends.
const LinkKeyBytes = 16

// ReadLinkKey reads what AppendTo wrote.
func ReadLinkKey(p []byte) LinkKey {
	return LinkKey{binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])}
}

func kindOf(k *Key) int {
	switch k.Kind {
	case "subject_id":
		return 0
	case "email":
		return 1
	case "phone":
		return 2
	}
	return 3
}

// linkFilter rules out most keys that are not in a set.
type linkFilter struct{ bits []uint64 }

func newLinkFilter(keys []LinkKey) *linkFilter {
	n := 1 << 10
	for n < len(keys)/4 {
		n *= 2
	}
	f := &linkFilter{bits: make([]uint64, n)}
	for _, k := range keys {
		f.add(k)
	}
	return f
}

// newWideFilter has room for the keys of any register.
func newWideFilter() *linkFilter {
	f := &linkFilter{bits: make([]uint64, 1<<19)}
	hugepage.Advise(f.bits)
	return f
}

// fill puts every key in.
func (f *linkFilter) fill() {
	for i := range f.bits {
		f.bits[i] = ^uint64(0)
	}
}

func (f *linkFilter) add(k LinkKey)      { i := f.at(k); f.bits[i/64] |= 1 << (i % 64) }
func (f *linkFilter) may(k LinkKey) bool { i := f.at(k); return f.bits[i/64]>>(i%64)&1 == 1 }
func (f *linkFilter) at(k LinkKey) uint64 {
	return k.lo >> 32 & uint64(len(f.bits)*64-1) // bits that keys which Counts takes for each other have not in common
}
