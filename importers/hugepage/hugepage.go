// Package hugepage asks the system to back large blocks of memory by huge pages: memory that is read here and there, such as the
// shared strings of a workbook, is found quicker then. A dry-run takes a tenth less time.
package hugepage

import "unsafe"

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
