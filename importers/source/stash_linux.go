package source

import (
	"os"

	"golang.org/x/sys/unix"
)

// giveBack gives back the room of n bytes from an offset on. It ignores faults: on a file system that can't, the room is given back with the file.
func giveBack(f *os.File, from, n int64) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) {
		_ = unix.Fallocate(int(fd), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, n)
	})
}
