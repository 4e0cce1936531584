package mscclpp

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"railyard/interop/foreign"
	"railyard/interop/interoptest"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
)

// valid is a plan in which every rule can be broken: an all-gather of two ranks, with
// a thread block for the copy and one for the exchange, joined by a semaphore.
const valid = `{
 "name": "swap", "collective": "allgather", "protocol": "Simple", "inplace": false, "buffer_alignment": 16, "num_threads_per_block": 1024,
 "gpus": [
  {"id": 0, "input_chunks": 1, "output_chunks": 2, "scratch_chunks": 1,
   "channels": [{"channel_type": "memory", "connected_to": [1]}],
   "remote_buffers": [{"rank": 1, "type": "o", "access_channel_types": ["memory"]}],
   "semaphores": [{"init_value": 0}],
   "threadblocks": [
    {"id": 0, "channels": [], "ops": [
     {"name": "copy", "src_buff": [{"type": "i", "index": 0, "size": 1}], "dst_buff": [{"type": "o", "index": 0, "size": 1}]},
     {"name": "nop"},
     {"name": "sem_release", "semaphore_ids": [0]}]},
    {"id": 1, "channels": [{"channel_type": "memory", "channel_ids": [0]}], "remote_buffer_refs": [{"access_channel_type": "memory", "remote_buffer_ids": [0]}], "ops": [
     {"name": "sem_acquire", "semaphore_ids": [0]},
     {"name": "nop"},
     {"name": "put", "channel_ids": [0], "channel_type": "memory", "src_buff": [{"type": "o", "index": 0, "size": 1}], "dst_buff": [{"buffer_id": 0, "index": 0, "size": 1}]},
     {"name": "nop"},
     {"name": "signal", "channel_ids": [0], "channel_type": "memory"},
     {"name": "wait", "channel_ids": [0], "channel_type": "memory"}]}]},
  {"id": 1, "input_chunks": 1, "output_chunks": 2, "scratch_chunks": 0,
   "channels": [{"channel_type": "memory", "connected_to": [0]}],
   "remote_buffers": [{"rank": 0, "type": "o", "access_channel_types": ["memory"]}],
   "semaphores": [],
   "threadblocks": [
    {"id": 0, "channels": [{"channel_type": "memory", "channel_ids": [0]}], "remote_buffer_refs": [{"access_channel_type": "memory", "remote_buffer_ids": [0]}], "ops": [
     {"name": "copy", "src_buff": [{"type": "i", "index": 0, "size": 1}], "dst_buff": [{"type": "o", "index": 1, "size": 1}]},
     {"name": "put", "channel_ids": [0], "channel_type": "memory", "src_buff": [{"type": "i", "index": 0, "size": 1}], "dst_buff": [{"buffer_id": 0, "index": 1, "size": 1}]},
     {"name": "nop"},
     {"name": "signal", "channel_ids": [0], "channel_type": "memory"},
     {"name": "wait", "channel_ids": [0], "channel_type": "memory"},
     {"name": "nop"},
     {"name": "re", "src_buff": [{"type": "o", "index": 0, "size": 1}], "dst_buff": [{"type": "o", "index": 0, "size": 1}]}]}]}]}
`

