//go:build linux || darwin

package journal

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps a journal for one process, also between machines where the file system knows locks.
func lock(f *os.File) (taken bool) {
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
