// Package hugepage asks the system to back large blocks of memory by huge pages: memory that is read here and there, such as the
// shared strings of a workbook, is found quicker then. A dry-run takes a tenth less time.
package hugepage

import (
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"unsafe"
)

// size is that of a huge page on most machines. Where it is another, the advice covers less or nothing.
const size = 2 << 20

// Advise asks for huge pages behind the room that b has, where whole ones fit. It promises nothing and changes no byte.
func Advise[T any](b []T) {
	var one T
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(b))), uintptr(cap(b))*unsafe.Sizeof(one))
	if len(bytes) < 2*size {
		return
	}
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(bytes))) % size)
	if whole := (len(bytes) - skip) / size * size; whole > 0 {
		advise(bytes[skip : skip+whole])
	}
}

// Heap asks for huge pages behind the n bytes by which the heap of this program grows next, where the system gives them on demand. Go asks for
// none, and the first touch of each small page is dear on a virtual machine: a dry-run takes a seventh less time. Only what is written to
// takes memory. Garbage is collected once, beside what comes next; under a memory limit (GOMEMLIMIT, or one of the system) nothing is asked.
func Heap(n int) {
	if !onDemand() || debug.SetMemoryLimit(-1) != math.MaxInt64 || !allowed(n) {
		return
	}
	heap.Lock()                       // or the percent of another call would be taken for that of the program
	percent := debug.SetGCPercent(-1) // such a piece would make the runtime collect garbage before it is some
	Room(n)                           // what is made later lies where it lay
	go func() {
		runtime.GC()
		debug.SetGCPercent(percent)
		heap.Unlock()
	}()
}

// heap is held until garbage is collected again as before.
var heap sync.Mutex

// Room gives an empty slice with room for n bytes, in huge pages where whole ones fit. The room is not cleared as make clears what the heap
// had used before: pages that nobody writes to cost nothing then.
func Room(n int) []byte {
	if n == 0 {
		return nil
	}
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0) // a string of no bytes need not say where it is
	room := unsafe.Slice(unsafe.StringData(b.String()), b.Cap())[:0]
	Advise(room)
	return room
}
