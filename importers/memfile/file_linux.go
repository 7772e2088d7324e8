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

// view gives n bytes of a file as they are read from memory, or nil.
func view(f *os.File, n int) []byte {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	var b []byte
	if conn.Control(func(fd uintptr) { b, err = unix.Mmap(int(fd), 0, n, unix.PROT_READ, unix.MAP_SHARED) }) != nil || err != nil {
		return nil
	}
	return b
}

func forget(b []byte) { _ = unix.Munmap(b) }
