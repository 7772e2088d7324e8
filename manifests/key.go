package manifests

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/crypto/ssh"
)

// KeyVariable names the environment variable that moves the installation's key elsewhere.
const KeyVariable = "SHEETLIFT_KEY"

// Principal is who the installation's key signs as in allowed_signers lines.
const Principal = "sheetlift"

// maxKeyBytes is far above any ed25519 key; a larger file is something else.
const maxKeyBytes = 64 << 10

// Key is the installation's ed25519 key. It signs what this installation made; it stands for no person.
type Key struct {
	Path   string // private key file, OpenSSH format
	signer ssh.Signer
}

// KeyPath is where the installation's key lies: $SHEETLIFT_KEY, else sheetlift/id_ed25519 in the user's configuration folder.
func KeyPath() (string, error) {
	if p := os.Getenv(KeyVariable); p != "" {
		return p, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", &Error{Kind: ErrKey, Message: "there is no user configuration folder to keep the installation's key in",
			Remedy: "name a file for it in " + KeyVariable, Err: err}
	}
	return filepath.Join(dir, "sheetlift", "id_ed25519"), nil
}

// LoadOrCreateKey reads the key at path, or makes it (0600, its folder 0700) together with path.pub; created says which.
// An empty path is KeyPath's. Two starters at once get the same key: it is written in full under another name and then
// linked, which fails for the second.
//
// A key that others may read, that has a passphrase, is not ed25519, or whose .pub belongs to another is an *Error of kind
// ErrKey; nothing is ever written over.
func LoadOrCreateKey(path string) (key *Key, created bool, err error) {
	if path == "" {
		if path, err = KeyPath(); err != nil {
			return nil, false, err
		}
	}
	key, err = loadKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if created, err = createKey(path); err != nil {
			return nil, false, err
		}
		key, err = loadKey(path)
	}
	if err != nil {
		return nil, false, err
	}
	if err := key.keepPublic(); err != nil {
		return nil, false, err
	}
	return key, created, nil
}

// Public is the public half.
func (k *Key) Public() ssh.PublicKey { return k.signer.PublicKey() }

// Fingerprint is what `ssh-keygen -l` prints: SHA256:…
func (k *Key) Fingerprint() string { return ssh.FingerprintSHA256(k.Public()) }

// PublicLine is the public half as a .pub file has it, without a line end.
func (k *Key) PublicLine() string {
	line := ssh.MarshalAuthorizedKey(k.Public())
	return string(line[:len(line)-1]) + " " + Principal
}

// AllowedSigner is the line for an allowed_signers file with which `ssh-keygen -Y verify -I sheetlift` accepts this key's
// signatures in namespace, and in no other.
func (k *Key) AllowedSigner(namespace string) string {
	return fmt.Sprintf("%s namespaces=%q %s", Principal, namespace, k.PublicLine())
}

func loadKey(path string) (*Key, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, ioError(path, "opening the installation's key", err)
	}
	if runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 {
		return nil, &Error{Kind: ErrKey, Path: path, Message: fmt.Sprintf("others can read this private key (mode %04o)", st.Mode().Perm()),
			Remedy: "if nobody has, chmod 600 it; else remove it with its .pub and a new one is made"}
	}
	data, err := readAll(path, maxKeyBytes)
	if err != nil {
		return nil, err
	}
	remedy := "name another file in " + KeyVariable + ", or move this one away and a new key is made"
	raw, err := ssh.ParseRawPrivateKey(data)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		return nil, &Error{Kind: ErrKey, Path: path, Message: "the private key has a passphrase, which nobody can type here", Remedy: remedy}
	}
	if err != nil {
		return nil, &Error{Kind: ErrKey, Path: path, Message: "it is not an OpenSSH private key", Remedy: remedy}
	}
	private, ok := raw.(*ed25519.PrivateKey)
	if !ok {
		return nil, &Error{Kind: ErrKey, Path: path, Message: "it is not an ed25519 key", Remedy: remedy}
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return nil, &Error{Kind: ErrKey, Path: path, Message: "the key can't sign", Remedy: remedy, Err: err}
	}
	return &Key{Path: path, signer: signer}, nil
}

// createKey reports whether it was us who made the key, or somebody else meanwhile.
func createKey(path string) (bool, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return false, &Error{Kind: ErrKey, Message: "no randomness for a new key", Err: err}
	}
	block, err := ssh.MarshalPrivateKey(private, Principal)
	if err != nil {
		return false, &Error{Kind: ErrKey, Message: "the new key can't be written down", Err: err}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, ioError(filepath.Dir(path), "making the folder for the installation's key", err)
	}
	return publish(path, pem.EncodeToMemory(block))
}

// keepPublic writes the .pub file when there is none, and refuses one of another key: people copy it into rosters.
func (k *Key) keepPublic() error {
	path := k.Path + ".pub"
	want := k.PublicLine() + "\n"
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if _, err := publish(path, []byte(want)); err != nil {
			if errors.Is(err, ErrDenied) {
				return nil // the key was mounted read-only; its public half is derived and not needed
			}
			return err
		}
	}
	data, err := readAll(path, maxKeyBytes)
	if err != nil {
		return err
	}
	pub, err := ParsePublicKey(data)
	if err != nil || ssh.FingerprintSHA256(pub) != k.Fingerprint() {
		return &Error{Kind: ErrKey, Path: path, Message: "it is not the public half of the key beside it", Remedy: "remove it and it is made again"}
	}
	return nil
}

// publish puts data at path in one step, or leaves what somebody else put there first. Never is there half a file.
func publish(path string, data []byte) (won bool, err error) {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".new-*") // O_EXCL, 0600
	if err != nil {
		return false, ioError(dir, "creating a file in it", err)
	}
	defer os.Remove(tmp.Name()) // only ever the second name of what was published
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return false, ioError(path, "writing the file", err)
	}
	switch err := os.Link(tmp.Name(), path); {
	case errors.Is(err, fs.ErrExist):
		return false, nil
	case err != nil:
		return false, ioError(path, "linking the file (its file system must know hard links)", err)
	}
	return true, syncDir(dir)
}
