// Package memfile keeps long lists that are written once, from front to back, and then read in the same order, outside Go's heap: in a file that
// lies in memory and has no name (memfd_create(2)). Written and read by way of a small piece of memory that is used again, it costs a part of
// what the first touch of as much heap does on a virtual machine (docs/decisions/0017). Where there is no such file, or where memory or files
// are limited, a list lies in the heap, and nobody sees a difference but in time.
package memfile

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"unsafe"
)

// List is a list of values without pointers, in pieces of some 256 KiB. The zero List is empty.
type List[T any] struct {
	pieces []piece[T]
	last   []T // the piece that is appended to
	n      int
	file   *os.File
	size   int64 // of the file
	inHeap bool  // there is no file and will be none
}

// piece is a piece that nothing is appended to any more.
type piece[T any] struct {
	heap []T   // nil: it is in the file
	at   int64 // there
	n    int
}

// pieceBytes is the size of a piece, which it exceeds only if more is appended at once.
const pieceBytes = 256 << 10

// Len is how many values there are.
func (l *List[T]) Len() int { return l.n }

// Append appends values, which are copied, and says in which piece. What is appended at once lies in one piece.
func (l *List[T]) Append(v ...T) (piece int) {
	if most := pieceBytes / int(unsafe.Sizeof(*new(T))); len(l.last) > 0 && len(l.last)+len(v) > most {
		l.end()
	}
	l.last = append(l.last, v...)
	l.n += len(v)
	return len(l.pieces)
}

// end ends the last piece.
func (l *List[T]) end() {
	if l.file == nil && !l.inHeap {
		if unlimited() {
			l.file = create()
		}
		l.inHeap = l.file == nil
	}
	if l.file != nil {
		if n, err := l.file.WriteAt(bytesOf(l.last), l.size); err == nil {
			l.pieces = append(l.pieces, piece[T]{at: l.size, n: len(l.last)})
			l.size += int64(n)
			l.last = l.last[:0]
			return
		}
	}
	l.pieces = append(l.pieces, piece[T]{heap: l.last, n: len(l.last)})
	l.last = make([]T, 0, cap(l.last))
}

// Pieces is how many pieces there are.
func (l *List[T]) Pieces() int {
	if len(l.last) == 0 {
		return len(l.pieces)
	}
	return len(l.pieces) + 1
}

// Piece gives the values of a piece: in scratch, which it makes large enough, or where they lie. Nobody may change them. As long as nothing is
// appended, it may be called from many goroutines, each with a scratch of its own.
func (l *List[T]) Piece(i int, scratch *[]T) []T {
	if i == len(l.pieces) {
		return l.last
	}
	p := &l.pieces[i]
	if p.heap != nil {
		return p.heap
	}
	if cap(*scratch) < p.n {
		*scratch = make([]T, p.n)
	}
	v := (*scratch)[:p.n]
	if _, err := l.file.ReadAt(bytesOf(v), p.at); err != nil { // of memory: as likely as any other memory that can't be read
		panic(fmt.Sprintf("read memory back: %v", err))
	}
	return v
}

// Close gives all back. The list is empty then.
func (l *List[T]) Close() {
	if l.file != nil {
		l.file.Close()
	}
	*l = List[T]{}
}

// unlimited reports whether the program may take memory that Go does not count, and write as much as it likes.
func unlimited() bool { return debug.SetMemoryLimit(-1) == math.MaxInt64 && unlimitedFiles() }

func bytesOf[T any](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), uintptr(len(v))*unsafe.Sizeof(*new(T)))
}
