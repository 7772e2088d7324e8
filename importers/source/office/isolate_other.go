//go:build !linux

package office

import "os/exec"

// isolate makes the command's end the end of what it is; other systems than Linux have no name spaces for us.
func isolate(cmd *exec.Cmd, _ bool) { cmd.Cancel = func() error { return end(cmd) } }

func end(cmd *exec.Cmd) error { return cmd.Process.Kill() }
