//go:build !amd64 || purego

package digest

var inPairs = false

var sha256Pair, sha1Pair func(s1, s2 *Sum, p1, p2 *byte, blocks int)
