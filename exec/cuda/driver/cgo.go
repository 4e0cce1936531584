//go:build cgo

package driver

/*
#cgo linux LDFLAGS: -ldl
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

var (
	loadOnce  sync.Once
	loadErr   error
	nvrtcOnce sync.Once
	nvrtcErr  error
)

// Load opens the driver and initialises it, once. It may be called from any thread.
func Load() error {
	loadOnce.Do(func() { loadErr = load() })
	return loadErr
}

func load() error {
	if err := open(0, "libcuda.so.1"); err != nil {
		return fmt.Errorf("libcuda.so.1 not found: install NVIDIA's driver, or run elsewhere (%w)", err)
	}
	var v C.int
	if rc := C.rl_cuDriverGetVersion(&v); rc != 0 {
		return fail("cuDriverGetVersion", rc)
	}
	if int(v) < MinVersion {
		return fmt.Errorf("NVIDIA's driver is too old: it offers CUDA %s and %s is needed", versionText(int(v)), versionText(MinVersion))
	}
	return fail("cuInit", C.rl_cuInit(0))
}

func open(lib C.int, file string) error {
	name := C.CString(file)
	defer C.free(unsafe.Pointer(name))
	if why := C.rl_open(lib, name); why != nil {
		return fmt.Errorf("%s", strings.TrimPrefix(C.GoString(why), file+": "))
	}
	return nil
}

// fail makes an error of a driver call's result; nil where it succeeded.
func fail(call string, rc C.int) error {
	if rc == 0 {
		return nil
	}
	if rc == C.RL_MISSING {
		return fmt.Errorf("NVIDIA's driver is too old: it has no %s", call)
	}
	var name, text *C.char
	C.rl_cuGetErrorName(rc, &name)
	C.rl_cuGetErrorString(rc, &text)
	e := &Error{Call: call, Code: int(rc), Name: "unknown error"}
	if name != nil {
		e.Name = C.GoString(name)
	}
	if text != nil {
		e.Detail = C.GoString(text)
	}
	return e
}

// Version is the driver API's version, e.g. 13000 for CUDA 13.0.
func Version() int {
	var v C.int
	C.rl_cuDriverGetVersion(&v)
	return int(v)
}

// ModuleVersion is the version of the kernel driver ("580.159.04"), "unknown" where the
// system does not say.
func ModuleVersion() string {
	data, err := os.ReadFile("/sys/module/nvidia/version")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(data))
}

// LoadCompiler opens NVRTC, once, and returns its version ("13.0").
func LoadCompiler() (string, error) {
	nvrtcOnce.Do(func() { nvrtcErr = openCompiler() })
	if nvrtcErr != nil {
		return "", nvrtcErr
	}
	var major, minor C.int
	C.rl_nvrtcVersion(&major, &minor)
	return fmt.Sprintf("%d.%d", major, minor), nil
}

// openCompiler looks for NVRTC where CUDA's toolkits and Python packages put it.
func openCompiler() error {
	err := Find([]string{"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"},
		[]string{"/usr/local/cuda*/lib64/libnvrtc.so*", "/usr/local/cuda*/targets/*/lib/libnvrtc.so*",
			"/usr/lib/x86_64-linux-gnu/libnvrtc.so*", "/opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so*",
			"/usr/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so*", "/usr/local/lib/python3*/*-packages/nvidia/*/lib/libnvrtc.so*"},
		func(name string) error { return open(1, name) })
	if err != nil {
		return fmt.Errorf("libnvrtc.so not found: install CUDA's runtime compiler, or add its folder to LD_LIBRARY_PATH (%w)", err)
	}
	return nil
}

// Find opens a library where the loader looks for names, then where files match patterns, newest first; the error is
// the first name's.
func Find(names, patterns []string, open func(name string) error) error {
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		slices.Sort(found)
		slices.Reverse(found)
		names = append(names, found...)
	}
	var first error
	for _, n := range names {
		err := open(n)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// Compile turns CUDA C++ into machine code. Options are NVRTC's ("-arch=sm_90"). The
// error holds the compiler's messages. It may be called from any thread.
func Compile(name, source string, headers map[string]string, options []string) ([]byte, error) {
	if _, err := LoadCompiler(); err != nil {
		return nil, err
	}
	var pool cStrings
	defer pool.free()
	var names []string
	for n := range headers {
		names = append(names, n)
	}
	slices.Sort(names)
	var texts []string
	for _, n := range names {
		texts = append(texts, headers[n])
	}
	var p C.handle
	rc := C.rl_nvrtcCreateProgram(&p, pool.one(source), pool.one(name), C.int(len(names)), pool.list(texts), pool.list(names))
	if rc != 0 {
		return nil, &Error{Call: "nvrtcCreateProgram", Code: int(rc), Name: "NVRTC error"}
	}
	defer C.rl_nvrtcDestroyProgram(&p)
	if rc := C.rl_nvrtcCompileProgram(p, C.int(len(options)), pool.list(options)); rc != 0 {
		var n C.size_t
		C.rl_nvrtcGetProgramLogSize(p, &n)
		log := make([]byte, n+1)
		C.rl_nvrtcGetProgramLog(p, (*C.char)(unsafe.Pointer(&log[0])))
		return nil, &Error{Call: "nvrtcCompileProgram", Code: int(rc), Name: "compilation failed",
			Detail: strings.TrimRight(string(log), "\x00\n")}
	}
	var n C.size_t
	if rc := C.rl_nvrtcGetCUBINSize(p, &n); rc != 0 || n == 0 {
		return nil, &Error{Call: "nvrtcGetCUBINSize", Code: int(rc), Name: "no machine code"}
	}
	code := make([]byte, n)
	C.rl_nvrtcGetCUBIN(p, (*C.char)(unsafe.Pointer(&code[0])))
	return code, nil
}

// cStrings are C copies of strings, freed together.
type cStrings []unsafe.Pointer

func (s *cStrings) one(text string) *C.char {
	c := C.CString(text)
	*s = append(*s, unsafe.Pointer(c))
	return c
}

func (s *cStrings) list(texts []string) **C.char {
	if len(texts) == 0 {
		return nil
	}
	size := C.size_t(unsafe.Sizeof((*C.char)(nil)))
	p := C.malloc(C.size_t(len(texts)) * size)
	*s = append(*s, p)
	at := unsafe.Slice((**C.char)(p), len(texts))
	for i, t := range texts {
		at[i] = s.one(t)
	}
	return (**C.char)(p)
}

func (s *cStrings) free() {
	for _, p := range *s {
		C.free(p)
	}
}
