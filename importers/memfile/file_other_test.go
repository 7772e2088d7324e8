//go:build !linux

package memfile

import "os"

func readOnly(_ interface{ Fatal(...any) }, f *os.File, use func(*os.File)) { use(f) }
