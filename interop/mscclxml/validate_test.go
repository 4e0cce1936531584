package mscclxml

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"railyard/interop/interoptest"
	"railyard/model/collective"
	"railyard/model/schedule"
)

// valid is a file in which every rule can be broken: two gpus, each with a thread block
// that sends, one that receives and waits, and one that combines.
const valid = `<algo name="swap" proto="Simple" nchannels="1" nchunksperloop="1" ngpus="2" coll="allreduce" inplace="0" outofplace="1" minBytes="0" maxBytes="1024">
 <gpu id="0" i_chunks="1" o_chunks="1" s_chunks="1">
  <tb id="0" send="1" recv="-1" chan="0">
   <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
  </tb>
  <tb id="1" send="-1" recv="1" chan="0">
   <step s="0" type="r" srcbuf="s" srcoff="0" dstbuf="s" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="1"/>
  </tb>
  <tb id="2" send="-1" recv="-1" chan="0">
   <step s="0" type="nop" srcbuf="i" srcoff="-1" dstbuf="o" dstoff="-1" cnt="0" depid="0" deps="0" hasdep="0"/>
   <step s="1" type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="1" deps="0" hasdep="0"/>
   <step s="2" type="re" srcbuf="s" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
  </tb>
 </gpu>
 <gpu id="1" i_chunks="1" o_chunks="1" s_chunks="0">
  <tb id="0" send="0" recv="0" chan="0">
   <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
   <step s="1" type="rrc" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
  </tb>
 </gpu>
</algo>
`

func TestValidFile(t *testing.T) {
	s, err := inOne(strings.NewReader(valid))
	if err != nil {
		t.Fatal(err)
	}
	if err := schedule.Check(s, nil); err != nil {
		t.Fatal(err)
	}
	if s.Spec.Kind != collective.AllReduce || s.Algorithm != "swap" {
		t.Errorf("%v %s", s.Spec.Kind, s.Algorithm)
	}
}

var broken = []interoptest.Mistake{
	{`name="swap"`, `name=""`, "line 1: algo: name \"\": must have from 1 to 254"},
	{`name="swap"`, `name="` + strings.Repeat("x", 255) + `"`, "name has 255 characters"},
	{`o_chunks="1" s_chunks="1"`, `o_chunks="1" s_chunks="32769"`, "32769 chunks in a buffer: offsets go up to 32768"},
	{`   <step s="2" type="re"`, `   <step s="2" type="re" srcbuf="s" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
   <step s="3" type="re" srcbuf="s" srcoff="0" dstbuf="o" dstoff="0" cnt="2" depid="-1" deps="-1" hasdep="0"/>
   <step s="4" type="re"`, "line 13: gpu 0 tb 2 step 3: cnt=2 after 1: reductions into the same place are merged"},
	{`proto="Simple"`, `proto="LL64"`, "must be Simple, LL or LL128"},
	{`coll="allreduce"`, `coll="allsum"`, `"allsum" is not known`},
	{`nchannels="1"`, `nchannels="0"`, "nchannels=0 must be from 1"},
	{`nchannels="1"`, `nchannels="x"`, `nchannels="x" is not a number`},
	{`nchannels="1"`, `nchannels="99999999999"`, "out of range"},
	{`ngpus="2"`, `ngpus="3"`, "ngpus=3 but there are 2"},
	{`ngpus="2" `, ``, "attribute ngpus is missing"},
	{`minBytes="0"`, `minBytes="4096"`, "are no range"},
	{`outofplace="1"`, `outofplace="0"`, "neither inplace nor outofplace"},
	{`nchunksperloop="1"`, `nchunksperloop="2"`, "must be the largest buffer's chunks, 1"},
	{`gpu id="1"`, `gpu id="0"`, "line 15: gpu id=0: ids must be"},
	{`o_chunks="1" s_chunks="0"`, `o_chunks="1" s_chunks="-1"`, "negative number of chunks"},
	{`tb id="2"`, `tb id="3"`, "line 9: gpu 0 tb 3: ids must be"},
	{`send="1"`, `send="0"`, "peer 0 must be another gpu"},
	{`send="1"`, `send="7"`, "peer 7 must be another gpu"},
	{`tb id="1" send="-1" recv="1" chan="0"`, `tb id="1" send="-1" recv="1" chan="1"`, "chan=1 must be from 0"},
	{`tb id="1" send="-1" recv="1"`, `tb id="1" send="1" recv="1"`, "another thread block sends to gpu 1 on channel 0"},
	{`tb id="2" send="-1" recv="-1"`, `tb id="2" send="-1" recv="1"`, "another thread block receives from gpu 1"},
	{`s="0" type="nop"`, `s="5" type="nop"`, "s=5: steps must be"},
	{`type="re"`, `type="rd"`, `line 12: gpu 0 tb 2 step 2: type="rd" is not known`},
	{`type="r" `, `type="s" `, `s sends, but the thread block has send="-1"`},
	{`type="cpy"`, `type="rrc"`, `rrc receives, but the thread block has recv="-1"`},
	{`dstoff="0" cnt="1" depid="1"`, `dstoff="0" cnt="0" depid="1"`, "cnt=0 must be from 1 to 71"},
	{`dstoff="0" cnt="1" depid="1"`, `dstoff="0" cnt="72" depid="1"`, "cnt=72 must be from 1 to 71"},
	{`type="re" srcbuf="s"`, `type="re" srcbuf="x"`, `srcbuf="x" must be i, o or s`},
	{`type="re" srcbuf="s" srcoff="0"`, `type="re" srcbuf="s" srcoff="1"`, "srcoff=1 with cnt=1 is outside of s, which has 1"},
	{`type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="1" deps="0"`,
		`type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1"`,
		"a nop carries a dependence of the next step"},
	{`depid="1" deps="0"`, `depid="9" deps="0"`, "depid=9: no such thread block"},
	{`depid="1" deps="0"`, `depid="2" deps="0"`, "is its own thread block"},
	{`depid="1" deps="0"`, `depid="1" deps="4"`, "deps=4: thread block 1 has 1 steps"},
	{`depid="-1" deps="-1" hasdep="1"/>`, `depid="-1" deps="-1" hasdep="0"/>`, `which has no hasdep="1"`},
	{`<step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>`, ``,
		"s=1: steps must be"},
	{`type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"`,
		`type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"`,
		"line 7: gpu 0 tb 1 step 0 (r): deadlock: it waits for a message"},
	{`type="rrc" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>`,
		`type="cpy" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>`,
		"never receives what gpu 0 sends"},
	{`depid="1" deps="0" hasdep="0"/>`, `depid="0" deps="0" hasdep="0"/>`,
		"line 7: gpu 0 tb 1 step 0 (r): scratch[0] of gpu 0 may still be in use by gpu 0 tb 2 step 2 (re)"},
	{`<algo`, `<algorithm`, "unexpected element algorithm"},
	{`<step s="0" type="r"`, `hello <step s="0" type="r"`, "line 7: unexpected text"},
	{`</algo>`, ``, "line 22"},
	{`s="0" type="r" `, `s="0" s="0" type="r" `, "attribute s twice"},
	{`proto="Simple"`, `proto='Simple'`, "line 1: algo: the parser knows double quotes only"},
}

