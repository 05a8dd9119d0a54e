package demo

import (
	"os/exec"
	"syscall"
)

// alone keeps a Ctrl-C from reaching the service before it is stopped in order, and lets it die with this process.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
