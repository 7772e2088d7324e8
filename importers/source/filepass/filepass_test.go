package filepass

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/bits"
	"testing"

	. "sheetlift/importers/source/biff/bifftest"
)

// Streams that were encrypted by another implementation; each is plain's records after a FILEPASS record of its own.
const (
	byDefault = "09081000000605000000000000000000000000002f003600010001000100000102030405060708090a0b0c0d0e0f01fd4e05dc6e0e72fcc4b72175686883ded643a3b989170bc6e163b5debaf714850009005f00000040e6fbcd4a0a000000090810000006100000000000000000000000000003020e0025c9d466173528dc98b21e6a05b703020e00c180802213f9710b65550354d9ee0a000000"
	byAPI40   = "09081000000605000000000000000000000000002f006e00010002000200040000002400000004000000000000000168000004800000280000000100000000000000000000007800000010000000000102030405060708090a0b0c0d0e0f6da8dd81b0206324ed71069a245df7c2140000003806674a0fccdb05eee30c953b0f6d950c33300a8500090097000000bbf9aa64db0a000000090810000006100000000000000000000000000003020e001f8d1ec5c31b443721bfc42f13a103020e00209d2fe21ac9f9896b49b2b7e6820a000000"
	byAPI128  = "09081000000605000000000000000000000000002f006e00010002000200040000002400000004000000000000000168000004800000800000000100000000000000000000007800000010000000000102030405060708090a0b0c0d0e0fdeafb3d007938cd6bc61d2160aa47bdd140000008e7ef570b4fff940cb4ef1fb6531d2a3f42a1f2d850009009700000053371b9b3a0a000000090810000006100000000000000000000000000003020e00271f20ad57bb57e8af2343ed57ab03020e009153c5d9912a4676d6323843020c0a000000"
	longPass  = "010001000100000102030405060708090a0b0c0d0e0f66ded03cd1f42e4b5ade5fd0a98fa42e9bbfa912776c9c3a33f9cf3cb603f850"
	longSum   = "56c5a26d569b42d590ed98631f076fe7dae5609d277a72f1772f9cfe42126447"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// plain is a workbook with a FILEPASS record that changes nothing yet.
func plain(pass []byte, padding int) []byte {
	number := func(row uint16, v float64) []byte { return Record(0x203, row, uint16(0), uint16(0), v) }
	records := number(0, 1.5)
	if padding > 0 {
		records = append(records, Record(0x1000, make([]byte, padding))...)
	}
	return Stream8(Record(0x2f, pass), Sheet{Name: "S", Records: append(records, number(1, 2.5)...)})
}

func decrypt(raw []byte, passwords ...string) ([]byte, error) {
	return Decrypt(bytes.NewReader(raw), int64(len(raw)), passwords...)
}

func TestRC4(t *testing.T) {
	for name, tt := range map[string]struct{ raw, password string }{"RC4": {byDefault, Default}, "CryptoAPI, 40 bits": {byAPI40, "sésame"}, "CryptoAPI, 128 bits": {byAPI128, "sésame"}} {
		raw := unhex(t, tt.raw)
		want := plain(raw[24:24+int(raw[22])], 0)
		got, err := decrypt(raw, "", "other", tt.password)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%x %v, want\n%x", name, got, err, want)
		}
		if _, err := decrypt(raw, "", "other"); !errors.Is(err, ErrPassword) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	// RC4 is its own reverse; these records need three keys.
	got, err := decrypt(plain(unhex(t, longPass), 2500), "sésame")
	if sum := sha256.Sum256(got); err != nil || hex.EncodeToString(sum[:]) != longSum {
		t.Errorf("%v, %x", err, sum)
	}
}

func TestXOR(t *testing.T) {
	const key, verifier = 0x147a, 0x83af // of "password"
	c := newXOR("password", key, verifier)
	if c == nil || newXOR("Password", key, verifier) != nil || newXOR("password", key, verifier+1) != nil || newXOR("", 0, 0) != nil || newXOR("a password that is too long", 0, 0) != nil {
		t.Fatal("the wrong passwords fit")
	}
	x := c.(*xor)
	for _, pass := range [][]byte{Bytes(uint16(key), uint16(verifier)), Bytes(uint16(0), uint16(key), uint16(verifier))} {
		want := plain(pass, 100)
		if len(pass) == 4 { // without the kind of encryption: BIFF5
			want[5] = 5
		}
		raw := bytes.Clone(want)
		passed := false
		for at := 0; at < len(raw); {
			id, n := uint16(raw[at])|uint16(raw[at+1])<<8, int(raw[at+2])
			at += 4
			if passed && id != recBOF {
				skip := 0
				if id == recBoundSheet {
					skip = 4
				}
				for i := skip; i < n; i++ {
					raw[at+i] = bits.RotateLeft8(raw[at+i]^x[(at+n+i)%16], -3)
				}
			}
			passed = passed || id == recFilePass
			at += n
		}
		if got, err := decrypt(raw, "other", "password"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("got\n%x %v, want\n%x", got, err, want)
		}
	}
}

func TestUnknown(t *testing.T) {
	for name, pass := range map[string][]byte{
		"nothing": {}, "another kind": Bytes(uint16(2), uint16(1), uint16(1), make([]byte, 60)), "no header": Bytes(uint16(1), uint16(2), uint16(2), make([]byte, 80)),
		"a header beyond its record": Bytes(uint16(1), uint16(2), uint16(2), uint32(0), uint32(0xffffffff), make([]byte, 80)),
		"another cipher":             Bytes(uint16(1), uint16(2), uint16(2), uint32(0), uint32(32), make([]byte, 200)),
	} {
		if _, err := decrypt(plain(pass, 0), "a"); !errors.Is(err, ErrScheme) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := decrypt(Stream8(nil), "a"); !errors.Is(err, ErrScheme) {
		t.Errorf("without encryption: got %v", err)
	}
}

// FuzzDecrypt holds that any stream is decrypted or refused, and stays as long as it was.
func FuzzDecrypt(f *testing.F) {
	for _, s := range []string{byDefault, byAPI40, byAPI128} {
		f.Add(unhex(f, s))
	}
	f.Add(plain(Bytes(uint16(0), uint16(0x147a), uint16(0x83af)), 9))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := decrypt(raw, "password", "sésame", Default)
		if err != nil && !errors.Is(err, ErrPassword) && !errors.Is(err, ErrScheme) || err == nil && len(got) != len(raw) {
			t.Fatalf("%d bytes from %d: %v", len(got), len(raw), err)
		}
	})
}
