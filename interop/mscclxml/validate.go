package mscclxml

import (
	"fmt"

	"railyard/interop/foreign"
)

// validator collects mistakes.
type validator struct {
	f *File
	d Dialect
	foreign.Mistakes
}

// Validate checks a file by the rules of the executors' parsers, the dialect's limits,
// and that its steps run to the end: every message is received, dependences and messages
// order all uses of the same memory, and full connections do not stop it.
func Validate(f *File, d Dialect) error { return validate(f, d, nil) }

// validate is Validate, but that race takes the first race where it is there.
func validate(f *File, d Dialect, race *error) error {
	v := &validator{f: f, d: d}
	v.algo()
	for i := range f.GPUs {
		v.gpu(&f.GPUs[i])
	}
	if err := v.Err(); err != nil {
		return err
	}
	if err := f.play(nil, race); err != nil {
		return err
	}
	return f.playChunks()
}

func (v *validator) algo() {
	f := v.f
	if f.Name == "" || len(f.Name) > v.d.NameLength {
		v.Add(f.Line, "algo: name %q: must have from 1 to %d characters (%s)", f.Name, v.d.NameLength, v.d.Name)
	}
	if protocols[f.Proto] == "" {
		v.Add(f.Line, "algo: proto=%q must be Simple, LL or LL128", f.Proto)
	}
	if _, err := collectives.Kind(f.Coll); err != nil {
		v.Add(f.Line, "algo: %w", err)
	}
	if f.Channels < 1 || f.Channels > v.d.Channels {
		v.Add(f.Line, "algo: nchannels=%d must be from 1 to %d (%s)", f.Channels, v.d.Channels, v.d.Name)
	}
	if f.MinBytes < 0 || f.MaxBytes < 0 || f.MaxBytes > 0 && f.MinBytes > f.MaxBytes {
		v.Add(f.Line, "algo: minBytes=%d and maxBytes=%d are no range", f.MinBytes, f.MaxBytes)
	}
	if !f.InPlace && !f.OutOfPlace {
		v.Add(f.Line, "algo: neither inplace nor outofplace: it would never be chosen")
	}
	if f.Line > 0 && f.declaredGPUs != len(f.GPUs) {
		v.Add(f.Line, "algo: ngpus=%d but there are %d gpu elements", f.declaredGPUs, len(f.GPUs))
	}
	most := 0
	for i, g := range f.GPUs {
		if g.ID != i {
			v.Add(g.Line, "gpu id=%d: ids must be 0, 1, 2, … in order", g.ID)
		}
		most = max(most, g.Input, g.Output)
	}
	if len(f.GPUs) == 0 {
		v.Add(f.Line, "algo: no gpu")
	}
	if f.ChunksPerLoop < 1 || f.ChunksPerLoop != most {
		v.Add(f.Line, "algo: nchunksperloop=%d must be the largest buffer's chunks, %d", f.ChunksPerLoop, most)
	}
}

func (v *validator) gpu(g *GPU) {
	if g.Input < 0 || g.Output < 0 || g.Scratch < 0 {
		v.Add(g.Line, "gpu %d: a negative number of chunks", g.ID)
	}
	if len(g.Blocks) > v.d.ThreadBlocks {
		v.Add(g.Line, "gpu %d: %d thread blocks: %s allows %d", g.ID, len(g.Blocks), v.d.Name, v.d.ThreadBlocks)
	}
	if n := 1 + len(v.f.GPUs) + g.elements(); n > maxElements {
		v.Add(g.Line, "gpu %d: the parser would hold %d elements: at most %d", g.ID, n, maxElements)
	}
	if n := max(g.Input, g.Output, g.Scratch); n > maxOffset {
		v.Add(g.Line, "gpu %d: %d chunks in a buffer: offsets go up to %d", g.ID, n, maxOffset)
	}
	sends, recvs := map[[2]int]bool{}, map[[2]int]bool{}
	perChannel := map[[2]int]int{}
	for i := range g.Blocks {
		tb := &g.Blocks[i]
		v.block(g, tb, i)
		for j, x := range []struct {
			peer int
			seen map[[2]int]bool
			word string
		}{{tb.Send, sends, "sends to"}, {tb.Recv, recvs, "receives from"}} {
			if x.peer < 0 {
				continue
			}
			if x.seen[[2]int{tb.Channel, x.peer}] {
				v.Add(tb.Line, "gpu %d tb %d: another thread block %s gpu %d on channel %d", g.ID, tb.ID, x.word, x.peer, tb.Channel)
			}
			x.seen[[2]int{tb.Channel, x.peer}] = true
			if perChannel[[2]int{tb.Channel, j}]++; perChannel[[2]int{tb.Channel, j}] == maxPeers+1 {
				v.Add(tb.Line, "gpu %d: more than %d thread blocks with such a peer on channel %d", g.ID, maxPeers, tb.Channel)
			}
		}
	}
}

