//go:build !linux

package hugepage

func advise([]byte) {}

func onDemand() bool { return false }

func allowed(int) bool { return false }
