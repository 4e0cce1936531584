package host

import (
	"runtime"
	"syscall"
	"unsafe"
)

// processors is a set of them as the kernel has it.
type processors [16]uint64

// pin binds the goroutine to a thread of its own on the processor of that number among
// those that the program may use. Where the kernel refuses, the thread goes where it puts it.
func pin(number int) {
	runtime.LockOSThread() // until the goroutine ends, and the thread with it
	var all processors
	_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, unsafe.Sizeof(all), uintptr(unsafe.Pointer(&all)))
	for i := range len(all) * 64 {
		if all[i/64]>>(i%64)&1 == 0 {
			continue
		}
		if number == 0 {
			var one processors
			one[i/64] = 1 << (i % 64)
			_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(one), uintptr(unsafe.Pointer(&one)))
			return
		}
		number--
	}
}

// yieldThread lets other threads have the processor, but no other goroutine.
func yieldThread() { _, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
