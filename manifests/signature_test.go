package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

func newKey(t *testing.T) *Key {
	t.Helper()
	k, created, err := LoadOrCreateKey(filepath.Join(t.TempDir(), "sheetlift", "id_ed25519"))
	if err != nil || !created {
		t.Fatalf("LoadOrCreateKey = %v, %v", created, err)
	}
	return k
}

func TestKeyIsMadeOnceAndKept(t *testing.T) {
	k := newKey(t)
	again, created, err := LoadOrCreateKey(k.Path)
	if err != nil || created || again.Fingerprint() != k.Fingerprint() {
		t.Fatalf("second LoadOrCreateKey = %v, %v", created, err)
	}
	pub, err := os.ReadFile(k.Path + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParsePublicKey(pub); err != nil || ssh.FingerprintSHA256(got) != k.Fingerprint() {
		t.Fatalf(".pub = %q, %v", pub, err)
	}
	if runtime.GOOS != "windows" {
		st, err := os.Stat(k.Path)
		if err != nil || st.Mode() != 0o600 {
			t.Errorf("key has mode %v, %v", st.Mode(), err)
		}
		if st, err = os.Stat(filepath.Dir(k.Path)); err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("folder has mode %v, %v", st.Mode(), err)
		}
	}
	check(t, os.Remove(k.Path+".pub"))
	if _, _, err := LoadOrCreateKey(k.Path); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(k.Path + ".pub"); err != nil || !bytes.Equal(again, pub) {
		t.Errorf("a lost .pub was not made again: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(k.Path), ".*")); err != nil || len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestKeyPath(t *testing.T) {
	t.Setenv(KeyVariable, "/somewhere/key")
	if p, err := KeyPath(); err != nil || p != "/somewhere/key" {
		t.Errorf("KeyPath = %s, %v", p, err)
	}
	dir := t.TempDir()
	t.Setenv(KeyVariable, "")
	t.Setenv("XDG_CONFIG_HOME", dir)
	t.Setenv("HOME", dir)
	t.Setenv("AppData", dir)
	k, created, err := LoadOrCreateKey("")
	if err != nil || !created || !strings.HasPrefix(k.Path, dir) || !strings.HasSuffix(k.Path, filepath.Join("sheetlift", "id_ed25519")) {
		t.Errorf("LoadOrCreateKey = %v, %v, %v", k, created, err)
	}
	if runtime.GOOS == "linux" {
		t.Setenv("XDG_CONFIG_HOME", "")
		t.Setenv("HOME", "")
		if _, err := KeyPath(); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), KeyVariable) {
			t.Errorf("KeyPath without a home = %v", err)
		}
	}
}

func TestManyStartersGetOneKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sheetlift", "id_ed25519")
	const n = 16
	var wg sync.WaitGroup
	prints, made, errs := make([]string, n), make([]bool, n), make([]error, n)
	for i := range n {
		wg.Go(func() {
			var k *Key
			if k, made[i], errs[i] = LoadOrCreateKey(path); errs[i] == nil {
				prints[i] = k.Fingerprint()
			}
		})
	}
	wg.Wait()
	makers := 0
	for i := range n {
		if errs[i] != nil || prints[i] != prints[0] {
			t.Fatalf("starter %d: %s, %v", i, prints[i], errs[i])
		}
		if made[i] {
			makers++
		}
	}
	if makers != 1 {
		t.Errorf("%d starters say they made the key", makers)
	}
}

func TestKeyRefusals(t *testing.T) {
	tests := []struct {
		name string
		bad  func(t *testing.T, k *Key)
	}{
		{"readable by others", func(t *testing.T, k *Key) { check(t, os.Chmod(k.Path, 0o644)) }},
		{"not a key", func(t *testing.T, k *Key) { write(t, k.Path, "hello") }},
		{"empty", func(t *testing.T, k *Key) { write(t, k.Path, "") }},
		{"another's .pub", func(t *testing.T, k *Key) { write(t, k.Path+".pub", newKey(t).PublicLine()+"\n") }},
		{"garbled .pub", func(t *testing.T, k *Key) { write(t, k.Path+".pub", "hello\n") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "readable by others" && runtime.GOOS == "windows" {
				t.Skip("Windows has no such mode")
			}
			k := newKey(t)
			tt.bad(t, k)
			before, err := os.ReadFile(k.Path)
			check(t, err)
			if _, _, err := LoadOrCreateKey(k.Path); !errors.Is(err, ErrKey) {
				t.Fatalf("LoadOrCreateKey = %v", err)
			}
			if after, err := os.ReadFile(k.Path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("the file was written over")
			}
		})
	}
}

