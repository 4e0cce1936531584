//go:build cgo

package cuda

import (
	"encoding/binary"

	"railyard/exec/cuda/driver"
	"railyard/model/collective"
	"railyard/model/schedule"
)

// data fills the inputs of one epoch and checks its outputs, on the GPUs.
type data struct {
	m      *memory
	key    string // of the loaded kernels
	epoch  int
	random bool
}

func newData(m *memory) (*data, error) {
	options, err := defines(m.cfg.DType, m.cfg.Op)
	if err != nil {
		return nil, err
	}
	key, err := m.n.kernels(source{file: "check.cu", options: options})
	return &data{m: m, key: key}, err
}

// unit is half the distance between neighbours at 1: what one rounding may miss.
func unit(t collective.DType) float64 {
	return map[collective.DType]float64{collective.Float32: 0x1p-24, collective.Float16: 0x1p-11, collective.BFloat16: 0x1p-8,
		collective.Float8E4M3: 0x1p-4, collective.Float8E5M2: 0x1p-3}[t]
}

// tiny is half the distance between neighbours at 0.
func tiny(t collective.DType) float64 {
	return map[collective.DType]float64{collective.Float32: 0x1p-150, collective.Float16: 0x1p-25, collective.BFloat16: 0x1p-134,
		collective.Float8E4M3: 0x1p-10, collective.Float8E5M2: 0x1p-17}[t]
}

// checkArgs is kernel/src/check.cu's Check.
type checkArgs struct {
	At, Count, Wrong, Seed        uint64
	Unit, Tiny                    float64
	Rank, Ranks, Block, Epoch     uint32
	Random, Reduces, Average, Pad uint32
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// run launches one of the check kernels over count elements (bytes for guard).
func (d *data) run(g *gpu, name string, at driver.Ptr, count int64, rank, block int) error {
	if count <= 0 {
		return nil
	}
	k, err := g.modules[d.key].Kernel(name)
	if err != nil {
		return err
	}
	cfg, spec := d.m.cfg, d.m.s.Spec
	p := checkArgs{At: uint64(at), Count: uint64(count), Wrong: uint64(g.counter), Seed: uint64(cfg.Seed),
		Unit: unit(cfg.DType), Tiny: tiny(cfg.DType),
		Rank: uint32(rank), Ranks: uint32(spec.Ranks), Block: uint32(block), Epoch: uint32(d.epoch),
		Random: flag(d.random), Reduces: flag(spec.Kind.Reduces()), Average: flag(cfg.Op == collective.Avg)}
	blocks := min((count+255)/256, int64(g.Multiprocessors)*8)
	return k.Launch(g.Stream, driver.Dim{Blocks: int(blocks), Threads: 256}, driver.Bytes(&p))
}

// fill poisons all memory and writes the inputs.
func (d *data) fill() error {
	size := int64(d.m.cfg.DType.Size())
	return d.m.n.each(func(g *gpu) error {
		rank := d.m.n.number(g.place)
		if err := g.Stream.Fill(g.output.At, 0xff, g.output.Size); err != nil {
			return err
		}
		if err := g.Stream.Fill(g.input.At, 0xff, g.input.Size); err != nil {
			return err
		}
		for block := range d.m.s.Spec.Blocks() {
			if !d.m.s.Spec.Holds(rank, block) {
				continue
			}
			off, n := d.m.layout.Block(rank, schedule.Input, block)
			if err := d.run(g, "fill", d.m.at(g.place, int(schedule.Input))+driver.Ptr(off*size), n, rank, block); err != nil {
				return err
			}
		}
		return g.Stream.Synchronize()
	})
}

// wrong counts output elements that differ and guard bytes that were touched.
func (d *data) wrong() (total int64, err error) {
	counts := make([]int64, len(d.m.n.gpus))
	err = d.m.n.each(func(g *gpu) error {
		if err := g.Stream.Fill(g.counter, 0, 8); err != nil {
			return err
		}
		if err := d.checkRank(g); err != nil {
			return err
		}
		if err := g.Stream.Synchronize(); err != nil {
			return err
		}
		var buf [8]byte
		if err := driver.Download(buf[:], g.counter); err != nil {
			return err
		}
		counts[g.Rank] = int64(binary.LittleEndian.Uint64(buf[:]))
		return nil
	})
	for _, c := range counts {
		total += c
	}
	return total, err
}

func (d *data) checkRank(g *gpu) error {
	spec, size, rank := d.m.s.Spec, int64(d.m.cfg.DType.Size()), d.m.n.number(g.place)
	out := d.m.at(g.place, int(schedule.Output))
	for block := range spec.Blocks() {
		if !spec.Wants(rank, block) {
			continue
		}
		off, n := d.m.layout.Block(rank, schedule.Output, block)
		src, srcBlock := 0, block
		if !spec.Kind.Reduces() {
			src, srcBlock = spec.Origin(rank, block)
		}
		if err := d.run(g, "check", out+driver.Ptr(off*size), n, src, srcBlock); err != nil {
			return err
		}
	}
	if d.m.cfg.InPlace && spec.Kind == collective.ReduceScatter {
		return nil // the guards are around the whole input
	}
	n := d.m.layout.Elements(rank, schedule.Output) * size
	if d.m.cfg.InPlace {
		n = max(n, d.m.layout.Elements(rank, schedule.Input)*size)
	}
	if err := d.run(g, "guard", out-guardBytes, guardBytes, 0, 0); err != nil {
		return err
	}
	return d.run(g, "guard", out+driver.Ptr(n), guardBytes, 0, 0)
}
