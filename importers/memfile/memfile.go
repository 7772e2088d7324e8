// Package memfile keeps lists that are written once, from front to back, and then only read, outside Go's heap: in a file that lies in
// memory and has no name (memfd_create(2)). What is written to such a file costs a fifth of the first touch of as much memory on a virtual
// machine (docs/decisions/0017). Where there is no such file, or where memory or files are limited, a list lies in the heap, and nobody sees a
// difference but in time.
package memfile

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"unsafe"

	"sheetlift/importers/hugepage"
)

// List is a list of values without pointers. The zero List is empty.
type List[T any] struct {
	most   int // how long it may become; 0: nobody knows
	file   *os.File
	n      int    // values in the file
	rest   []T    // what comes after them
	inHeap bool   // there is no file and will be none
	mapped []byte // the file, once the list is whole
}

// piece is how many bytes are written at once. A list of fewer stays in the heap.
const piece = 256 << 10

// New gives an empty list that will have at most so many values. Where it lies in the heap that is the room it takes there, of which only
// what is written to is used.
func New[T any](most int) List[T] { return List[T]{most: most} }

// Len is how many values were appended.
func (l *List[T]) Len() int { return l.n + len(l.rest) }

// Append appends values, which are copied.
func (l *List[T]) Append(v ...T) {
	if l.mapped != nil {
		panic("memfile: a list is appended to that is whole")
	}
	if len(l.rest) == 0 && len(bytesOf(v)) >= piece && l.write(v) {
		return
	}
	l.rest = append(l.rest, v...)
	if len(bytesOf(l.rest)) >= piece && l.write(l.rest) {
		l.rest = l.rest[:0]
	}
}

// write writes values to the file, and reports whether they are there.
func (l *List[T]) write(v []T) bool {
	if l.inHeap {
		return false
	}
	if l.file == nil && l.n == 0 && unlimited() {
		l.file = create()
	}
	if l.file != nil {
		if _, err := l.file.WriteAt(bytesOf(v), l.bytes()); err == nil {
			l.n += len(v)
			return true
		}
	}
	l.toHeap()
	return false
}

// bytes is how many bytes the file has.
func (l *List[T]) bytes() int64 { return int64(l.n) * int64(unsafe.Sizeof(*new(T))) }

// toHeap takes what the file has into the heap.
func (l *List[T]) toHeap() {
	l.inHeap = true
	size := int(unsafe.Sizeof(*new(T)))
	room := hugepage.Room(max(l.most, l.Len(), piece/size) * size)
	all := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(room))), cap(room)/size)[:l.n]
	if l.file != nil {
		if _, err := l.file.ReadAt(bytesOf(all), 0); err != nil { // of memory: as likely as any other memory that can't be read
			panic(fmt.Sprintf("read back memory: %v", err))
		}
		l.file.Close()
		l.file = nil
	}
	l.rest, l.n = append(all, l.rest...), 0
}

// Whole gives all values. Nothing may be appended any more, nothing changed, and nothing read once the list is closed.
func (l *List[T]) Whole() []T {
	if l.mapped == nil && l.file != nil {
		if len(l.rest) == 0 || l.write(l.rest) {
			l.rest = nil
			if l.mapped = view(l.file, int(l.bytes())); l.mapped == nil {
				l.toHeap()
			}
		}
	}
	if l.mapped == nil {
		return l.rest
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(l.mapped))), l.n)
}

// Close gives all back. The list is empty then.
func (l *List[T]) Close() {
	if l.mapped != nil {
		forget(l.mapped)
	}
	if l.file != nil {
		l.file.Close()
	}
	*l = List[T]{most: l.most}
}

// unlimited reports whether the program may take memory that Go does not count, and write as much as it likes.
func unlimited() bool { return debug.SetMemoryLimit(-1) == math.MaxInt64 && unlimitedFiles() }

func bytesOf[T any](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), uintptr(len(v))*unsafe.Sizeof(*new(T)))
}