func TestKeysOfOtherKindsAreRefused(t *testing.T) {
	tool := requireTool(t, "ssh-keygen")
	for name, args := range map[string][]string{
		"passphrase": {"-t", "ed25519", "-N", "secret"},
		"ecdsa":      {"-t", "ecdsa", "-N", ""},
	} {
		path := filepath.Join(t.TempDir(), "key")
		if out, err := exec.Command(tool, append(args, "-q", "-f", path)...).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
		if _, _, err := LoadOrCreateKey(path); !errors.Is(err, ErrKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVerifySignature(t *testing.T) {
	k, other := newKey(t), newKey(t)
	msg := []byte("manifest")
	sig, err := k.Sign(Namespace, msg)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := k.Sign(Namespace, msg); err != nil || !bytes.Equal(sig, again) {
		t.Errorf("signing again gives other bytes: %v", err)
	}
	mine := []ssh.PublicKey{other.Public(), k.Public()}
	if err := VerifySignature(mine, Namespace, msg, sig); err != nil {
		t.Fatal(err)
	}
	garbled := bytes.Replace(sig, []byte("A"), []byte("B"), 1)
	elsewhere, err := k.Sign("file", msg)
	check(t, err)
	tests := []struct {
		name      string
		allowed   []ssh.PublicKey
		namespace string
		msg, sig  []byte
	}{
		{"another message", mine, Namespace, []byte("manifesT"), sig},
		{"another namespace asked", mine, "sheetlift-signoff", msg, sig},
		{"another namespace signed", mine, Namespace, msg, elsewhere},
		{"no namespace", mine, "", msg, sig},
		{"key not allowed", []ssh.PublicKey{other.Public()}, Namespace, msg, sig},
		{"no keys at all", nil, Namespace, msg, sig},
		{"garbled", mine, Namespace, msg, garbled},
		{"empty", mine, Namespace, msg, nil},
		{"cut off", mine, Namespace, msg, sig[:len(sig)/2]},
		{"text before", mine, Namespace, msg, append([]byte("x\n"), sig...)},
		{"two blocks", mine, Namespace, msg, append(bytes.Clone(sig), sig...)},
		{"too large", mine, Namespace, msg, append(bytes.Clone(sig), make([]byte, maxSignatureBytes)...)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := VerifySignature(tt.allowed, tt.namespace, tt.msg, tt.sig)
			if !errors.Is(err, ErrSignature) || !errors.Is(err, ErrIntegrity) {
				t.Fatalf("VerifySignature = %v", err)
			}
		})
	}
	if _, err := k.Sign("", msg); !errors.Is(err, ErrKey) {
		t.Errorf("signing without a namespace = %v", err)
	}
}

func FuzzVerifySignature(f *testing.F) {
	k, _, err := LoadOrCreateKey(filepath.Join(f.TempDir(), "key"))
	if err != nil {
		f.Fatal(err)
	}
	sig, err := k.Sign(Namespace, []byte("m"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sig)
	f.Fuzz(func(t *testing.T, armored []byte) {
		if err := VerifySignature([]ssh.PublicKey{k.Public()}, Namespace, []byte("other"), armored); err == nil {
			t.Fatalf("accepted %q", armored)
		}
	})
}

// OpenSSH itself accepts a signed bag, and refuses it after a change.
func TestSSHKeygenVerifiesTheBag(t *testing.T) {
	tool := requireTool(t, "ssh-keygen")
	k := newKey(t)
	spec := goodSpec(t)
	spec.Sign = func(m []byte) ([]byte, error) { return k.Sign(Namespace, m) }
	bag := mustWrite(t, spec)
	if err := VerifySignature([]ssh.PublicKey{k.Public()}, Namespace, bag.TagManifest, bag.Signature); err != nil {
		t.Fatal(err)
	}
	allowed := filepath.Join(t.TempDir(), "allowed_signers")
	write(t, allowed, k.AllowedSigner(Namespace)+"\n")
	verify := func(namespace string) (string, error) {
		cmd := exec.Command(tool, "-Y", "verify", "-f", allowed, "-I", Principal, "-n", namespace, "-s", bag.Path(SignatureFile))
		in, err := os.Open(bag.Path(tagManifestFile))
		check(t, err)
		defer in.Close()
		cmd.Stdin = in
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := verify(Namespace)
	if err != nil || !strings.Contains(out, k.Fingerprint()) {
		t.Fatalf("ssh-keygen -Y verify: %v\n%s", err, out)
	}
	if out, err := verify("file"); err == nil {
		t.Errorf("accepted in another namespace: %s", out)
	}
	flip(t, bag.Path(tagManifestFile))
	if out, err := verify(Namespace); err == nil {
		t.Errorf("accepted after a change: %s", out)
	}
	list, err := exec.Command(tool, "-l", "-f", k.Path).CombinedOutput()
	if err != nil || !strings.Contains(string(list), k.Fingerprint()) {
		t.Errorf("ssh-keygen -l: %v\n%s", err, list)
	}
}

// What OpenSSH signs, we accept.
func TestWeVerifyWhatSSHKeygenSigned(t *testing.T) {
	tool := requireTool(t, "ssh-keygen")
	k := newKey(t)
	file := filepath.Join(t.TempDir(), "message")
	write(t, file, "message")
	if out, err := exec.Command(tool, "-Y", "sign", "-f", k.Path, "-n", Namespace, file).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen -Y sign: %v\n%s", err, out)
	}
	sig, err := os.ReadFile(file + ".sig")
	check(t, err)
	if err := VerifySignature([]ssh.PublicKey{k.Public()}, Namespace, []byte("message"), sig); err != nil {
		t.Fatal(err)
	}
}

func ExampleKey_AllowedSigner() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	k, _, err := LoadOrCreateKey(filepath.Join(dir, "id_ed25519"))
	if err != nil {
		panic(err)
	}
	line, _, _ := strings.Cut(k.AllowedSigner(Namespace), " AAAA")
	fmt.Println(line)
	// Output: sheetlift namespaces="sheetlift-manifest" ssh-ed25519
}
