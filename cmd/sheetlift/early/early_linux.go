package early

import (
	"runtime"
	"syscall"
	"unsafe"
)

const (
	ballastBytes = 40 << 20
	roomBytes    = 16 << 20 // what all packages need, and more

	hugePage   = 2 << 20 // on most machines
	adviseHuge = 14      // MADV_HUGEPAGE
)

func init() {
	if !free() {
		return
	}
	ballast = make([]byte, ballastBytes) // first, or it would lie in the room, and would have to be cleared
	advise(make([]byte, roomBytes))
	runtime.GC() // what is made next lies in the room
}

// advise asks for huge pages behind memory, as importers/hugepage does, which comes too late. A system that has none does without.
func advise(b []byte) {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := -from % hugePage
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, from+skip, (uintptr(len(b))-skip)/hugePage*hugePage, adviseHuge)
	runtime.KeepAlive(b)
}

// free reports whether the program may take addresses as it likes.
func free() bool {
	for _, name := range [...]string{"GOGC", "GOMEMLIMIT"} {
		if _, set := syscall.Getenv(name); set {
			return false
		}
	}
	for _, what := range [...]int{syscall.RLIMIT_AS, syscall.RLIMIT_DATA} {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(what, &limit); err != nil || limit.Cur != ^uint64(0) {
			return false
		}
	}
	b, err := syscall.Mmap(-1, 0, ballastBytes+roomBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	return err == nil && syscall.Munmap(b) == nil
}
