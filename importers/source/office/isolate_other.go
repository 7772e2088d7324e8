//go:build unix && !linux

package office

import (
	"os/exec"
	"syscall"
)

// isolate puts the command into a process group of its own; this system has no name spaces, so apart changes nothing.
func isolate(cmd *exec.Cmd, _ bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return end(cmd) }
}

// end kills the whole group.
func end(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
