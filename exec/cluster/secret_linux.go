package cluster

import (
	"os"
	"syscall"
)

// readOnlyMount is ST_RDONLY of statvfs(3).
const readOnlyMount = 1

// onReadOnly reports whether a file lies on what is mounted read-only.
func onReadOnly(f *os.File) bool {
	var s syscall.Statfs_t
	return syscall.Fstatfs(int(f.Fd()), &s) == nil && s.Flags&readOnlyMount != 0
}
