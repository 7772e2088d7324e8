// Package manifests makes the frozen export that everything later rests on: canonical JSON and its digest, files opened by
// digest, BagIt bags (RFC 8493), and signatures that OpenSSH's own tools can check.
//
// # What it promises
//
//   - Canonical gives one byte sequence for one value (RFC 8785). It refuses what two readers could take differently:
//     numbers beyond ±(2^53-1), duplicate keys, undecodable text. Ids and large counts therefore go in as strings.
//   - OpenVerified hands out a file only after hashing it through the same descriptor: what was checked is what is read.
//   - WriteBag writes beside the final name and renames last, after every file and directory is on disk and the whole was
//     read back and verified. A directory under the final name is a complete bag; a crash leaves only ".NAME.partial-*".
//   - VerifyBag lists every fault, not the first: changed, missing and added files, links, unsafe paths, totals that do not
//     agree. A file that is named nowhere is a fault, so nothing can be slipped into a bag.
//   - A bag's digest is the SHA-256 of its tagmanifest-sha256.txt. It holds no clock and no path: the same files with the same
//     tag files give the same digest anywhere.
//   - VerifySignature trusts only the keys it is given. The key inside a signature says who claims to have signed, never who
//     may.
//
// It refuses to follow a symbolic link inside a bag, to write over anything, to use a private key that others can read, and to
// take a signature made for another namespace.
//
// Errors name the file, what happened and what to do next. They never hold a file's content. Branch with errors.Is on
// ErrIntegrity (something is not what it was), ErrFull, ErrDenied, ErrExists, ErrName, ErrKey; read the rest from *Error,
// *IntegrityError and *BagError with errors.As.
package manifests
