//go:build cgo

package probe

import (
	"encoding/binary"
	"fmt"
	"slices"

	"railyard/exec/cuda/driver"
	"railyard/exec/cuda/gpus"
	"railyard/model/block"
	"railyard/model/schedule"
)

// castsTo are the numbers of GPUs that one of several sends to.
func castsTo(gpus int) (out []int) {
	for _, n := range []int{1, 2, 3, gpus - 1} {
		if 0 < n && n < gpus && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// castProtocols are those of messages that are not for reductions: from and to which size, by which
// factor apart.
var castProtocols = []struct {
	protocol
	factor int64
}{
	{protocol{name: "ll", from: 64, to: 4 << 20, grain: 8, counts: 1}, 2},
	{protocol{name: "ll128", from: 1 << 10, to: 16 << 20, grain: 15, counts: 1}, 2},
	{protocol{name: "simple", from: 1 << 10, to: 64 << 20, grain: 16, counts: 1}, 4},
	{protocol{name: "pull", from: 1 << 10, to: 64 << 20, grain: 16, counts: 1}, 4},
}

// casts: one root sends a message to one, two, three and all others, who send nothing: rows such
// as ll_cast3_overlap.
func (s *session) casts() error {
	for _, n := range castsTo(len(s.gpus)) {
		p := pattern{name: fmt.Sprintf("cast%d", n), gpus: s.gpus[:n+1], kernel: "_casts", cast: true}
		for _, proto := range castProtocols {
			for bytes := proto.from; bytes <= min(proto.to, int64(s.message)); bytes *= proto.factor {
				for _, d := range proto.castShapes(bytes, s.gpus[0].Multiprocessors) {
					if err := s.exchange(p, proto.protocol, d, bytes); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// castShapes are the grids of casts: where data are their own flags the one in which schedules run,
// else every other number of blocks that messages are tried with.
func (proto protocol) castShapes(bytes int64, multiprocessors int) []shape {
	if m, ok := block.FlaggedFor(schedule.Protocol(proto.name)); ok {
		blocks, threads := m.Shape(bytes, multiprocessors)
		return []shape{{blocks, threads}}
	}
	return slices.DeleteFunc(proto.shapes(bytes, multiprocessors), func(d shape) bool {
		return !slices.Contains([]int{1, 4, 16, 64, multiprocessors}, d.blocks) || d.threads < 512 && bytes >= 4<<20
	})
}

// relays: every other GPU reads a part of the root's memory and stores it at all but the root: rows
// such as relay_t256_overlap, of kernels of 256 threads a block. How far reading and passing on overlap
// depends on how many threads read before any stores.
func (s *session) relays() error {
	if len(s.gpus) < 3 {
		return nil
	}
	p := pattern{name: "relay", gpus: s.gpus, cast: true, relay: true}
	sms := s.gpus[0].Multiprocessors
	for bytes := int64(64 << 10); bytes <= min(4<<20, int64(s.message)); bytes *= 2 {
		for _, d := range []shape{{16, 256}, {64, 256}, {sms, 128}} {
			p.kernel = fmt.Sprintf("_t%d", d.threads)
			if err := s.exchange(p, protocol{name: "relay", counts: 2}, d, bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// castTo connects a root with those it sends to, or one of these with the root and, where it passes
// on, with the others.
func (s *session) castTo(a *args, p pattern, g *gpu) {
	root := p.gpus[0]
	if g == root {
		a.Mode = 1 // rootMode
	}
	for _, to := range p.gpus {
		if to != g && (p.relay || g == root || to == root) {
			s.connect(a, g, to, to)
		}
	}
}

// credit raises all flags to the rounds so far, as if what was sent before had been taken.
func (s *session) credit(list []*gpu) error {
	text := make([]byte, len(s.gpus)*maxBlocks*flagBytes)
	for at := 0; at < len(text); at += flagBytes {
		binary.LittleEndian.PutUint32(text[at:], s.epoch)
	}
	return gpus.Each(list, func(g *gpu) error { return driver.Upload(g.marks.At, text) })
}
