//go:build !linux

package memfile

import "os"

func create() *os.File { return nil }

func unlimitedFiles() bool { return true }
