package nccl

import (
	"os/exec"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
)

func TestParseSetting(t *testing.T) {
	for _, c := range []struct {
		text string
		want Setting
		err  string
	}{
		{"default", Setting{}, ""}, {"windows", Setting{Windows: true}, ""},
		{"Ring/LL128", Setting{Algorithm: "ring", Protocol: "ll128"}, ""}, {"tree", Setting{Algorithm: "tree"}, ""},
		{"NVLS", Setting{}, "multicast"}, {"nvlstree/simple", Setting{}, "multicast"}, {"pat", Setting{}, "unknown setting"},
		{"ring/fast", Setting{}, "unknown protocol"}, {"", Setting{}, "unknown setting"},
	} {
		got, err := ParseSetting(c.text)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %+v, error %v, want %+v, %q", c.text, got, err, c.want, c.err)
		}
	}
}

func TestArgument(t *testing.T) {
	for _, c := range []struct {
		kind            collective.Kind
		count, argument int64
	}{
		{collective.AllReduce, 256, 256}, {collective.AllGather, 256, 64}, {collective.ReduceScatter, 259, 64},
		{collective.AllToAll, 256, 64},
		{collective.Broadcast, 1, 1}, {collective.AllGather, 3, 0}, {collective.Reduce, 0, 0},
	} {
		got, err := Case{Spec: collective.Spec{Kind: c.kind, Ranks: 4}, Count: c.count}.argument()
		if got != c.argument || (err != nil) != (c.argument == 0) {
			t.Errorf("%v of %d: %d %v", c.kind, c.count, got, err)
		}
	}
}

// TestExact: what is checked bit by bit is what no order of adding changes.
func TestExact(t *testing.T) {
	for _, c := range []struct {
		kind collective.Kind
		t    collective.DType
		op   collective.ReduceOp
		want bool
	}{
		{collective.AllReduce, collective.BFloat16, collective.Sum, true}, {collective.AllReduce, collective.Float32, collective.Avg,
			false},
		{collective.AllGather, collective.Float8E5M2, collective.Avg, true}, {collective.AllGather, collective.Float64, collective.Sum,
			false},
	} {
		if got := (Case{Spec: collective.Spec{Kind: c.kind, Ranks: 2}, DType: c.t, Op: c.op}).Exact(); got != c.want {
			t.Errorf("%v of %v, %v: %v", c.kind, c.t, c.op, got)
		}
	}
}

// TestOpenSaysWhatIsMissing: without NCCL the error is one line that names it.
func TestOpenSaysWhatIsMissing(t *testing.T) {
	if exec.Command("nvidia-smi", "-L").Run() == nil {
		t.Skip("this machine has GPUs")
	}
	err := Open()
	if err == nil {
		t.Skip("NCCL without GPUs")
	}
	if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, "libnccl.so.2 not found") &&
		!strings.Contains(text, "without cgo") {
		t.Errorf("%q", text)
	}
}
