//go:build !unix

package office

import "os/exec"

// isolate does nothing: LibreOffice is started through a POSIX shell, which this system does not have.
func isolate(*exec.Cmd, bool) {}

func end(cmd *exec.Cmd) error { return cmd.Process.Kill() }
