//go:build !purego

package digest

import (
	"crypto/fips140"

	"github.com/klauspost/cpuid/v2"
)

var inPairs = !fips140.Enabled() && cpuid.CPU.Supports(cpuid.SHA, cpuid.SSSE3)

// sha256Pair puts as many blocks, at least one, from p1 on into s1 and from p2 on into s2.
//
//go:noescape
func sha256Pair(s1, s2 *Sum, p1, p2 *byte, blocks int)

// sha1Pair is sha256Pair of SHA-1.
//
//go:noescape
func sha1Pair(s1, s2 *Sum, p1, p2 *byte, blocks int)
