//go:build cgo

package nccl

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
	ended        sync.Once
}

// Meet connects the ranks of all processes, which call it with as many GPUs each, and makes the node's some of them.
func Meet(ctx context.Context, p Processes, node *cuda.Node) (*Mesh, error) {
	if err := Open(); err != nil {
		return nil, err
	}
	own := node.Ranks()
	m := &Mesh{first: p.Own * own, ranks: p.Size * own}
	ids, err := identities(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		comms := make([]C.handle, own)
		err := node.Each(func(rank int) error {
			return fail("ncclCommInitRank", C.ry_ncclCommInitRank(&comms[rank], C.int(m.ranks), id, C.int(m.first+rank)))
		})
		if err != nil {
			return nil, err
		}
		m.comms = append(m.comms, comms)
	}
	node.Join(&cuda.Others{Nodes: p.nodes(own), Own: p.Own, Link: m, Exchange: p.Exchange, Barrier: p.Barrier})
	return m, nil
}

// identities are those of the communicators, which the first process makes.
func identities(ctx context.Context, p Processes) (ids [meshStreams]C.ry_unique_id, err error) {
	if p.Own == 0 {
		for i := range ids {
			if err := fail("ncclGetUniqueId", C.ry_ncclGetUniqueId(&ids[i])); err != nil {
				return ids, err
			}
		}
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&ids)), unsafe.Sizeof(ids))
	all, err := p.Exchange(ctx, bytes)
	if err != nil {
		return ids, err
	}
	if len(all[0]) != len(bytes) {
		return ids, fmt.Errorf("NCCL's identities have %d bytes in the first process, %d here", len(all[0]), len(bytes))
	}
	copy(bytes, all[0])
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
	return &Baseline{node: node, groups: map[bool]*Group{false: {comms: m.comms[0], ranks: m.ranks, borrowed: true}}}
}

// Abort ends what is under way, within a time: NCCL may take several seconds where a process is gone.
func (m *Mesh) Abort(within time.Duration) {
	ended := make(chan struct{})
	go m.ended.Do(func() {
		var wg sync.WaitGroup
		for _, comms := range m.comms {
			for _, c := range comms {
				wg.Go(func() { C.ry_ncclCommAbort(c) }) // the process ends anyway
			}
		}
		wg.Wait()
		close(ended)
	})
	select {
	case <-ended:
	case <-time.After(within):
	}
}

// Close gives the communicators back; nothing may be under way. After an abort there are none.
func (m *Mesh) Close() error {
	var errs []error
	m.ended.Do(func() {
		for _, comms := range m.comms {
			for _, c := range comms {
				errs = append(errs, fail("ncclCommDestroy", C.ry_ncclCommDestroy(c)))
			}
		}
	})
	return errors.Join(errs...)
}
