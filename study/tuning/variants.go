package tuning

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/exec/cuda"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/units"
)

// Variant is an algorithm with the way to run it, or NCCL.
type Variant struct {
	Algorithm string
	Slices    int
	How       cuda.Method
	Windows   bool // NCCL: on registered symmetric windows
}

// NCCL is the algorithm's name in rows that NCCL ran.
const NCCL = "nccl"

// Mechanism is how data moves, as rows name it.
func (v Variant) Mechanism() string {
	switch {
	case v.Algorithm == NCCL && v.Windows:
		return "windows"
	case v.Algorithm == NCCL:
		return "default"
	}
	return v.How.Mechanism.String()
}

// variants are the ways worth a try for a size.
func (f *Sweep) variants(kind collective.Kind, gpus int, size units.Bytes) []Variant {
	l := &variants{f: f, gpus: gpus, size: size}
	switch kind {
	case collective.AllReduce:
		l.allReduces()
	case collective.Broadcast:
		l.broadcasts()
	case collective.ReduceScatter:
		l.reduceScatters()
	default:
		l.packetsAndLines("direct", int64(size)/int64(gpus), 1)
		l.simple(block.Push, 512*units.KiB, 256*units.MiB)
		l.copies("direct", 64*units.MiB, 1, 64)
	}
	return l.list
}

// ParseVariant reads algorithm/mechanism/slices/blocks/threads.
func ParseVariant(text string) (v Variant, err error) {
	text, interpreted := strings.CutSuffix(text, "+int")
	parts := strings.Split(text, "/")
	if len(parts) != 5 {
		return v, fmt.Errorf("--try %s: must be algorithm/mechanism/slices/blocks/threads", text)
	}
	v.Algorithm, v.How = parts[0], cuda.Method{Streams: 1, Overlap: true, Specialise: !interpreted}
	if v.How.Mechanism, err = block.ParseMechanism(parts[1]); err != nil {
		return v, err
	}
	for i, to := range []*int{&v.Slices, &v.How.Blocks, &v.How.Threads} {
		if *to, err = strconv.Atoi(parts[2+i]); err != nil || *to < 1 {
			return v, fmt.Errorf("--try %s: %q must be a positive number", text, parts[2+i])
		}
	}
	v.How.Specialise = v.How.Specialise && v.How.Mechanism != block.Copies
	return v, nil
}

// variants collects ways to run a size.
type variants struct {
	f    *Sweep
	gpus int
	size units.Bytes
	list []Variant
}

func (l *variants) allReduces() {
	size, n := int64(l.size), int64(l.gpus)
	l.flagged("direct", block.Packets, size, 0, units.Bytes(128<<10/n))
	if n == 2 {
		l.flagged("direct", block.Words, size, 8*units.KiB, 64*units.MiB)
		l.flagged("two_shot", block.WordsPush, size/n, 4*units.MiB, 256*units.MiB)
	} else {
		l.flagged("direct", block.Words, size, 8*units.KiB, 512*units.KiB)
		l.flagged("two_shot", block.Words, size/n, 128*units.KiB, 8*units.MiB)
		l.flagged("two_shot", block.WordsPush, size/n, 512*units.KiB, 256*units.MiB)
		l.flagged("simple_ring", block.Words, size/n, 4*units.MiB, 256*units.MiB)
		l.wide("simple_ring", block.Words, 8*units.MiB, 256*units.MiB)
	}
	l.copies("two_shot", 64*units.MiB, 2, 64)
}

func (l *variants) broadcasts() {
	l.packetsAndLines("direct", int64(l.size), int64(l.gpus))
	if l.gpus == 2 {
		l.simple(block.Push, 512*units.KiB, 2*units.MiB)
		l.simple(block.Pull, 2*units.MiB, 256*units.MiB)
		l.copies("direct", 64*units.MiB, 1, 64)
		return
	}
	l.simple(block.Push, 128*units.KiB, 1*units.MiB)
	l.fewBytes("scatter_exchange", 512*units.KiB, 4*units.GiB)
}

