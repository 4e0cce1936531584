//go:build cgo

package probe

import (
	"encoding/binary"
	"fmt"
	"slices"

	"railyard/exec/cuda/driver"
	"railyard/exec/cuda/gpus"
)

const (
	pingPongs = 2000
	warmups   = 100
)

// flags: how long a flag takes one way, without and with the order of memory, between
// all pairs.
func (s *session) flags() error {
	for i, a := range s.gpus {
		for _, b := range s.gpus[i+1:] {
			for mode, kind := range []string{"flag_oneway_relaxed", "flag_oneway_acqrel"} {
				ns, err := s.pingPong(a, b, uint32(mode))
				if err != nil {
					return err
				}
				s.row(kind, a.name(), b.name(), 1, 0, ns/2/pingPongs, "ns")
			}
		}
	}
	return nil
}

// pingPong returns the nanoseconds that all flags took as the first GPU saw it.
func (s *session) pingPong(a, b *gpu, mode uint32) (float64, error) {
	epoch := s.epoch
	s.epoch += pingPongs + warmups
	raw := make([]byte, 8)
	err := gpus.Each([]*gpu{a, b}, func(g *gpu) error {
		x := s.args(g)
		x.Epoch, x.Rounds, x.Warmup, x.Mode = epoch, pingPongs, warmups, mode
		other := a
		if g == a {
			x.First, other = 1, b
		}
		s.connect(x, g, other, other)
		if err := g.launch("ping_pong", shape{1, 1}, x); err != nil {
			return err
		}
		if err := g.Stream.Synchronize(); err != nil || g != a {
			return err
		}
		return driver.Download(raw, g.result.At)
	})
	if err == nil && s.set.Aborted() {
		err = fmt.Errorf("GPUs %d and %d: a flag did not come within %v", a.Rank, b.Rank, patience)
	}
	return float64(binary.LittleEndian.Uint64(raw)), err
}

// pattern is who sends to whom in a round, and how.
type pattern struct {
	name   string
	gpus   []*gpu
	offset []int  // to the GPUs so many places on, among gpus
	kernel string // ends the names of kernels
	cast   bool   // the first GPU sends, the others do not: no offsets
	relay  bool   // of a cast: the others pass on what they read
}

// patterns are those of two GPUs; of a ring; and of all, who send one source to all, stored
// (spread) or added to what lies there (sum), or a source of its own to each (deal, dealsum).
// Several peers are sent to, and looked at, side by side.
func (s *session) patterns() []pattern {
	n := len(s.gpus)
	var out []pattern
	if n >= 2 {
		out = append(out, pattern{name: "pair", gpus: s.gpus[:2], offset: []int{1}, kernel: "_messages"})
	}
	if n > 2 {
		all := steps(n)
		out = append(out, pattern{name: "ring", gpus: s.gpus, offset: []int{1}, kernel: "_messages"},
			pattern{name: "spread", gpus: s.gpus, offset: all, kernel: "_messages"},
			pattern{name: "sum", gpus: s.gpus, offset: all, kernel: "_sums"},
			pattern{name: "deal", gpus: s.gpus, offset: all, kernel: "_deals"},
			pattern{name: "dealsum", gpus: s.gpus, offset: all, kernel: "_dealsums"})
	}
	return out
}

// protocol says from and to which size messages are measured, in which patterns, and how
// many bytes of one a thread takes at once.
type protocol struct {
	name     string
	from, to int64
	grain    int64
	counts   int   // of a flag in a round
	many     int64 // the largest message of which kernels of many rounds are measured
	patterns []string
}

// Where data are their own flags many blocks take what is more than a few KiB, and a kernel of
// many blocks starts later: that belongs to what its message costs, since such a kernel seldom
// has a second one. Words are for reductions.
var protocols = []protocol{
	{"ll", 64, 4 << 20, 8, 1, 16 << 10, []string{"pair", "spread", "sum", "deal", "dealsum"}},
	{"ll128", 1 << 10, 16 << 20, 15, 1, 16 << 10, []string{"pair", "spread", "sum", "deal", "dealsum"}},
	{wordsProtocol, 1 << 10, 64 << 20, 16, 1, 16 << 10, []string{"pair", "sum", "dealsum"}},
	{"simple", 1 << 10, 64 << 20, 16, 1, 1 << 20, []string{"pair", "ring", "spread"}},
	{"pull", 1 << 10, 64 << 20, 16, 2, 1 << 20, []string{"pair", "sum"}},
}

// kernel is the name of the kernel that sends in a pattern.
func (proto protocol) kernel(p pattern) string {
	switch {
	case p.relay:
		return "relays"
	case proto.name == "pull" && !p.cast:
		return "pull_messages" // it always adds
	}
	return proto.name + p.kernel
}

