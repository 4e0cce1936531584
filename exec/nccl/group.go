//go:build cgo

package nccl

// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"railyard/exec/cuda/driver"
	"railyard/model/collective"
	"railyard/model/units"
)

// Group is a communicator for each of several GPUs of this process. Its methods must be
// called from one thread; NCCL changes the thread's current context.
type Group struct {
	comms   []C.handle
	ranks   int // all, where some are other processes'
	windows []window

	borrowed bool // the communicators are a mesh's
}

type window struct{ comm, handle C.handle }

// Connect makes communicators; rank i is on devices[i].
func Connect(devices []driver.Device, s Setting) (*Group, error) {
	numbers := make([]C.int, len(devices))
	for i, d := range devices {
		numbers[i] = C.int(d)
	}
	g := &Group{comms: make([]C.handle, len(devices)), ranks: len(devices)}
	return g, with(s.environment(), func() error {
		return fail("ncclCommInitAll", C.ry_ncclCommInitAll(&g.comms[0], C.int(len(devices)), &numbers[0]))
	})
}

// with does something while the environment, which with cgo is C's too, is changed; "" unsets a variable. What cannot be set or put back
// is an error.
func with(values map[string]string, do func() error) error {
	before := map[string]string{}
	apply := func(values map[string]string) error {
		var errs []error
		for k, v := range values {
			if v == "" {
				errs = append(errs, os.Unsetenv(k))
			} else {
				errs = append(errs, os.Setenv(k, v))
			}
		}
		return errors.Join(errs...)
	}
	for k := range values {
		before[k] = os.Getenv(k)
	}
	err := apply(values)
	if err == nil {
		err = do()
	}
	return errors.Join(err, apply(before))
}

// Register makes symmetric windows of buffers, one of each rank, all of one size; they
// must be memory of driver.Map.
func (g *Group) Register(buffers []driver.Ptr, bytes int64) error {
	const symmetric = 1 // NCCL_WIN_COLL_SYMMETRIC
	made := make([]C.handle, len(g.comms))
	err := grouped(func() error {
		for i, c := range g.comms {
			rc := C.ry_ncclCommWindowRegister(c, pointer(buffers[i]), C.size_t(bytes), &made[i], symmetric)
			if err := fail("ncclCommWindowRegister", rc); err != nil {
				return err
			}
		}
		return nil
	})
	for i, w := range made {
		if w != nil {
			g.windows = append(g.windows, window{g.comms[i], w})
		}
	}
	return err
}

// Close gives the windows and communicators back.
func (g *Group) Close() error {
	var errs []error
	errs = append(errs, grouped(func() error {
		for _, w := range g.windows {
			if err := fail("ncclCommWindowDeregister", C.ry_ncclCommWindowDeregister(w.comm, w.handle)); err != nil {
				return err
			}
		}
		return nil
	}))
	for _, c := range g.comms {
		if !g.borrowed {
			errs = append(errs, fail("ncclCommDestroy", C.ry_ncclCommDestroy(c)))
		}
	}
	return errors.Join(errs...)
}

