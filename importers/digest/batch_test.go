package digest

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// filled gives n bytes that differ from those of another seed.
func filled(n int, seed uint64) []byte {
	r, p := rand.New(rand.NewPCG(seed, uint64(n))), make([]byte, n)
	for i := range p {
		p[i] = byte(r.Uint32())
	}
	return p
}

// hold compares a batch of messages with crypto/sha256 and crypto/sha1.
func hold(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, b *Batch, messages ...[]byte) {
	t.Helper()
	b.Reset()
	for _, m := range messages {
		b.Add(append(b.Room(), m...))
	}
	of256 := b.SHA256()
	if len(of256) != len(messages) {
		t.Fatalf("%d digests of %d messages", len(of256), len(messages))
	}
	for i, m := range messages {
		if want := sha256.Sum256(m); of256[i] != want {
			t.Fatalf("SHA-256 of message %d of %d, %d bytes: %x, want %x", i, len(messages), len(m), of256[i], want)
		}
	}
	of1 := b.SHA1()
	if len(of1) != len(messages) {
		t.Fatalf("%d digests of %d messages", len(of1), len(messages))
	}
	for i, m := range messages {
		if want := sha1.Sum(m); of1[i] != Sum(append(want[:], make([]byte, len(Sum{})-len(want))...)) {
			t.Fatalf("SHA-1 of message %d of %d, %d bytes: %x, want %x", i, len(messages), len(m), of1[i], want)
		}
	}
}

// bothWays runs a test as this machine works, and one by one.
func bothWays(t *testing.T, f func(t *testing.T)) {
	if inPairs {
		t.Run("in pairs", f)
		inPairs = false
		defer func() { inPairs = true }()
	}
	t.Run("one by one", f)
}

func TestBatch(t *testing.T) {
	bothWays(t, func(t *testing.T) {
		var b Batch
		hold(t, &b)
		for n := range 301 {
			p := filled(n, 1)
			hold(t, &b, p)
			for _, other := range []int{0, 1, 55, 56, 63, 64, 65, 119, 120, 300, n} {
				q := filled(other, 2)
				hold(t, &b, p, q)
				hold(t, &b, q, p)
				hold(t, &b, q, p, q)
			}
		}
		large, small := filled(1<<20+55, 3), filled(3, 4)
		hold(t, &b, large, small, filled(1<<20+56, 5))
		hold(t, &b, small, large)
	})
}

// Where in memory the messages lie is of no matter.
func TestBatchAnywhere(t *testing.T) {
	for at := range 64 {
		room := make([]byte, 4096)
		b := Batch{blocks: room[at:at]}
		hold(t, &b, filled(200, 1), filled(130, 2), filled(64, 3))
		if &b.blocks[0] != &room[at] {
			t.Fatal("the messages lie elsewhere")
		}
	}
}

func TestBatchOfAny(t *testing.T) {
	bothWays(t, func(t *testing.T) {
		var b Batch
		rapid.Check(t, func(t *rapid.T) {
			hold(t, &b, rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 400)).Draw(t, "messages")...)
		})
	})
}

// Digests stay valid while another batch of messages is put together, and are those of the messages that were there.
func TestResetKeepsDigests(t *testing.T) {
	var b Batch
	b.Add(append(b.Room(), "first"...))
	sums := b.SHA256()
	b.Reset()
	b.Add(append(b.Room(), "second"...))
	if want := sha256.Sum256([]byte("first")); sums[0] != want {
		t.Errorf("%x, want %x", sums[0], want)
	}
	if want := sha256.Sum256([]byte("second")); len(b.SHA256()) != 1 || b.SHA256()[0] != want {
		t.Errorf("%x, want %x", b.SHA256(), want)
	}
}

func TestBatchKeepsItsMemory(t *testing.T) {
	bothWays(t, func(t *testing.T) {
		var b Batch
		p := filled(200, 1)
		if n := testing.AllocsPerRun(100, func() {
			b.Reset()
			for n := range 65 {
				b.Add(append(b.Room(), p[n:]...))
			}
			b.SHA256()
			b.SHA1()
		}); n > 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// FuzzBatch cuts data into messages whose lengths are in cuts.
func FuzzBatch(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add(filled(700, 1), []byte{55, 56, 0, 64, 200, 1})
	f.Fuzz(func(t *testing.T, data, cuts []byte) {
		var messages [][]byte
		for _, n := range cuts {
			n := min(int(n), len(data))
			messages, data = append(messages, data[:n]), data[n:]
		}
		hold(t, new(Batch), append(messages, data)...)
	})
}

// BenchmarkBatch reports the time for a message, of 64.
func BenchmarkBatch(b *testing.B) {
	const messages = 64
	for _, n := range []int{50, 110, 180, 240} {
		p := bytes.Repeat([]byte("a"), n)
		run := func(name string, f func()) {
			b.Run(fmt.Sprintf("%d bytes/%s", n, name), func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/messages, "ns/message")
				b.ReportMetric(0, "ns/op")
			})
		}
		batch := func(sums func(*Batch) []Sum) func() {
			var own Batch
			return func() {
				own.Reset()
				for range messages {
					own.Add(append(own.Room(), p...))
				}
				sums(&own)
			}
		}
		run("SHA-256 alone", func() {
			for range messages {
				sha256.Sum256(p)
			}
		})
		run("SHA-256 batch", batch((*Batch).SHA256))
		run("SHA-1 alone", func() {
			for range messages {
				sha1.Sum(p)
			}
		})
		run("SHA-1 batch", batch((*Batch).SHA1))
	}
}
