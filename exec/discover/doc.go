// Package discover describes the machine that it runs on as a topology file, and reads
// what its NVLinks really carry.
//
// GPUs, their NVLinks and what these lead to come from the driver's management library
// (NVML) behind Library; PCIe switches, sockets and network adapters from sysfs below a
// root directory. What neither can tell (the rate between sockets, the links between
// the switches of two boards, latencies) is assumed, and the file says so.
//
// NVML needs cgo; without it Open says so. Where the C compiler links with -z now by
// default, build with CGO_LDFLAGS=-Wl,-z,lazy: the library's symbols are bound when
// they are first used.
package discover