// pointer is GPU memory as NCCL takes it.
func pointer(p driver.Ptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// Enqueue puts one collective on the ranks' streams.
func (g *Group) Enqueue(c Case, send, recv []driver.Ptr, streams []driver.Stream) error {
	return grouped(func() error { return g.calls(c, send, recv, streams) })
}

// EnqueueOne puts one rank's part of a collective on its stream; the others' threads do the
// same meanwhile.
func (g *Group) EnqueueOne(c Case, rank int, send, recv driver.Ptr, stream driver.Stream) error {
	return grouped(func() error { return g.call(c, rank, pointer(send), pointer(recv), C.handle(stream.Handle())) })
}

// Estimate is what NCCL says that the collective takes, without running it.
func (g *Group) Estimate(c Case, send, recv []driver.Ptr, streams []driver.Stream) (units.Time, error) {
	if err := fail("ncclGroupStart", C.ry_ncclGroupStart()); err != nil {
		return 0, err
	}
	err := g.calls(c, send, recv, streams)
	const magic = 0x74685283 // NCCL_SIM_INFO_INITIALIZER, nccl.h
	var version C.int
	C.ry_ncclGetVersion(&version)
	info := C.ry_sim_info{magic: magic, version: C.uint(version), estimated_us: -1}
	info.size = C.size_t(unsafe.Sizeof(info))
	if end := fail("ncclGroupSimulateEnd", C.ry_ncclGroupSimulateEnd(&info)); err == nil {
		err = end
	}
	if err != nil || info.estimated_us < 0 {
		return 0, err
	}
	return units.Time(float64(info.estimated_us) * float64(units.Microsecond)), nil
}

func (g *Group) calls(c Case, send, recv []driver.Ptr, streams []driver.Stream) error {
	for rank := range g.comms {
		if err := g.call(c, rank, pointer(send[rank]), pointer(recv[rank]), C.handle(streams[rank].Handle())); err != nil {
			return err
		}
	}
	return nil
}

// Numbers of nccl.h by ours.
var (
	dtypes = map[collective.DType]C.int{collective.Int32: 2, collective.Int64: 4, collective.Float16: 6, collective.Float32: 7,
		collective.Float64: 8, collective.BFloat16: 9, collective.Float8E4M3: 10, collective.Float8E5M2: 11}
	ops = map[collective.ReduceOp]C.int{collective.Sum: 0, collective.Prod: 1, collective.Max: 2, collective.Min: 3, collective.Avg: 4}
)

// float8From is the first version with types of 8 bits.
const float8From = 22400

// typeOf is NCCL's number of an element type.
func typeOf(t collective.DType) (C.int, error) {
	n, ok := dtypes[t]
	var version C.int
	if err := fail("ncclGetVersion", C.ry_ncclGetVersion(&version)); err != nil {
		return 0, err
	}
	if !ok || n >= dtypes[collective.Float8E4M3] && version < float8From {
		return 0, fmt.Errorf("NCCL %s has no type %v", versionText(version), t)
	}
	return n, nil
}

func (g *Group) call(c Case, rank int, send, recv unsafe.Pointer, stream C.handle) error {
	count, err := c.argument()
	if err != nil {
		return err
	}
	dtype, err := typeOf(c.DType)
	if err != nil {
		return err
	}
	comm, n, op, root := g.comms[rank], C.size_t(count), ops[c.Op], C.int(c.Root)
	switch c.Kind {
	case collective.AllReduce:
		return fail("ncclAllReduce", C.ry_ncclAllReduce(send, recv, n, dtype, op, comm, stream))
	case collective.AllGather:
		return fail("ncclAllGather", C.ry_ncclAllGather(send, recv, n, dtype, comm, stream))
	case collective.ReduceScatter:
		return fail("ncclReduceScatter", C.ry_ncclReduceScatter(send, recv, n, dtype, op, comm, stream))
	case collective.Broadcast:
		return fail("ncclBroadcast", C.ry_ncclBroadcast(send, recv, n, dtype, root, comm, stream))
	case collective.Reduce:
		return fail("ncclReduce", C.ry_ncclReduce(send, recv, n, dtype, op, root, comm, stream))
	case collective.AllToAll:
		return g.exchange(rank, count*int64(c.DType.Size()), count, send, recv, dtype, stream)
	}
	return fmt.Errorf("NCCL has no %v", c.Kind)
}

// exchange is all_to_all: a send to and a receive from every rank.
func (g *Group) exchange(rank int, bytes, count int64, send, recv unsafe.Pointer, dtype C.int, stream C.handle) error {
	comm, n := g.comms[rank], C.size_t(count)
	for peer := range g.ranks {
		at := int64(peer) * bytes
		if err := fail("ncclSend", C.ry_ncclSend(unsafe.Add(send, at), n, dtype, C.int(peer), comm, stream)); err != nil {
			return err
		}
		if err := fail("ncclRecv", C.ry_ncclRecv(unsafe.Add(recv, at), n, dtype, C.int(peer), comm, stream)); err != nil {
			return err
		}
	}
	return nil
}
