package manifests

import (
	"bytes"
	"encoding/pem"
	"slices"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// Namespace of the installation's signature over a bag's tagmanifest-sha256.txt. A signature made for one purpose can't be
// used for another: each purpose has its own namespace (OpenSSH PROTOCOL.sshsig).
const Namespace = "sheetlift-manifest"

// maxSignatureBytes is far above any SSH signature.
const maxSignatureBytes = 64 << 10

// Sign gives the armored SSH signature (SSHSIG, SHA-512) of message in namespace. ed25519 signatures are deterministic: the
// same message gives the same bytes.
func (k *Key) Sign(namespace string, message []byte) ([]byte, error) {
	sig, err := sshsig.Sign(bytes.NewReader(message), k.signer, sshsig.HashSHA512, namespace)
	if err != nil {
		return nil, &Error{Kind: ErrKey, Path: k.Path, Message: "signing failed: " + err.Error(), Err: err}
	}
	return sshsig.Armor(sig), nil
}

// VerifySignature checks that one of the allowed keys signed message in namespace. Anything else is an *Error of kind
// ErrSignature (which is ErrIntegrity too). The key that stands in the signature is only compared, never trusted.
func VerifySignature(allowed []ssh.PublicKey, namespace string, message, armored []byte) error {
	refuse := func(what, remedy string) error {
		return &Error{Kind: ErrSignature, Message: what, Remedy: remedy}
	}
	restore := "restore the signature from a copy; without one, start a new batch under another name"
	if namespace == "" {
		return refuse("a signature is checked for one namespace, and none was given", "")
	}
	if len(armored) > maxSignatureBytes {
		return refuse("it is too large to be a signature", restore)
	}
	// One block and nothing around it: what is shown to people and what is checked must not differ.
	block, rest := pem.Decode(armored)
	if block == nil || len(bytes.TrimSpace(rest)) > 0 || !bytes.HasPrefix(armored, []byte("-----BEGIN "+sshsig.PEMType)) {
		return refuse("it is not one armored SSH signature", restore)
	}
	sig, err := sshsig.Unarmor(armored)
	if err != nil {
		return refuse("it is not a readable SSH signature", restore)
	}
	if sig.Namespace != namespace {
		return refuse("the signature was made for another purpose than "+namespace, restore)
	}
	who := slices.IndexFunc(allowed, func(pub ssh.PublicKey) bool {
		return bytes.Equal(pub.Marshal(), sig.PublicKey.Marshal())
	})
	if who < 0 {
		return refuse("it was signed by "+ssh.FingerprintSHA256(sig.PublicKey)+", which is not an allowed key",
			"add that key to the allowed ones only if you know whose it is")
	}
	if err := sshsig.Verify(bytes.NewReader(message), sig, allowed[who], sig.HashAlgorithm, namespace); err != nil {
		return refuse("the signature does not fit: what was signed has changed since", restore)
	}
	return nil
}

// ParsePublicKey reads one public key as it stands in a .pub or authorized_keys file.
func ParsePublicKey(line []byte) (ssh.PublicKey, error) {
	pub, _, _, rest, err := ssh.ParseAuthorizedKey(line)
	if err != nil || len(bytes.TrimSpace(rest)) > 0 {
		return nil, &Error{Kind: ErrKey, Message: "it is not one public key in OpenSSH's format", Remedy: "name the .pub file"}
	}
	return pub, nil
}
