package batch

import (
	"os/exec"
	"syscall"
)

// withParent has a process end when this one is killed.
func withParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
