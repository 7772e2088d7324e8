package memfile

import (
	"bytes"
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

func maps(t *testing.T) int {
	all, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(all, []byte("memfd:sheetlift"))
}

// What was closed is given back.
func TestClosedListsLeaveNothing(t *testing.T) {
	before := open(t)
	for _, whole := range []bool{true, false} {
		var l List[uint32]
		l.Append(make([]uint32, piece)...)
		if whole {
			l.Whole()
		}
		if l.file == nil || whole && maps(t) != 1 {
			t.Errorf("whole %v: file %v, %d maps", whole, l.file, maps(t))
		}
		if l.Close(); open(t) != before || maps(t) != 0 {
			t.Errorf("whole %v: %d files more, %d maps", whole, open(t)-before, maps(t))
		}
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
	if l.Append(make([]byte, 2*piece)...); l.file != nil || len(l.Whole()) != 2*piece {
		t.Errorf("file %v, %d bytes", l.file, len(l.Whole()))
	}
}