func TestBrokenFiles(t *testing.T) {
	d, _ := Get("")
	interoptest.Mistakes(t, valid, broken, func(r io.Reader) error {
		f, err := Read(r)
		if err != nil {
			return err
		}
		return Validate(f, d)
	})
	if _, err := Read(strings.NewReader("")); err == nil {
		t.Error("an empty file")
	}
}

// TestLimits breaks what depends on the dialect or on many parts.
func TestLimits(t *testing.T) {
	d, _ := Get("")
	long := &File{Name: "x", Proto: "LL", Channels: 1, ChunksPerLoop: 1, Coll: "allreduce", OutOfPlace: true,
		GPUs: []GPU{{Input: 1, Output: 1}}}
	tb := Block{Send: -1, Recv: -1}
	for i := range 65 {
		tb.Steps = append(tb.Steps, Step{Type: "cpy", S: i, Src: Place{"i", 0}, Dst: Place{"o", 0}, Count: 1, DepBlock: -1})
	}
	long.GPUs[0].Blocks = []Block{tb}
	if err := Validate(long, d); err == nil || !strings.Contains(err.Error(), "65 steps: rccl allows 64") {
		t.Error(err)
	}
	roomy, _ := Get("msccl")
	if err := Validate(long, roomy); err != nil {
		t.Error(err)
	}
	crowd := &File{Name: "x", Proto: "LL", Channels: 1, ChunksPerLoop: 1, Coll: "allreduce", OutOfPlace: true}
	for g := range 4 {
		crowd.GPUs = append(crowd.GPUs, GPU{ID: g, Input: 1, Output: 1})
	}
	for i := range 63 {
		crowd.GPUs[1].Blocks = append(crowd.GPUs[1].Blocks, Block{ID: i, Send: -1, Recv: -1, Steps: tb.Steps[:64]})
	}
	if err := Validate(crowd, d); err == nil || !strings.Contains(err.Error(), "gpu 1: the parser would hold 4100 elements") {
		t.Error(err)
	}
	for i := range 64 {
		long.GPUs[0].Blocks = append(long.GPUs[0].Blocks, Block{ID: i + 1, Send: -1, Recv: -1})
	}
	if err := Validate(long, d); err == nil || !strings.Contains(err.Error(), "65 thread blocks: rccl allows 64") {
		t.Error(err)
	}
}

// TestFullConnections has both ends send more than a connection holds before receiving.
func TestFullConnections(t *testing.T) {
	swap := func(proto string, n int) *File {
		f := &File{Name: "x", Proto: proto, Channels: 1, ChunksPerLoop: n * 2, Coll: "alltoall", OutOfPlace: true}
		for g := range 2 {
			f.GPUs = append(f.GPUs, GPU{ID: g, Input: 2 * n, Output: 2 * n, Blocks: []Block{{Send: 1 - g, Recv: 1 - g, Steps: []Step{
				{Type: "s", Src: Place{"i", (1 - g) * n}, Count: n, DepBlock: -1},
				{Type: "r", S: 1, Dst: Place{"o", (1 - g) * n}, Count: n, DepBlock: -1}}}}})
		}
		return f
	}
	d, _ := Get("")
	for proto, holds := range map[string]int{"Simple": 2, "LL": 8, "LL128": 8} {
		if err := Validate(swap(proto, holds), d); err != nil {
			t.Error(err)
		}
		want := fmt.Sprintf("connections hold %d messages", holds)
		long := swap(proto, holds+1)
		if err := Validate(long, d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", proto, err)
		}
		chunks := int64(long.ChunksPerLoop)
		if long.MaxBytes = payload[proto] / 2 * chunks; Validate(long, d) != nil { // two chunks a message
			t.Errorf("%s, up to %d bytes: %v", proto, long.MaxBytes, Validate(long, d))
		}
		if long.MaxBytes++; Validate(long, d) == nil {
			t.Errorf("%s, up to %d bytes: nothing stops it", proto, long.MaxBytes)
		}
	}
}

func FuzzParseMSCCLXML(f *testing.F) { interoptest.FuzzImport(f, valid, broken, inOne) }

// inOne imports a file whose buffers are gone through in one piece.
func inOne(r io.Reader) (*schedule.Schedule, error) { return Import(r, 1, nil) }
