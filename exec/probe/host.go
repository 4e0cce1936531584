//go:build cgo

package probe

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"railyard/exec/cuda/driver"
)

// hostFlags: how long a flag takes from a GPU to the processor and back, in memory of the host, as bells and flags of proxies go.
func (s *session) hostFlags() error {
	g := s.gpus[0]
	return g.Do(func() error {
		host, err := driver.AllocHost(2 * flagBytes)
		if err != nil {
			return fmt.Errorf("pinned memory: %w", err)
		}
		defer host.Free()
		for mode, kind := range []string{"host_flag_relaxed", "host_flag_acqrel"} {
			ns, err := s.bounced(g, host, uint32(mode))
			if err != nil {
				return err
			}
			s.row(kind, g.name(), "host", 1, 0, ns/pingPongs, "ns")
		}
		return nil
	})
}

// bounced returns the nanoseconds that all flags took there and back as the GPU saw it.
func (s *session) bounced(g *gpu, host *driver.HostMemory, mode uint32) (float64, error) {
	clear(host.Bytes)
	x := s.args(g)
	x.Rounds, x.Warmup, x.Mode, x.First, x.Peers = pingPongs, warmups, mode, 1, 1
	x.Peer[0] = peer{Flags: uint64(host.At), Theirs: uint64(host.At) + flagBytes}
	if err := g.launch("ping_pong", shape{1, 1}, x); err != nil {
		return 0, err
	}
	word := func(at int) *uint32 { return (*uint32)(unsafe.Pointer(&host.Bytes[at])) }
	if err := echo(word(flagBytes), word(0), g.Stream.Done); err != nil {
		return 0, err
	}
	if s.set.Aborted() {
		return 0, fmt.Errorf("GPU %d and the processor: a flag in host memory did not come within %v", g.Rank, patience)
	}
	raw := make([]byte, 8)
	err := driver.Download(raw, g.result.At)
	return float64(binary.LittleEndian.Uint64(raw)), err
}

// echo raises a flag whenever another is raised, until whoever raises that is done: it ends by itself where this comes late.
func echo(from, to *uint32, done func() (bool, error)) error {
	for n, polls := uint32(1), 0; ; polls++ {
		if atomic.LoadUint32(from) >= n {
			atomic.StoreUint32(to, n)
			n, polls = n+1, 0
		} else if polls%4096 == 4095 {
			if ended, err := done(); ended || err != nil {
				return err
			}
		}
	}
}
