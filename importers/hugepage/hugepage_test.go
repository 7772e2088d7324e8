package hugepage

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

func TestRoomIsEmptyAndItsOwn(t *testing.T) {
	if got := Room(0); len(got) != 0 {
		t.Errorf("no room has %d bytes", len(got))
	}
	for _, n := range []int{1, 100, 5 * size} {
		a, b := Room(n), Room(n)
		if len(a) != 0 || cap(a) < n {
			t.Errorf("room for %d bytes: length %d, capacity %d", n, len(a), cap(a))
		}
		for range n {
			a, b = append(a, 'a'), append(b, 'b')
		}
		if !bytes.Equal(a, bytes.Repeat([]byte("a"), n)) || !bytes.Equal(b, bytes.Repeat([]byte("b"), n)) {
			t.Errorf("two rooms for %d bytes share memory", n)
		}
	}
}

// The heap must lie in huge pages after Heap where the system has them, and take no memory before it is written to.
func TestHeapIsInHugePages(t *testing.T) {
	if !onDemand() {
		t.Skip("this system gives no huge pages on demand")
	}
	const room = 64 << 20
	before := anonymous(t, "Anonymous:")
	Heap(room)
	if took := anonymous(t, "Anonymous:") - before; took > room/2 {
		t.Errorf("%d bytes are in use: the room was written to", took)
	}
	runtime.GC() // and what Heap has begun
	var written [][]byte
	for range room / 4096 { // small pieces, as a program makes them
		b := make([]byte, 4096)
		for i := range b {
			b[i] = 1
		}
		written = append(written, b)
	}
	if got := anonymous(t, "AnonHugePages:"); got < room/4 {
		t.Errorf("%d of %d bytes written lie in huge pages", got, room)
	}
	runtime.KeepAlive(written)
}

func TestHeapUnderALimit(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(256 << 20))
	before := heapFromSystem()
	Heap(128 << 20)
	if took := heapFromSystem() - before; took >= 128<<20 {
		t.Errorf("under a limit of memory the heap grew by %d bytes", took)
	}
}

func heapFromSystem() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapSys
}

// anonymous sums up what the system says of this process's memory under a name, in bytes.
func anonymous(t *testing.T, name string) (sum int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				t.Fatal(err)
			}
			sum += kib << 10
		}
	}
	return sum
}

// Several at once leave the collector as it was.
func TestHeapKeepsTheCollector(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(70))
	for range 5 {
		Heap(8 << 20)
	}
	heap.Lock()
	defer heap.Unlock()
	if got := debug.SetGCPercent(70); got != 70 {
		t.Errorf("garbage gathers up to %d percent afterwards", got)
	}
}
