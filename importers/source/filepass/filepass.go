// Package filepass undoes the encryption of old workbooks (.xls) that their FILEPASS record announces: RC4 with a key of 40 bits,
// RC4 by CryptoAPI, and XOR obfuscation (MS-XLS 2.2.10, MS-OFFCRYPTO 2.3.5 to 2.3.7). The reader and the independent count both use
// it, as they share decryption of newer workbooks.
//
// It promises plain bytes only for a password that the file itself confirms. The whole stream is held in memory.
package filepass

import (
	"bytes"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"unicode/utf16"
)

// Default is the password that Excel encrypts a workbook with when only its structure is protected. It opens such a workbook
// without asking.
const Default = "VelvetSweatshop"

// Faults.
var (
	ErrPassword = errors.New("the password does not open the workbook")
	ErrScheme   = errors.New("the workbook is encrypted in a way that isn't known")
)

const (
	recBOF        = 0x0809
	recFilePass   = 0x002f
	recBoundSheet = 0x0085
	blockSize     = 1024 // after which the key of RC4 changes
)

// Records that stay as they are, so that a program can find its way (MS-XLS 2.2.10).
var plainRecords = map[uint16]bool{recBOF: true, recFilePass: true, 0x0194: true, 0x0195: true, 0x00e1: true, 0x0196: true, 0x0138: true}

// Decrypt gives the records of a stream of size bytes as they were before their encryption, by the first password that fits.
func Decrypt(r io.ReaderAt, size int64, passwords ...string) ([]byte, error) {
	b := make([]byte, size)
	if n, err := r.ReadAt(b, 0); int64(n) < size {
		return nil, err
	}
	var c cipher
	biff8 := false
	for at := 0; at+4 <= len(b); {
		id, n := binary.LittleEndian.Uint16(b[at:]), int(binary.LittleEndian.Uint16(b[at+2:]))
		at += 4
		body := b[at:min(at+n, len(b))]
		switch {
		case id == recBOF && at == 4:
			biff8 = len(body) >= 2 && binary.LittleEndian.Uint16(body) == 0x0600
		case id == recFilePass && c == nil:
			var err error
			if c, err = find(body, biff8, passwords); err != nil {
				return nil, err
			}
		case c != nil && !plainRecords[id]:
			skip := 0
			if id == recBoundSheet {
				skip = min(4, len(body)) // where the sheet begins
			}
			c.decrypt(body, at, skip)
		}
		at += n
	}
	if c == nil {
		return nil, ErrScheme
	}
	return b, nil
}

// cipher decrypts the body of a record that begins at a place of the stream, all but its first bytes.
type cipher interface {
	decrypt(body []byte, at, skip int)
}

// find gives the cipher for what a FILEPASS record says.
func find(p []byte, biff8 bool, passwords []string) (cipher, error) {
	var try func(password string) cipher
	u16 := func(i int) uint16 { return binary.LittleEndian.Uint16(p[i:]) }
	switch {
	case !biff8 && len(p) >= 4:
		try = func(password string) cipher { return newXOR(password, u16(0), u16(2)) }
	case len(p) >= 6 && u16(0) == 0:
		try = func(password string) cipher { return newXOR(password, u16(2), u16(4)) }
	case len(p) >= 54 && u16(0) == 1 && u16(2) == 1 && u16(4) == 1:
		try = func(password string) cipher { return newRC4(password, p[6:22], p[22:54]) }
	case len(p) >= 14 && u16(0) == 1 && u16(2) >= 2 && u16(2) <= 4 && u16(4) == 2:
		h := p[14:] // after flags and the length of what is called header there
		n := int64(binary.LittleEndian.Uint32(p[10:]))
		if n < 32 || n+4+16+16+4+20 > int64(len(h)) {
			return nil, ErrScheme
		}
		bits, verifier := binary.LittleEndian.Uint32(h[16:]), h[n:]
		if algorithm := binary.LittleEndian.Uint32(h[8:]); algorithm != 0x6801 || binary.LittleEndian.Uint32(verifier) != 16 {
			return nil, ErrScheme
		}
		if bits == 0 {
			bits = 40
		}
		if bits%8 != 0 || bits < 40 || bits > 128 {
			return nil, ErrScheme
		}
		try = func(password string) cipher {
			return newCryptoAPI(password, int(bits/8), verifier[4:20], verifier[20:36], verifier[40:60])
		}
	default:
		return nil, ErrScheme
	}
	for _, password := range passwords {
		if password == "" {
			continue
		}
		if c := try(password); c != nil {
			return c, nil
		}
	}
	return nil, ErrPassword
}

func wide(s string) []byte {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

// blocks is RC4 whose key depends on the block of the stream; only those bytes count that stand where their place in the
// stream says, so that what is not encrypted uses up the key all the same.
type blocks struct {
	key   func(block uint32) []byte
	block int // current one + 1; 0 before the first
	used  int // bytes of it
	rc4   *rc4.Cipher
}

func (c *blocks) decrypt(body []byte, at, skip int) {
	for body, at = body[skip:], at+skip; len(body) > 0; {
		block, from := at/blockSize, at%blockSize
		if c.block != block+1 || from < c.used {
			c.rc4, _ = rc4.NewCipher(c.key(uint32(block))) // keys have 16 bytes at most
			c.block, c.used = block+1, 0
		}
		var waste [blockSize]byte
		c.rc4.XORKeyStream(waste[:from-c.used], waste[:from-c.used])
		n := min(len(body), blockSize-from)
		c.rc4.XORKeyStream(body[:n], body[:n])
		c.used = from + n
		body, at = body[n:], at+n
	}
}

// confirmed reports whether the key opens what was stored to tell.
func (c *blocks) confirmed(verifier, digest []byte, h hash.Hash) bool {
	stream, err := rc4.NewCipher(c.key(0))
	if err != nil {
		return false
	}
	v, d := make([]byte, len(verifier)), make([]byte, len(digest))
	stream.XORKeyStream(v, verifier)
	stream.XORKeyStream(d, digest)
	h.Write(v)
	return bytes.Equal(h.Sum(nil), d)
}

// newRC4 makes keys as MS-OFFCRYPTO 2.3.6.2 says; nil if the password is another.
func newRC4(password string, salt, verifier []byte) cipher {
	first := md5.Sum(wide(password))
	var long []byte
	for range 16 {
		long = append(append(long, first[:5]...), salt...)
	}
	second := md5.Sum(long)
	c := &blocks{key: func(block uint32) []byte {
		k := md5.Sum(binary.LittleEndian.AppendUint32(bytes.Clone(second[:5]), block))
		return k[:]
	}}
	if !c.confirmed(verifier[:16], verifier[16:32], md5.New()) {
		return nil
	}
	return c
}

// newCryptoAPI makes keys as MS-OFFCRYPTO 2.3.5.2 says; nil if the password is another.
func newCryptoAPI(password string, length int, salt, verifier, digest []byte) cipher {
	first := sha1.Sum(append(bytes.Clone(salt), wide(password)...))
	c := &blocks{key: func(block uint32) []byte {
		k := sha1.Sum(binary.LittleEndian.AppendUint32(bytes.Clone(first[:]), block))
		if length == 5 { // filled up with zeros
			return append(bytes.Clone(k[:5]), make([]byte, 11)...)
		}
		return k[:length]
	}}
	if !c.confirmed(verifier, digest, sha1.New()) {
		return nil
	}
	return c
}