// reduceScatters: what one slice receives is reduced while the next one travels.
func (l *variants) reduceScatters() {
	each := int64(l.size) / int64(l.gpus)
	l.flagged("direct", block.Packets, each, 0, 128*units.KiB)
	l.flagged("direct", block.Words, each, 16*units.KiB, 4*units.GiB)
	l.wide("direct", block.Words, 16*units.MiB, 4*units.GiB)
	l.copies("direct", 64*units.MiB, 2, l.f.multiprocessors)
	l.copies("direct", 256*units.MiB, 4, l.f.multiprocessors)
}

func (l *variants) add(v Variant) {
	v.How.Overlap, v.How.Specialise = true, l.f.specialises(l.gpus, l.size)
	l.list = append(l.list, v)
}

// specialises reports whether kernels are made for one plan: not where an interpreter is as fast.
func (f *Sweep) specialises(gpus int, size units.Bytes) bool {
	most := 512 * units.MiB
	if gpus > 2 {
		most = 64 * units.MiB // a kernel for each rank: they take long to compile
	}
	return f.Specialise && size <= most
}

// packetsAndLines: lines begin where packets near their end; n ranks' worth of data crosses
// each link.
func (l *variants) packetsAndLines(algo string, bytes, n int64) {
	l.flagged(algo, block.Packets, bytes, 0, units.Bytes(512<<10/n))
	l.flagged(algo, block.Lines, bytes, units.Bytes(64<<10/n), units.Bytes(16<<20/n))
}

// flagged ways move so many bytes at a time in the shape that is made for them.
func (l *variants) flagged(algo string, m block.Mechanism, bytes int64, least, most units.Bytes) {
	if l.size < least || l.size > most {
		return
	}
	how := cuda.Method{Mechanism: m}
	how.Blocks, how.Threads = m.Shape(bytes, l.f.multiprocessors)
	l.add(Variant{Algorithm: algo, Slices: 1, How: how})
}

// wide is flagged with as many threads as a block can have, on all multiprocessors.
func (l *variants) wide(algo string, m block.Mechanism, least, most units.Bytes) {
	if l.size < least || l.size > most {
		return
	}
	l.add(Variant{Algorithm: algo, Slices: 1, How: cuda.Method{Mechanism: m, Blocks: l.f.multiprocessors, Threads: cuda.MaxThreads}})
}

// fewBytes are pushes with few bytes under way at once: where a peer's links are written by
// several, more only queue.
func (l *variants) fewBytes(algo string, least, most units.Bytes) {
	if l.size < least || l.size > most {
		return
	}
	for _, shape := range [][2]int{{64, 256}, {l.f.multiprocessors, 128}} {
		l.add(Variant{Algorithm: algo, Slices: 1, How: cuda.Method{Mechanism: block.Push, Blocks: shape[0], Threads: shape[1]}})
	}
}

func (l *variants) simple(m block.Mechanism, least, most units.Bytes) {
	var blocks []int
	switch {
	case l.size < least || l.size > most:
		return
	case l.size <= 256*units.KiB:
		blocks = []int{24}
	case l.size <= 2*units.MiB:
		blocks = []int{64}
	default:
		blocks = []int{64, l.f.multiprocessors}
	}
	for _, b := range blocks {
		l.add(Variant{Algorithm: "direct", Slices: 1, How: cuda.Method{Mechanism: m, Blocks: b, Threads: 512}})
	}
}

// copies: only a reduction behind which no copy follows is worth all multiprocessors.
func (l *variants) copies(algo string, least units.Bytes, slices, blocks int) {
	if l.size < least {
		return
	}
	l.list = append(l.list, Variant{Algorithm: algo, Slices: slices, How: cuda.Method{Mechanism: block.Copies, Blocks: blocks, Threads: 512,
		Streams: 1}})
}

func (v Variant) String() string {
	s := fmt.Sprintf("%s, %s", v.Algorithm, v.Mechanism())
	if v.Slices > 1 {
		s += fmt.Sprintf(", %d slices", v.Slices)
	}
	return s
}
