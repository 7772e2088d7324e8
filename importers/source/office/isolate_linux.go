package office

import (
	"os"
	"os/exec"
	"syscall"
)

// isolate puts the command into a process group of its own and, if apart, into a network name space that has no network.
func isolate(cmd *exec.Cmd, apart bool) {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if apart {
		attr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	}
	cmd.SysProcAttr = attr
	cmd.Cancel = func() error { return end(cmd) }
}

// end kills the whole group.
func end(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
