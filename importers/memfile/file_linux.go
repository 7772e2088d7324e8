package memfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// create gives an empty file in memory, or nil. No other program gets hold of it.
func create() *os.File {
	fd, err := unix.MemfdCreate("sheetlift", unix.MFD_CLOEXEC|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate("sheetlift", unix.MFD_CLOEXEC)
	}
	if err != nil {
		return nil
	}
	return os.NewFile(uintptr(fd), "memfd")
}

// unlimitedFiles reports whether files may grow as they like (ulimit -f): a program that writes more is sent a signal.
func unlimitedFiles() bool {
	var limit unix.Rlimit
	return unix.Getrlimit(unix.RLIMIT_FSIZE, &limit) == nil && limit.Cur == unix.RLIM_INFINITY
}
