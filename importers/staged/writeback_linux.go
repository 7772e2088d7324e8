package staged

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriting asks the system to begin putting a range of the file on the disk, so that the sync at the end has little left to do. It
// promises nothing, so its faults don't matter.
func startWriting(f *os.File, from, n int64) {
	c, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = c.Control(func(fd uintptr) { _ = unix.SyncFileRange(int(fd), from, n, unix.SYNC_FILE_RANGE_WRITE) })
}
