//go:build !linux

package source

import "os"

// giveBack leaves the room to the file, with which it is given back.
func giveBack(*os.File, int64, int64) {}