// messages: what a kernel takes that sends a message of a size to each peer and receives
// as many, for numbers of blocks, in a graph, launched as kernels that run schedules are:
// rows such as ll_spread_overlap; ll_pair_x4_overlap is one with four such rounds.
func (s *session) messages() error {
	for _, p := range s.patterns() {
		if len(p.offset) == 1 {
			if err := s.engineMessages(p); err != nil {
				return err
			}
		}
		for _, proto := range protocols {
			if slices.Contains(proto.patterns, p.name) {
				if err := s.sizes(p, proto); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// sizes measures messages of all sizes whose sources, and what arrives, have room.
func (s *session) sizes(p pattern, proto protocol) error {
	if proto.name == wordsProtocol {
		if err := s.emptyInboxes(); err != nil {
			return err
		}
	}
	for bytes := proto.from; bytes <= min(proto.to, int64(s.message), int64(s.max)/int64(len(p.offset))); bytes *= 2 {
		for _, d := range proto.shapes(bytes, s.gpus[0].Multiprocessors) {
			if err := s.exchange(p, proto, d, bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// shapes are the grids that are tried: numbers of blocks that are powers of two and, for large
// messages, one a multiprocessor; and of messages that are stored or loaded, fewer threads,
// since more accesses under way may only queue.
func (proto protocol) shapes(bytes int64, multiprocessors int) (out []shape) {
	add := func(blocks int) {
		switch part := bytes / int64(blocks); {
		case blocks > 1 && part < 32*proto.grain:
		case part > 2<<20: // far from the fastest
		default:
			out = append(out, shape{blocks, threads(bytes, blocks, proto.grain)})
		}
	}
	n := 1
	for ; n <= multiprocessors; n *= 2 {
		add(n)
	}
	if bytes < 4<<20 {
		return out
	}
	if n/2 < multiprocessors {
		add(multiprocessors)
	}
	if proto.name == "simple" || proto.name == "pull" {
		out = append(out, shape{multiprocessors, 128}, shape{max(multiprocessors/2, 1), 256})
	}
	return out
}

// wordsProtocol is that of words which are their own flags: boxes hold ones where nothing has
// arrived. It is not measured in a ring, where ranks may be rounds ahead, which nothing here
// would tell.
const wordsProtocol = "words"

func (s *session) emptyInboxes() error {
	return gpus.Each(s.gpus, func(g *gpu) error {
		if err := g.Stream.Fill(g.inbox.At, 0xff, g.inbox.Size); err != nil {
			return err
		}
		return g.Stream.Synchronize()
	})
}

// threads is whole warps, enough for a grain each, at most 512.
func threads(bytes int64, blocks int, grain int64) int {
	part := (bytes + int64(blocks) - 1) / int64(blocks)
	return int(min(512, max(32, (part/grain+31)/32*32)))
}

// manyRounds is how many rounds a kernel makes besides one: the difference tells the
// message from the launch.
const manyRounds = 4

// exchange times kernels of one round, and of many, in a graph.
func (s *session) exchange(p pattern, proto protocol, d shape, bytes int64) error {
	for _, rounds := range []int{1, manyRounds} {
		if rounds > 1 && (p.name != "pair" || bytes > proto.many) {
			continue
		}
		n := int(max(2, min(20, (32<<20)/bytes))) // even: launches take turns, from graph to graph too
		if err := s.count(p.gpus, rounds*proto.counts); err != nil {
			return err
		}
		if p.cast {
			if err := s.credit(p.gpus); err != nil {
				return err
			}
		}
		s.epoch += uint32(n * rounds * proto.counts * (replays + 1))
		t, err := s.slowestOf(p.gpus, n, func(g *gpu) error {
			return g.follow(proto.kernel(p), d, s.round(p, g, bytes, rounds))
		})
		if err != nil {
			return fmt.Errorf("%s_%s, %d bytes, %d blocks: %w", proto.name, p.name, bytes, d.blocks, err)
		}
		s.row(p.kind(proto.name, rounds)+"_overlap", "*", "*", d.blocks, bytes, us(t), "us")
	}
	return nil
}

// round is the argument of a kernel that sends to a pattern's peers, in the GPU's next launch.
func (s *session) round(p pattern, g *gpu, bytes int64, rounds int) *args {
	a := s.args(g)
	a.Bytes, a.Rounds, a.Turn = uint64(bytes), uint32(rounds), g.turn
	g.turn ^= 1
	if p.cast {
		s.castTo(a, p, g)
	}
	all := len(p.gpus)
	for _, o := range p.offset {
		s.connect(a, g, p.gpus[(g.Rank+o)%all], p.gpus[(g.Rank-o+all)%all])
	}
	return a
}

// kind names rows of messages.
func (p pattern) kind(protocol string, rounds int) string {
	if p.relay {
		return p.name + p.kernel
	}
	if rounds > 1 {
		return fmt.Sprintf("%s_%s_x%d", protocol, p.name, rounds)
	}
	return protocol + "_" + p.name
}

// count sets the rounds so far of all blocks to the same number on all GPUs, a larger
// one than any flag in their memory: those before the next launch and, so many more, before
// the one after.
func (s *session) count(list []*gpu, each int) error {
	text := make([]byte, maxBlocks*flagBytes)
	for b := range maxBlocks {
		binary.LittleEndian.PutUint32(text[b*flagBytes:], s.epoch)
		binary.LittleEndian.PutUint32(text[b*flagBytes+4:], s.epoch+uint32(each))
	}
	return gpus.Each(list, func(g *gpu) error {
		g.turn = 0
		return driver.Upload(g.counters.At, text)
	})
}
