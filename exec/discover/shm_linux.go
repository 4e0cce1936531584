package discover

import "syscall"

// shmSize is the size of a file system, 0 where it is not known.
func shmSize(path string) uint64 {
	var s syscall.Statfs_t
	if syscall.Statfs(path, &s) != nil || s.Bsize <= 0 {
		return 0
	}
	return s.Blocks * uint64(s.Bsize)
}
