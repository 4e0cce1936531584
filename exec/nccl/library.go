//go:build cgo

package nccl

/*
#cgo linux LDFLAGS: -ldl
#include <stdlib.h>
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"railyard/exec/cuda/driver"
)

var (
	once    sync.Once
	openErr error
)

// Open loads NCCL, once, with multicast switched off. It may be called from any thread.
func Open() error {
	once.Do(func() { openErr = open() })
	return openErr
}

// open looks for NCCL where the loader does, then where Python packages put it.
func open() error {
	if err := os.Setenv("NCCL_NVLS_ENABLE", "0"); err != nil {
		return err
	}
	err := driver.Find([]string{"libnccl.so.2"}, []string{"/opt/*/.venv/lib/python3*/site-packages/nvidia/nccl/lib/libnccl.so.2",
		"/usr/lib/python3*/site-packages/nvidia/nccl/lib/libnccl.so.2", "/usr/local/lib/python3*/*-packages/nvidia/nccl/lib/libnccl.so.2"},
		func(name string) error {
			file := C.CString(name)
			defer C.free(unsafe.Pointer(file))
			if why := C.ry_nccl_open(file); why != nil {
				return errors.New(C.GoString(why))
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("libnccl.so.2 not found: install NCCL, or add its folder to LD_LIBRARY_PATH (%w)", err)
	}
	return nil
}

// Version is NCCL's, such as "2.28.9"; Open must have succeeded.
func Version() (string, error) {
	var v C.int
	if err := fail("ncclGetVersion", C.ry_ncclGetVersion(&v)); err != nil {
		return "", err
	}
	return versionText(v), nil
}

func versionText(v C.int) string { return fmt.Sprintf("%d.%d.%d", v/10000, v%10000/100, v%100) }

// fail makes an error of a result; nil where the call succeeded.
func fail(call string, rc C.int) error {
	switch {
	case rc == 0:
		return nil
	case rc == C.RY_MISSING:
		return fmt.Errorf("this NCCL is too old: it has no %s", call)
	}
	text := fmt.Sprintf("%s: %s", call, C.GoString(C.ry_nccl_error(rc)))
	if more := C.GoString(C.ry_nccl_last_error()); more != "" {
		text += ": " + more
	}
	return errors.New(text)
}

// grouped runs calls between ncclGroupStart and ncclGroupEnd.
func grouped(calls func() error) error {
	if err := fail("ncclGroupStart", C.ry_ncclGroupStart()); err != nil {
		return err
	}
	err := calls()
	if end := fail("ncclGroupEnd", C.ry_ncclGroupEnd()); err == nil {
		err = end
	}
	return err
}
