package hugepage

import "golang.org/x/sys/unix"

// advise ignores faults: a system without huge pages does without.
func advise(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
