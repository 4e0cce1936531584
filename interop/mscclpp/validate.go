package mscclpp

import (
	"fmt"
	"slices"
	"strings"

	"railyard/interop/foreign"
	"railyard/model/collective"
)

// Bounds of what is looked at.
const (
	maxChunks = 1 << 16
	maxGPUs   = 1 << 10
)

// Validate checks a plan: the executor's limits, that everything that is named exists,
// that the operations run to the end, and that signals, semaphores, barriers, packets and
// nops order all uses of the same memory.
func Validate(f *File) error { return validate(f, nil) }

// validate is Validate, but that race takes the first race where it is there.
func validate(f *File, race *error) error {
	v := &validator{f: f}
	v.file()
	for i := range f.GPUs {
		if v.Err() == nil || v.spec.Ranks > 0 {
			v.gpu(i)
		}
	}
	if err := v.Err(); err != nil {
		return err
	}
	fine, parts, err := f.unrolled()
	if err != nil {
		return err
	}
	return fine.play(v.spec, v.unit*parts, nil, race)
}

type validator struct {
	f    *File
	spec collective.Spec
	unit int
	foreign.Mistakes
}

func (v *validator) file() {
	f := v.f
	if f.Name == "" {
		v.Add(f.line, "name is empty")
	}
	k, err := collectives.Kind(f.Collective)
	if err != nil {
		v.Add(f.line, "%w", err)
	}
	if f.Protocol != "Simple" && f.Protocol != "LL" {
		v.Add(f.line, "protocol %q: must be Simple or LL", f.Protocol)
	}
	if f.MaxBytes > 0 && uint64(max(f.MinBytes, 0)) > f.MaxBytes || f.MinBytes < 0 {
		v.Add(f.line, "min_message_size %d and max_message_size %d are no range", f.MinBytes, f.MaxBytes)
	}
	if f.Alignment < 0 || f.Alignment%16 != 0 {
		v.Add(f.line, "buffer_alignment %d: must be a multiple of 16", f.Alignment)
	}
	if f.Threads < 0 || f.Threads > 1024 || f.Threads%32 != 0 {
		v.Add(f.line, "num_threads_per_block %d: must be a multiple of 32, at most 1024", f.Threads)
	}
	if len(f.GPUs) == 0 || len(f.GPUs) > maxGPUs {
		v.Add(f.line, "%d gpus: must be from 1 to %d", len(f.GPUs), maxGPUs)
		return
	}
	v.sizes(k, err == nil)
}

// sizes finds how the buffers are cut; all GPUs must agree.
func (v *validator) sizes(k collective.Kind, known bool) {
	spec := collective.Spec{Kind: k, Ranks: len(v.f.GPUs)}
	whole := max(v.f.GPUs[0].Input, v.f.GPUs[0].Output)
	if !known || whole < 1 || whole > maxChunks || whole%spec.Blocks() != 0 {
		v.Add(v.f.GPUs[0].line, "gpu 0: %d chunks: must be a multiple of the %d blocks of %v, at most %d", whole, spec.Blocks(), k,
			maxChunks)
		return
	}
	v.spec, v.unit = spec, whole/spec.Blocks()
	in, out := whole, whole
	switch k {
	case collective.AllGather:
		in = v.unit
	case collective.ReduceScatter:
		out = v.unit
	}
	for i := range v.f.GPUs {
		g := &v.f.GPUs[i]
		unused := func(n int) bool { return v.f.InPlace && n == 0 && g.Input+g.Output > 0 }
		if g.Input != in && !unused(g.Input) || g.Output != out && !unused(g.Output) {
			v.Add(g.line, "gpu %d: input_chunks %d and output_chunks %d: must be %d and %d", i, g.Input, g.Output, in, out)
		}
		if g.Scratch < 0 || g.Scratch > maxChunks {
			v.Add(g.line, "gpu %d: scratch_chunks %d: must be from 0 to %d", i, g.Scratch, maxChunks)
		}
	}
}