// elements are the thread blocks and steps of a GPU.
func (g *GPU) elements() int {
	n := len(g.Blocks)
	for i := range g.Blocks {
		n += len(g.Blocks[i].Steps)
	}
	return n
}

func (v *validator) block(g *GPU, tb *Block, i int) {
	at := fmt.Sprintf("gpu %d tb %d", g.ID, tb.ID)
	if tb.ID != i {
		v.Add(tb.Line, "%s: ids must be 0, 1, 2, … in order", at)
	}
	for _, peer := range []int{tb.Send, tb.Recv} {
		if peer < -1 || peer >= len(v.f.GPUs) || peer == g.ID {
			v.Add(tb.Line, "%s: peer %d must be another gpu or -1", at, peer)
		}
	}
	if tb.Channel < 0 || tb.Channel >= v.f.Channels {
		v.Add(tb.Line, "%s: chan=%d must be from 0 to nchannels-1 = %d", at, tb.Channel, v.f.Channels-1)
	}
	if len(tb.Steps) > v.d.Steps {
		v.Add(tb.Line, "%s: %d steps: %s allows %d", at, len(tb.Steps), v.d.Name, v.d.Steps)
	}
	for j := range tb.Steps {
		v.step(g, tb, j, fmt.Sprintf("%s step %d", at, j))
	}
}

func (v *validator) step(g *GPU, tb *Block, j int, at string) {
	s := &tb.Steps[j]
	k, known := kinds[s.Type]
	switch {
	case !known:
		v.Add(s.Line, "%s: type=%q is not known", at, s.Type)
		return
	case s.S != j:
		v.Add(s.Line, "%s: s=%d: steps must be 0, 1, 2, … in order", at, s.S)
	case k.send && tb.Send < 0:
		v.Add(s.Line, "%s: %s sends, but the thread block has send=\"-1\"", at, s.Type)
	case k.recv && tb.Recv < 0:
		v.Add(s.Line, "%s: %s receives, but the thread block has recv=\"-1\"", at, s.Type)
	case s.Type != "nop" && (s.Count < 1 || s.Count > maxCount):
		v.Add(s.Line, "%s: cnt=%d must be from 1 to %d", at, s.Count, maxCount)
	}
	if k.src {
		v.place(g, s, s.Src, "src", at)
	}
	if k.dst {
		v.place(g, s, s.Dst, "dst", at)
	}
	if s.Type == "nop" && (s.DepBlock < 0 || j+1 == len(tb.Steps) || tb.Steps[j+1].DepBlock < 0) {
		v.Add(s.Line, "%s: a nop carries a dependence of the next step, and both must have one", at)
	}
	if j > 0 && fusedSum(&tb.Steps[j-1], s) && tb.Steps[j-1].Count != s.Count {
		v.Add(s.Line, "%s: cnt=%d after %d: reductions into the same place are merged, and need one cnt", at, s.Count, tb.Steps[j-1].Count)
	}
	v.dependence(g, tb, s, at)
}

// fusedSum reports whether the parsers make one transmission of two steps.
func fusedSum(a, b *Step) bool {
	return a.Type == "re" && b.Type == "re" && a.Dst == b.Dst && a.Src.Buf == b.Src.Buf && !a.HasDep && b.DepBlock < 0
}

func (v *validator) place(g *GPU, s *Step, p Place, name, at string) {
	size, ok := map[string]int{"i": g.Input, "o": g.Output, "s": g.Scratch}[p.Buf]
	if !ok {
		v.Add(s.Line, "%s: %sbuf=%q must be i, o or s", at, name, p.Buf)
		return
	}
	if p.Off < 0 || p.Off+s.Count > size {
		v.Add(s.Line, "%s: %soff=%d with cnt=%d is outside of %s, which has %d chunks", at, name, p.Off, s.Count, p.Buf, size)
	}
}

func (v *validator) dependence(g *GPU, tb *Block, s *Step, at string) {
	if s.DepBlock < 0 {
		return
	}
	switch {
	case s.DepBlock >= len(g.Blocks) || s.DepBlock > maxDependence:
		v.Add(s.Line, "%s: depid=%d: no such thread block, or beyond %d", at, s.DepBlock, maxDependence)
	case s.DepBlock == tb.ID:
		v.Add(s.Line, "%s: depid=%d is its own thread block, whose steps are in order anyway", at, s.DepBlock)
	case s.DepStep < 0 || s.DepStep >= len(g.Blocks[s.DepBlock].Steps):
		v.Add(s.Line, "%s: deps=%d: thread block %d has %d steps", at, s.DepStep, s.DepBlock, len(g.Blocks[s.DepBlock].Steps))
	case !g.Blocks[s.DepBlock].Steps[s.DepStep].HasDep:
		v.Add(s.Line, "%s: waits for step %d of thread block %d, which has no hasdep=\"1\"", at, s.DepStep, s.DepBlock)
	case g.Blocks[s.DepBlock].Steps[s.DepStep].Type == "nop":
		v.Add(s.Line, "%s: waits for a nop, which never reports its end", at)
	}
}
