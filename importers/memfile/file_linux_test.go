package memfile

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// readOnly gives the file anew, as one that can't be written to.
func readOnly(t interface{ Fatal(...any) }, f *os.File, use func(*os.File)) {
	again, err := os.Open(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	use(again)
}

func open(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// What was closed is given back.
func TestClosedListsLeaveNothing(t *testing.T) {
	before := open(t)
	var l List[uint32]
	for range 3 {
		l.Append(make([]uint32, pieceBytes/4)...)
	}
	if l.file == nil {
		t.Fatal("it lies in the heap")
	}
	if l.Close(); open(t) != before {
		t.Errorf("%d files more", open(t)-before)
	}
}

// Under ulimit -f a write that is too long would end the program.
func TestLimitedFilesAreLeftAlone(t *testing.T) {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 1 << 40, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &was); err != nil {
			t.Error(err)
		}
	}()
	var l List[byte]
	defer l.Close()
	l.Append(make([]byte, pieceBytes)...)
	if l.Append(1); l.file != nil || l.Len() != pieceBytes+1 {
		t.Errorf("file %v, %d bytes", l.file, l.Len())
	}
}
