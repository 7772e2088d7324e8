package hugepage

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// advise ignores faults: a system without huge pages does without.
func advise(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }

// onDemand reports whether the system gives huge pages to those that ask, and to no others.
func onDemand() bool {
	mode, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	return err == nil && bytes.Contains(mode, []byte("[madvise]"))
}

// allowed reports whether the system would let the heap grow by n bytes, and has no limit that these would take from: it may be told to
// promise no more than it has (vm.overcommit_memory), or a process no more than so many addresses (ulimit -v, ulimit -d).
func allowed(n int) bool {
	for _, what := range [...]int{unix.RLIMIT_AS, unix.RLIMIT_DATA} {
		var limit unix.Rlimit
		if err := unix.Getrlimit(what, &limit); err != nil || limit.Cur != unix.RLIM_INFINITY {
			return false
		}
	}
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	return err == nil && unix.Munmap(b) == nil
}