func TestValidPlan(t *testing.T) {
	data := strings.Replace(valid, `"re", "src_buff": [{"type": "o"`, `"copy", "src_buff": [{"type": "o"`, 1)
	s, err := proven(strings.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := schedule.Check(s, nil); err != nil {
		t.Fatal(err)
	}
	if s.Spec.Kind != collective.AllGather || s.Algorithm != "swap" {
		t.Errorf("%v %s", s.Spec.Kind, s.Algorithm)
	}
}

var nine = strings.TrimSuffix(strings.Repeat("0, ", 9), ", ")

var broken = []interoptest.Mistake{
	{`"name": "swap"`, `"name": ""`, "line 1: name is empty"},
	{`"allgather"`, `"broadcast"`, `"broadcast" is not known`},
	{`"Simple"`, `"LL128"`, "must be Simple or LL"},
	{`"buffer_alignment": 16`, `"buffer_alignment": 8`, "multiple of 16"},
	{`"buffer_alignment": 16`, `"min_message_size": 9, "max_message_size": 8`, "are no range"},
	{`_block": 1024`, `_block": 100`, "multiple of 32"},
	{`{"id": 0, "input`, `{"id": 1, "input`, "line 4: gpu 0: id 1"},
	{`"input_chunks": 1, "output_chunks": 2, "scratch_chunks": 0`, `"input_chunks": 2, "output_chunks": 2, "scratch_chunks": 0`,
		"line 20: gpu 1: input_chunks 2 and output_chunks 2: must be 1 and 2"},
	{`"output_chunks": 2`, `"output_chunks": 3`, "multiple of the 2 blocks"},
	{`"scratch_chunks": 1`, `"scratch_chunks": -1`, "scratch_chunks -1"},
	{`"channel_type": "memory", "connected_to": [1]`, `"channel_type": "wire", "connected_to": [1]`, "must be memory, port or switch"},
	{`"connected_to": [1]`, `"connected_to": [0]`, "connected_to 0: must be another gpu"},
	{`{"rank": 1, "type": "o"`, `{"rank": 0, "type": "o"`, "must be i, o or s of another gpu"},
	{`["memory"]}],
   "semaphores": [{`, `["port"]}],
   "semaphores": [{`, "is not accessed over memory"},
	{`{"id": 1, "channels"`, `{"id": 5, "channels"`, "line 13: gpu 0 tb 1: id 5"},
	{`{"channel_type": "memory", "channel_ids": [0]}]`, `{"channel_type": "memory", "channel_ids": [3]}]`,
		"channel_ids 3 of type memory: the gpu has 1"},
	{`"channel_ids": [0]}], "remote`, `"channel_ids": [` + nine + ", " + nine + `]}], "remote`,
		"18 channel_ids of type memory: at most 16"},
	{`"remote_buffer_ids": [0]`, `"remote_buffer_ids": [4]`, "remote_buffer_ids 4"},
	{`"copy"`, `"move"`, "line 10: gpu 0 tb 0 op 0 (move): this operation is not known"},
	{`{"name": "signal", "channel_ids": [0]`, `{"name": "signal", "channel_ids": [` + nine + `]`, "9 channels: must be from 1 to 8"},
	{`{"name": "signal", "channel_ids": [0]`, `{"name": "signal", "channel_ids": [1]`, "channel 1: the thread block has 1"},
	{`"name": "put"`, `"name": "pws"`, `channel_type "memory": must be port`},
	{`"sem_release", "semaphore_ids": [0]`, `"sem_release", "semaphore_ids": []`, "0 semaphores: must be from 1"},
	{`"sem_release", "semaphore_ids": [0]`, `"sem_release", "semaphore_ids": [7]`, "semaphore 7: the gpu has 1"},
	{`"copy", "src_buff": [{"type": "i", "index": 0, "size": 1}]`, `"copy", "src_buff": []`, "0 sources: wrong number"},
	{`{"buffer_id": 0, "index": 0, "size": 1}`, `{"type": "o", "index": 0, "size": 1}`, "destination 0: must be a peer's"},
	{`{"buffer_id": 0, "index": 0, "size": 1}`, `{"buffer_id": 2, "index": 0, "size": 1}`, "buffer_id 2: the thread block has 1"},
	{`{"buffer_id": 0, "index": 0, "size": 1}`, `{"buffer_id": 0, "index": 2, "size": 1}`, "chunks 2 to 2 of a buffer with 2"},
	{`{"buffer_id": 0, "index": 0, "size": 1}`, `{"buffer_id": 0, "index": 0, "size": 2}`, "1 chunks to a place for 2"},
	{`{"type": "i", "index": 0, "size": 1}]`, `{"type": "x", "index": 0, "size": 1}]`, "of a buffer with 0"},
	{`"name": "re", "src_buff": [{"type": "o", "index": 0, "size": 1}]`, `"name": "re", "src_buff": [{"type": "o", "index": 0, "size": 2}]`,
		"operands of 2 and 1 chunks"},
	{`"dst_buff": [{"buffer_id": 0, "index": 0, "size": 1}]`, `"dst_buff": []`, "0 destinations: wrong number"},
	{`"name": "put"`, `"name": "get"`, "source 0: must be a peer's"},
	{`"re", "src_buff": [{"type": "o", "index": 0, "size": 1}]`,
		`"rre", "channel_type": "memory", "src_buff": [{"type": "i", "index": 0, "size": 1}, {"buffer_id": 0, "index": 0, "size": 1}]`,
		"from buffer i to o: the executor writes to its first source's"},
	{`     {"name": "nop"},
     {"name": "put"`, `     {"name": "put"`, "line 15: gpu 0 tb 1 op 1 (put): output[0] of gpu 0 may still be in use by gpu 0 tb 0 op 0 (copy)"},
	{`{"name": "nop"},
     {"name": "sem_release"`, `{"name": "sem_release"`, "may still be in use by gpu 0 tb 0 op 0 (copy)"},
	{`     {"name": "wait", "channel_ids": [0], "channel_type": "memory"},
     {"name": "nop"},`, ``, "no signal, semaphore and nop order them"},
	{`"src_buff": [{"type": "i", "index": 0, "size": 1}], "dst_buff": [{"buffer_id": 0, "index": 1`,
		`"src_buff": [{"type": "o", "index": 1, "size": 1}], "dst_buff": [{"buffer_id": 0, "index": 1`,
		"may still be in use by gpu 1 tb 0 op 0 (copy): no signal, semaphore and nop order them"},
	{`     {"name": "signal", "channel_ids": [0], "channel_type": "memory"},
     {"name": "wait"`, `     {"name": "wait"`, "deadlock: it waits for a signal"},
	{`"connected_to": [1]`, `"connected_to": [1], "x": 0}, {"channel_type": "memory", "connected_to": []`, ""},
	{`"id": 0,`, `"id": "a",`, "line 4"},
	{`"gpus": [`, `"gpus": `, "line"},
}

func TestBrokenPlans(t *testing.T) {
	interoptest.Mistakes(t, valid, broken, func(r io.Reader) error {
		f, err := Read(r)
		if err != nil {
			return err
		}
		return Validate(f)
	})
}

func TestLimits(t *testing.T) {
	read := func() *File {
		f, err := Read(strings.NewReader(valid))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := read()
	for range 65 {
		f.GPUs[0].Blocks[0].Ops = append(f.GPUs[0].Blocks[0].Ops, Op{Name: "nop"})
	}
	if err := Validate(f); err == nil || !strings.Contains(err.Error(), "68 operations: at most 64") {
		t.Error(err)
	}
	f = read()
	for i := 2; i < 130; i++ {
		f.GPUs[0].Blocks = append(f.GPUs[0].Blocks, Block{ID: i})
	}
	if err := Validate(f); err == nil || !strings.Contains(err.Error(), "130 thread blocks: at most 128") {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	ll := built(t, "ring", collective.AllReduce, 4)
	ll.Protocol = schedule.LL
	many := built(t, "direct", collective.AllToAll, 4)
	for range 140 {
		many.Channels = append(many.Channels, many.Channels[0])
	}
	ring := built(t, "ring", collective.AllGather, 4)
	wide := interoptest.On(t, "dgx2", topology.Options{Nodes: 2}, "simple_ring", collective.AllGather)
	nodes := make([]int, 32)
	for r := range nodes {
		nodes[r] = r / 16
	}
	for _, x := range []struct {
		s     *schedule.Schedule
		nodes []int
		want  string
	}{
		{ll, nil, "--proto simple"}, {built(t, "ring", collective.Broadcast, 4), nil, "no name for broadcast"},
		{many, nil, "141 thread blocks"},
		{wide, nodes, "16 ranks a node: MSCCL++ has an adapter for 8"}, {ring, []int{0, 1, 1, 1}, "numbered node by node, 1 on each"},
	} {
		if _, err := Export(x.s, Options{Nodes: x.nodes}); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v instead of %q", err, x.want)
		}
	}
}

// TestPorts has two nodes.
func TestPorts(t *testing.T) {
	for _, algo := range []string{"ring", "direct", "double_binary_tree", "two_shot"} {
		s := built(t, algo, collective.AllReduce, 8)
		f, err := Export(s, Options{Nodes: []int{0, 0, 0, 0, 1, 1, 1, 1}})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text(t, f), []byte(`"pwsf"`)) {
			t.Error("no put over ports")
		}
		back, err := proven(bytes.NewReader(text(t, f)))
		if err == nil {
			err = schedule.Check(back, nil)
		}
		if err != nil {
			t.Errorf("%s: %v", algo, err)
		}
	}
}

func FuzzParseMSCCLPP(f *testing.F) { interoptest.FuzzImport(f, valid, broken, proven) }

func TestBounds(t *testing.T) {
	f := &File{Alignment: 16, GPUs: []GPU{{Input: 2, Output: 8, Scratch: 12}, {Input: 2, Output: 8}}}
	f.bound()
	// 12 chunks of at most 357,913,936 bytes stay below 2^32
	if f.MinBytes != 128 || f.MaxBytes != 357913936*8 {
		t.Errorf("from %d to %d", f.MinBytes, f.MaxBytes)
	}
}

// TestManyThreadBlocks has thread blocks that write the same place, which is looked at
// only up to a number.
func TestManyThreadBlocks(t *testing.T) {
	copies := func(gpus int) *File {
		f := &File{Name: "x", Collective: "allreduce", Protocol: "Simple"}
		for i := range gpus {
			g := GPU{ID: i, Input: 1, Output: 1}
			for b := range maxBlocks {
				g.Blocks = append(g.Blocks, Block{ID: b,
					Ops: []Op{{Name: "copy", Src: []Buffer{{Type: "i", Size: 1}}, Dst: []Buffer{{Type: "o", Size: 1}}}}})
			}
			f.GPUs = append(f.GPUs, g)
		}
		return f
	}
	if err := Validate(copies(foreign.MaxClocks / maxBlocks)); err == nil ||
		!strings.Contains(err.Error(), "no signal, semaphore and nop order them") {
		t.Error(err)
	}
	if err := Validate(copies(foreign.MaxClocks/maxBlocks + 1)); err != nil {
		t.Error(err)
	}
}
