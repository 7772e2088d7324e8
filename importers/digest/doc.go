// Package digest works out the SHA-256 or SHA-1 of many short messages, such as rows and records, in half the time that one after the other
// takes: on amd64 with SHA instructions it works on two at once.
//
// A batch gives what crypto/sha256 and crypto/sha1 give of each message, whatever the number and lengths of them, and allocates nothing once it has
// grown to what is put into it. Where there are no such instructions, where FIPS 140 asks for Go's own, or when built with the tag purego, it
// calls these packages.
package digest
