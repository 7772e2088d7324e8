package staged

import (
	"math/bits"
	"sync"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// recycler allocates the memory of chunks and, when it is on, gives what was released to the next chunk. A file of a million records
// has a gigabyte of values, of which a reader that goes through them once needs a chunk at a time; without it the collector runs for
// every few of them.
type recycler struct {
	memory.GoAllocator
	mu   sync.Mutex
	on   bool
	free [64][][]byte // by the power of two that they have room for
}

// Allocate gives n bytes of any content: the Arrow library fills what it asks for when it reads.
func (r *recycler) Allocate(n int) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.on || n <= 0 {
		return r.GoAllocator.Allocate(n)
	}
	class := bits.Len(uint(n - 1))
	list := r.free[class]
	if len(list) == 0 {
		return r.GoAllocator.Allocate(1 << class)[:n]
	}
	r.free[class] = list[:len(list)-1]
	return list[len(list)-1][:n]
}

// Reallocate gives b another length, with its content.
func (r *recycler) Reallocate(n int, b []byte) []byte {
	if n <= cap(b) {
		return b[:n]
	}
	to := r.Allocate(n)
	copy(to, b)
	r.Free(b)
	return to
}

// Free takes b back.
func (r *recycler) Free(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := cap(b); r.on && n > 0 && n&(n-1) == 0 {
		class := bits.Len(uint(n - 1))
		r.free[class] = append(r.free[class], b[:0])
	}
}