func (v *validator) gpu(i int) {
	g := &v.f.GPUs[i]
	if g.ID != i {
		v.Add(g.line, "gpu %d: id %d: the executor takes the gpus in order of their ids", i, g.ID)
	}
	if len(g.Blocks) > maxBlocks {
		v.Add(g.line, "gpu %d: %d thread blocks: at most %d run at once", i, len(g.Blocks), maxBlocks)
	}
	for _, c := range g.Channels {
		if !slices.Contains([]string{memory, port, through}, c.Type) {
			v.Add(g.line, "gpu %d: channel_type %q: must be memory, port or switch", i, c.Type)
		}
		for _, peer := range c.To {
			if peer < 0 || peer >= len(v.f.GPUs) || peer == i {
				v.Add(g.line, "gpu %d: connected_to %d: must be another gpu", i, peer)
			}
		}
	}
	for j, x := range g.groups() {
		sorted := slices.Sorted(slices.Values(x.ranks))
		_, known := foreign.BufferOf(x.buffer)
		if len(slices.Compact(sorted)) < max(len(x.ranks), 2) || !slices.Contains(sorted, i) || !known {
			v.Add(g.line, "gpu %d: switch channel %d: buffer %q of ranks %v: must be i, o or s of this and other gpus", i, j, x.buffer,
				x.ranks)
		}
	}
	for j, b := range g.RemoteBuffers {
		if b.Rank < 0 || b.Rank >= len(v.f.GPUs) || b.Rank == i || !strings.Contains("ios", b.Type) || len(b.Type) != 1 {
			v.Add(g.line, "gpu %d: remote buffer %d: buffer %q of rank %d: must be i, o or s of another gpu", i, j, b.Type, b.Rank)
		}
	}
	for j := range g.Blocks {
		v.block(g, j)
	}
}

func (v *validator) block(g *GPU, j int) {
	tb := &g.Blocks[j]
	at := fmt.Sprintf("gpu %d tb %d", g.ID, j)
	if tb.ID != j {
		v.Add(tb.line, "%s: id %d: ids must be 0, 1, 2, … in order", at, tb.ID)
	}
	n := len(tb.Ops)
	for i := range tb.Ops {
		n += len(tb.Ops[i].Ops)
	}
	if n > maxOps {
		v.Add(tb.line, "%s: %d operations: at most %d", at, n, maxOps)
	}
	for _, c := range tb.Channels {
		have := len(g.peers(c.Type))
		if c.Type == through {
			have = len(g.groups())
		}
		v.refs(tb, at, "channel_ids", c.Type, c.IDs, have)
	}
	for _, b := range tb.Remote {
		v.refs(tb, at, "remote_buffer_ids", b.Type, b.IDs, len(g.RemoteBuffers))
		for _, id := range b.IDs {
			if id >= 0 && id < len(g.RemoteBuffers) && !slices.Contains(g.RemoteBuffers[id].Access, b.Type) {
				v.Add(tb.line, "%s: remote buffer %d is not accessed over %s channels", at, id, b.Type)
			}
		}
	}
	for i := range tb.Ops {
		v.op(g, tb, &tb.Ops[i], fmt.Sprintf("%s op %d (%s)", at, i, tb.Ops[i].Name))
	}
}

func (v *validator) refs(tb *Block, at, what, kind string, ids []int, have int) {
	if len(ids) > maxChannels {
		v.Add(tb.line, "%s: %d %s of type %s: at most %d", at, len(ids), what, kind, maxChannels)
	}
	for _, id := range ids {
		if id < 0 || id >= have {
			v.Add(tb.line, "%s: %s %d of type %s: the gpu has %d", at, what, id, kind, have)
		}
	}
}

// peers are the peers of a GPU's channels of a type, by the channels' number.
func (g *GPU) peers(kind string) []int {
	return ofType(g.Channels, kind, func(c Channels) (string, []int) { return c.Type, c.To })
}

// group is a switch's channel: a buffer of several ranks.
type group struct {
	buffer string
	ranks  []int
}

// groups are the GPU's channels of switches, by their number.
func (g *GPU) groups() (out []group) {
	for _, c := range g.Channels {
		for _, x := range c.Groups {
			out = append(out, group{c.Buffer + c.Older, x.Ranks})
		}
	}
	return out
}

// channels are the GPU's numbers of a thread block's channels of a type.
func (tb *Block) channels(kind string) []int {
	return ofType(tb.Channels, kind, func(c ChannelIDs) (string, []int) { return c.Type, c.IDs })
}

// remotes are the GPU's numbers of a thread block's remote buffers by type of access.
func (tb *Block) remotes(kind string) []int {
	return ofType(tb.Remote, kind, func(c BufferIDs) (string, []int) { return c.Type, c.IDs })
}

func ofType[T any](list []T, kind string, of func(T) (string, []int)) (out []int) {
	for _, x := range list {
		if name, ids := of(x); name == kind {
			out = append(out, ids...)
		}
	}
	return out
}
