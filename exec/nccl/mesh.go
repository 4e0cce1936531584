//go:build cgo

package nccl

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"railyard/exec/cuda"
	"railyard/exec/cuda/driver"
)

// Mesh is communicators between the ranks of several processes, one for each stream of a rank: what is posted to one is
// carried in order.
type Mesh struct {
	first, ranks int
	comms        [][]C.handle // by stream and rank of this process
	ended        atomic.Bool
}

// Meet connects the ranks of all processes, which call it with as many GPUs each, for so many streams. Where one has no NCCL,
// none has: the error says which.
func Meet(ctx context.Context, p cuda.Processes, node *cuda.Node, streams int, s Setting) (*Mesh, error) {
	ids, err := identities(ctx, p, streams)
	if err != nil {
		return nil, err
	}
	values := s.environment()
	if os.Getenv("NCCL_MAX_P2P_NCHANNELS") == "" { // a user's own limit stands
		values["NCCL_MAX_P2P_NCHANNELS"] = strconv.Itoa(cuda.LibraryBlocks)
	}
	m := &Mesh{first: p.Own * node.Ranks(), ranks: p.Size * node.Ranks()}
	err = with(values, func() error {
		met := make(chan error, 1)
		go func() { met <- m.connect(ids, node) }()
		select {
		case err := <-met:
			return err
		case <-ctx.Done(): // a process that never comes is waited for without end
			node.Abandon()
			return context.Cause(ctx)
		}
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (m *Mesh) connect(ids []C.ry_unique_id, node *cuda.Node) error {
	for _, id := range ids {
		comms := make([]C.handle, node.Ranks())
		err := node.Each(func(rank int) error {
			return fail("ncclCommInitRank", C.ry_ncclCommInitRank(&comms[rank], C.int(m.ranks), id, C.int(m.first+rank)))
		})
		if err != nil {
			return err
		}
		m.comms = append(m.comms, comms)
	}
	return nil
}

// identities are those of the communicators, which the first process makes, where all have a library.
func identities(ctx context.Context, p cuda.Processes, streams int) ([]C.ry_unique_id, error) {
	ids := make([]C.ry_unique_id, streams)
	mine := make([][]byte, streams)
	err := Open()
	for i := 0; p.Own == 0 && err == nil && i < streams; i++ {
		err = fail("ncclGetUniqueId", C.ry_ncclGetUniqueId(&ids[i]))
		mine[i] = C.GoBytes(unsafe.Pointer(&ids[i]), C.int(unsafe.Sizeof(ids[i])))
	}
	if err := cuda.Agree(ctx, p, err); err != nil {
		return nil, err
	}
	all, err := cuda.Tell(ctx, p, mine)
	if err != nil {
		return nil, err
	}
	for i := range ids {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&ids[i])), unsafe.Sizeof(ids[i])), all[0][i])
	}
	return ids, nil
}

// Streams is how many communicators each rank has.
func (m *Mesh) Streams() int { return len(m.comms) }

// Post puts sends and receives on a stream as one group.
func (m *Mesh) Post(rank, set int, messages []cuda.Message, on driver.Stream) error {
	comm, stream := m.comms[set][rank], C.handle(on.Handle())
	const bytes = 0 // ncclInt8
	return grouped(func() error {
		for _, x := range messages {
			var err error
			if x.Send {
				err = fail("ncclSend", C.ry_ncclSend(pointer(x.At), C.size_t(x.Bytes), bytes, C.int(x.Peer), comm, stream))
			} else {
				err = fail("ncclRecv", C.ry_ncclRecv(pointer(x.At), C.size_t(x.Bytes), bytes, C.int(x.Peer), comm, stream))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Baseline is NCCL's own collectives on the first of the communicators.
func (m *Mesh) Baseline(node *cuda.Node) *Baseline {
	return &Baseline{node: node, group: &Group{comms: m.comms[0], ranks: m.ranks, borrowed: true}}
}

// Abort ends what is under way, within a time: NCCL may take several seconds where a process is gone.
func (m *Mesh) Abort(within time.Duration) {
	if m.ended.Swap(true) {
		return
	}
	var wg sync.WaitGroup
	for _, c := range slices.Concat(m.comms...) {
		wg.Go(func() { C.ry_ncclCommAbort(c) }) // the process ends anyway
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(within):
	}
}

// Close gives the communicators back; nothing may be under way. After an abort there are none.
func (m *Mesh) Close() error {
	if m.ended.Swap(true) {
		return nil
	}
	var errs []error
	for _, c := range slices.Concat(m.comms...) {
		errs = append(errs, fail("ncclCommDestroy", C.ry_ncclCommDestroy(c)))
	}
	return errors.Join(errs...)
}
