package digest

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
)

// Sum is a digest. A SHA-1 has zeros after its 20 bytes.
type Sum = [sha256.Size]byte

// Batch is messages that are digested together. It is not for concurrent use.
type Batch struct {
	blocks []byte // the messages, padded as both functions want it (FIPS 180-4, 5.1.1)
	ends   []int  // where each ends
	sums   []Sum
}

const blockSize = 64 // of both functions

var padding = [blockSize + 8]byte{0x80}

// Reset forgets all messages. Their digests stay valid.
func (b *Batch) Reset() { b.blocks, b.ends = b.blocks[:0], b.ends[:0] }

// Size is how many bytes the messages take.
func (b *Batch) Size() int { return len(b.blocks) }

// Room is what the next message is appended to. Add then takes both.
func (b *Batch) Room() []byte { return b.blocks }

// Add takes a message that was appended to Room.
func (b *Batch) Add(room []byte) {
	from := len(b.blocks)
	n := len(room) - from
	end := from + (n+8)/blockSize*blockSize + blockSize
	room = append(room, padding[:]...)[:end]
	binary.BigEndian.PutUint64(room[end-8:], uint64(n)*8)
	b.blocks, b.ends = room, append(b.ends, end)
}

// SHA256 gives the digests of the messages in the order in which they were added. They are valid until the batch is asked again.
func (b *Batch) SHA256() []Sum { return b.digest(sha256Pair, &begin256, sha256.Sum256) }

// SHA1 is SHA256 with the other function.
func (b *Batch) SHA1() []Sum { return b.digest(sha1Pair, &begin1, sum1) }

func sum1(message []byte) (s Sum) {
	sum := sha1.Sum(message)
	copy(s[:], sum[:])
	return s
}

// What the digests are made from (5.3.1 and 5.3.3).
var (
	begin1   = Sum([]byte("\x67\x45\x23\x01\xef\xcd\xab\x89\x98\xba\xdc\xfe\x10\x32\x54\x76\xc3\xd2\xe1\xf0" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	begin256 = Sum([]byte("\x6a\x09\xe6\x67\xbb\x67\xae\x85\x3c\x6e\xf3\x72\xa5\x4f\xf5\x3a\x51\x0e\x52\x7f\x9b\x05\x68\x8c\x1f\x83\xd9\xab\x5b\xe0\xcd\x19"))
)

// digest works out the digests: two at once with pair, which puts blocks of two messages into what their digests are made from, else each with one.
func (b *Batch) digest(pair func(s1, s2 *Sum, p1, p2 *byte, blocks int), begin *Sum, one func([]byte) Sum) []Sum {
	b.sums = b.sums[:0]
	if !inPairs {
		for i := range b.ends {
			b.sums = append(b.sums, one(b.message(i)))
		}
		return b.sums
	}
	for range b.ends {
		b.sums = append(b.sums, *begin)
	}
	x, y, next := b.left(0), b.left(1), 2
	for x.bytes > 0 && y.bytes > 0 {
		n := min(x.bytes, y.bytes)
		pair(&b.sums[x.message], &b.sums[y.message], &b.blocks[x.from], &b.blocks[y.from], n/blockSize)
		if x.take(n); x.bytes == 0 {
			x, next = b.left(next), next+1
		}
		if y.take(n); y.bytes == 0 {
			y, next = b.left(next), next+1
		}
	}
	if x.bytes == 0 {
		x = y
	}
	if x.bytes > 0 { // with itself, which takes no longer and comes to the same
		sum, p := &b.sums[x.message], &b.blocks[x.from]
		pair(sum, sum, p, p, x.bytes/blockSize)
	}
	return b.sums
}

// left is what is left to do of a message.
type left struct{ message, from, bytes int }

// left of a message that is not there is nothing.
func (b *Batch) left(i int) left {
	if i >= len(b.ends) {
		return left{}
	}
	from := b.begins(i)
	return left{i, from, b.ends[i] - from}
}

func (l *left) take(n int) { l.from, l.bytes = l.from+n, l.bytes-n }

func (b *Batch) begins(i int) int {
	if i == 0 {
		return 0
	}
	return b.ends[i-1]
}

// message is a message without its padding.
func (b *Batch) message(i int) []byte {
	from, end := b.begins(i), b.ends[i]
	return b.blocks[from:][:binary.BigEndian.Uint64(b.blocks[end-8:])/8]
}
