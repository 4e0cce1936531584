//go:build cgo

package probe

// flags: how long a flag takes one way, without and with the order of memory, between
// all pairs.
func (s *session) flags() error {
	for i, a := range s.gpus {
		for _, b := range s.gpus[i+1:] {
			for mode, kind := range []string{"flag_oneway_relaxed", "flag_oneway_acqrel"} {
				ns, err := s.together("ping_pong", []*gpu{a, b}, shape{1, 1}, rounds{2000, 100}, func(g *gpu, x *args) {
					x.Mode = uint32(mode)
					other := b
					if g == b {
						other = a
					} else {
						x.First = 1
					}
					s.connect(x, g, other, other)
				})
				if err != nil {
					return err
				}
				s.row(kind, a.name(), b.name(), 1, 0, ns/2, "ns")
			}
		}
	}
	return nil
}

// pattern is who sends to whom in a round.
type pattern struct {
	name   string
	gpus   []*gpu
	offset []int // to the GPUs so many places on, among gpus
}

func (s *session) patterns() []pattern {
	n := len(s.gpus)
	var out []pattern
	if n >= 2 {
		out = append(out, pattern{"pair", s.gpus[:2], []int{1}})
	}
	if n > 2 {
		out = append(out, pattern{"ring", s.gpus, []int{1}}, pattern{"all", s.gpus, steps(n)})
	}
	return out
}

// protocols says from and to which size messages are measured, and how many bytes of
// one a thread takes at once.
var protocols = []struct {
	name, kernel string
	from, to     int64
	grain        int64
}{
	{"ll", "ll_messages", 64, 4 << 20, 8},
	{"simple", "simple_messages", 1 << 10, 64 << 20, 16},
}

// messages: what a message of a size takes, for numbers of blocks; the time is a
// round's, in which all GPUs of the pattern send and receive.
func (s *session) messages() error {
	for _, p := range s.patterns() {
		for _, proto := range protocols {
			for bytes := proto.from; bytes <= min(proto.to, int64(s.message)); bytes *= 2 {
				for blocks := 1; blocks <= s.gpus[0].sms; blocks *= 2 {
					if blocks > 1 && bytes/int64(blocks) < 32*proto.grain {
						break
					}
					if err := s.exchange(p, proto.name, proto.kernel, shape{blocks, threads(bytes, blocks, proto.grain)}, bytes); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// threads is whole warps, enough for a grain each, at most 512.
func threads(bytes int64, blocks int, grain int64) int {
	part := (bytes + int64(blocks) - 1) / int64(blocks)
	return int(min(512, max(32, (part/grain+31)/32*32)))
}

func (s *session) exchange(p pattern, protocol, kernel string, d shape, bytes int64) error {
	r := rounds{uint32(max(10, min(200, (64<<20)/bytes))), 5}
	ns, err := s.together(kernel, p.gpus, d, r, func(g *gpu, a *args) {
		a.Bytes = uint64(bytes)
		n := len(p.gpus)
		for _, o := range p.offset {
			s.connect(a, g, p.gpus[(g.index+o)%n], p.gpus[(g.index-o+n)%n])
		}
	})
	if err != nil {
		return err
	}
	s.row(protocol+"_"+p.name, "*", "*", d.blocks, bytes, ns/1e3, "us")
	return nil
}
