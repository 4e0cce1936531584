package ncclprofiler

import (
	"bytes"
	"os"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/units"
)

func sample(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/rank0.txt")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestParse: a collective takes from its first channel's start to its last one's end; sends are none; of how many ranks a communicator is,
// all files say together.
func TestParse(t *testing.T) {
	var x Trace
	one := bytes.ReplaceAll(sample(t), []byte(`"Rank": 0`), []byte(`"Rank": 3`))
	for _, data := range [][]byte{sample(t), one} {
		if !Is(data) {
			t.Error("not seen to be a trace")
		}
		if err := x.Parse(bytes.NewReader(data), "t"); err != nil {
			t.Fatal(err)
		}
	}
	calls, notes := x.Calls()
	if len(calls) != 2 || len(notes) < 1 || !strings.HasPrefix(notes[0], "2 collectives in traces") {
		t.Fatalf("%+v, %q", calls, notes)
	}
	c := calls[1]
	if c.Kind != collective.AllReduce || c.Size != units.MiB || c.Ranks != 4 || c.Rank != 3 || c.Start != 1756135989724671000 ||
		c.Time != 29672*units.Nanosecond || c.Group != "0xcf47d3c045e578af" || c.Place.Line != 6 || c.Seq != 7 {
		t.Errorf("%+v", c)
	}
	log := x.Log()
	if len(log.Comms) != 1 || log.Comms[0].Ranks != 4 || len(log.Choices) != 2 || log.Choices[0].Times != 2 {
		t.Fatalf("%+v", log)
	}
	if got := log.Choices[1]; got.Algorithm != "ring" || got.Protocol != "ll" || got.Size != 8*units.KiB || got.Channels != 1 {
		t.Errorf("%+v", got)
	}
}

// TestSends: of a trace that has nothing else, as NVIDIA's plugin writes of point-to-point jobs (lines that are no JSON among them), it is said
// that messages are not judged.
func TestSends(t *testing.T) {
	const text = `[
{"name": "Group API", "cat": "GROUP_API", "ph": "b", "id": 0, "pid": 3937375, "tid": 1, "ts": 1467846.5, "args": {"groupApiId": 0, "groupDepth":2}},
{"name": "KernelLaunch", "cat": "KERNEL_LAUNCH", "ph": "b", "id": 0, "pid": 3937375, "tid": 1, "ts": 0.0, "args": {"groupId": 0, "Stream": 0x262ca50}},
{"name": "Send", "cat": "P2P", "ph": "b", "id": 0, "pid": 3937375, "tid": 1, "ts": 1818542.0, "args": {"CommHash": 12715772615376301750, "Rank": 0, "Peer": 1}},
{"name": "Send", "cat": "P2P", "ph": "e", "id": 0, "pid": 3937375, "tid": 1, "ts": 1818670.5},
]
`
	var x Trace
	if err := x.Parse(strings.NewReader(text), "t"); err != nil || !Is([]byte(text)) {
		t.Fatal(err)
	}
	if calls, notes := x.Calls(); len(calls) > 0 || len(notes) != 1 || !strings.HasPrefix(notes[0], "1 event in traces") {
		t.Errorf("%+v, %q", calls, notes)
	}
}

func TestMistakes(t *testing.T) {
	for change, want := range map[[2]string]string{
		{`"Datatype": "ncclFloat32", "Alg`, `"Datatype": "ncclThing", "Alg`}: `t:6: datatype "ncclThing" is not known`,
		{`"AllReduce", "cat": "COLL",`, `"Gossip", "cat": "COLL",`}:          "t:6: ",
		{`"Count": 262144`, `"Count": -1`}:                                   "t:6: -1 elements of rank 0",
		{`"StopGpuClk": 1756135989724700672`, `"StopGpuClk": 17`}:            "t:7: a kernel from 1756135989724672000 to 17 ns",
		{`"Rank": 0, "Count": 262144`, `"Rank": 0, "Cou`}:                    "t:6: invalid character",
	} {
		var x Trace
		err := x.Parse(strings.NewReader(strings.Replace(string(sample(t)), change[0], change[1], 1)), "t")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", change[1], err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		var x Trace
		if x.Parse(bytes.NewReader(data), "f") != nil {
			return
		}
		calls, _ := x.Calls()
		for _, c := range calls {
			if c.Size < 0 || c.Time < 0 || c.Ranks < 1 || c.Rank >= c.Ranks {
				t.Fatalf("%+v", c)
			}
		}
		x.Log()
	})
}
