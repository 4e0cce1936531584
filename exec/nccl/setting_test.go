package nccl

import (
	"encoding/binary"
	"math"
	"os/exec"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/units"
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

func TestCounts(t *testing.T) {
	for _, c := range []struct {
		kind                 collective.Kind
		size                 units.Bytes
		send, recv, argument int64
		bad                  bool
	}{
		{collective.AllReduce, 1024, 256, 256, 256, false}, {collective.AllGather, 1024, 64, 256, 64, false},
		{collective.ReduceScatter, 1024, 256, 64, 64, false}, {collective.AllToAll, 1024, 256, 256, 64, false},
		{collective.Broadcast, 4, 1, 1, 1, false}, {collective.AllGather, 8, 0, 0, 0, true}, {collective.Reduce, 2, 0, 0, 0, true},
	} {
		send, recv, argument, err := Case{Kind: c.kind, Size: c.size}.counts(4)
		if send != c.send || recv != c.recv || argument != c.argument || (err != nil) != c.bad {
			t.Errorf("%v %v: %d %d %d %v", c.kind, c.size, send, recv, argument, err)
		}
	}
}

// run does a collective by its definition, on what input makes.
func run(c Case, ranks int, share int64, in [][]byte) [][]byte {
	at := func(rank int, i int64) float32 {
		return math.Float32frombits(binary.LittleEndian.Uint32(in[rank][4*i:]))
	}
	out := make([][]byte, ranks)
	for rank := range ranks {
		_, n, _, _ := c.counts(ranks)
		out[rank] = make([]byte, 4*n)
		for i := range n {
			var v float32
			for peer := range ranks {
				switch c.Kind {
				case collective.AllReduce, collective.Reduce:
					v += at(peer, i)
				case collective.ReduceScatter:
					v += at(peer, int64(rank)*share+i)
				case collective.AllGather:
					if int64(peer) == i/share {
						v = at(peer, i%share)
					}
				case collective.AllToAll:
					if int64(peer) == i/share {
						v = at(peer, int64(rank)*share+i%share)
					}
				case collective.Broadcast:
					v = at(c.Root, i)
				}
			}
			binary.LittleEndian.PutUint32(out[rank][4*i:], math.Float32bits(v))
		}
	}
	return out
}

// TestWrong: the definition's result has no wrong element, a changed one is found,
// except where reduce leaves the output alone.
func TestWrong(t *testing.T) {
	const ranks = 3
	for _, kind := range collective.All() {
		if !Supported(kind) {
			continue
		}
		c := Case{Kind: kind, Size: 4 * 3 * 50, Root: 1}
		send, _, share, err := c.counts(ranks)
		if err != nil {
			t.Fatal(err)
		}
		var in [][]byte
		for rank := range ranks {
			in = append(in, input(rank, send))
		}
		for rank, out := range run(c, ranks, share, in) {
			if n := wrong(c, ranks, rank, share, out); n != 0 {
				t.Errorf("%v, rank %d: %d wrong", kind, rank, n)
			}
			out[4*7+2] ^= 0x40
			want := int64(1)
			if kind == collective.Reduce && rank != c.Root {
				want = 0
			}
			if n := wrong(c, ranks, rank, share, out); n != want {
				t.Errorf("%v, rank %d: %d wrong after a change, want %d", kind, rank, n, want)
			}
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
