package host

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// pin binds the goroutine to a thread of its own on the processor of that number among
// those that the program may use. Where the kernel refuses, the thread goes where it puts it.
func pin(number int) {
	runtime.LockOSThread() // until the goroutine ends, and the thread with it
	var all, one unix.CPUSet
	if unix.SchedGetaffinity(0, &all) != nil {
		return
	}
	for i := range 64 * len(all) {
		if !all.IsSet(i) {
			continue
		}
		if number == 0 {
			one.Set(i)
			_ = unix.SchedSetaffinity(0, &one)
			return
		}
		number--
	}
}

// yieldThread lets other threads have the processor, but no other goroutine.
func yieldThread() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
