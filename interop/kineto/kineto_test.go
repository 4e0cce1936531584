package kineto

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/observed"
	"railyard/model/units"
)

// testdata/rank0.json: a trace of PyTorch 2.11.0 on one of four ranks on one H200 (NCCL 2.28.9, driver 580.159.04, 2026-11-23),
// shortened to its kernels of NCCL and some other events.
func TestRealTrace(t *testing.T) {
	data, err := os.ReadFile("testdata/rank0.json")
	if err != nil {
		t.Fatal(err)
	}
	if !Is(data[:4096]) {
		t.Error("is not known for what it is")
	}
	calls, note, err := Parse(bytes.NewReader(data), "t")
	if err != nil || note != "" {
		t.Fatal(err, note)
	}
	if len(calls) != 45 {
		t.Fatalf("%d calls", len(calls))
	}
	want := observed.Call{Place: observed.Place{File: "t"}, Group: "default_pg", Rank: 0, Ranks: 4, On: []int{0, 1, 2, 3},
		Kind: collective.AllReduce, Size: 8 * units.KiB, Seq: 0, Start: 1795459110356897450, Time: 328_927_000}
	if !reflect.DeepEqual(calls[0], want) {
		t.Errorf("%+v", calls[0])
	}
	kinds := map[collective.Kind]int{}
	for _, c := range calls {
		kinds[c.Kind]++
		if c.Kind == collective.AllGather && c.Size != 32*units.KiB && c.Size != units.MiB && c.Size != 16*units.MiB {
			t.Errorf("an all-gather of %v", c.Size)
		}
	}
	if len(kinds) != 5 || kinds[collective.ReduceScatter] != 9 || kinds[collective.AllToAll] != 9 {
		t.Errorf("%v", kinds)
	}
}

// TestNothingToJudge: traces without collectives, or whose kernels do not say which they are of, say so.
func TestNothingToJudge(t *testing.T) {
	for events, want := range map[string]string{
		``: "t: no kernel of a collective",
		`{"ph":"X","cat":"Kernel","name":"ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)","ts":1,"dur":2,"args":{"grid":[2,1,1]}}`: "t: 1 " +
			"kernel of NCCL without the record of their collective",
	} {
		if calls, note, err := Parse(strings.NewReader(`{"traceEvents":[`+events+`]}`), "t"); err != nil || len(calls) > 0 ||
			!strings.HasPrefix(note, want) {
			t.Errorf("%d calls, %q, %v", len(calls), note, err)
		}
	}
}

func event1(change ...string) string {
	e := `{"traceEvents":[{"ph":"X","cat":"kernel","ts":1,"dur":2,"args":{"Collective name":"allreduce","In msg nelems":1,"Out msg nelems":1,` +
		`"Group size":2,"dtype":"Float","Process Group Ranks":[0, 1],"Seq":7}}]}`
	return strings.NewReplacer(change...).Replace(e)
}

func TestEvents(t *testing.T) {
	for _, c := range []struct {
		trace string
		kind  collective.Kind
		calls int
	}{
		{event1(), collective.AllReduce, 1},
		{event1("allreduce", "_allgather_base"), collective.AllGather, 1},
		{event1("allreduce", "reduce_scatter_tensor_coalesced"), collective.ReduceScatter, 1},
		{event1("allreduce", "all_to_allv"), collective.AllToAll, 1},
		{event1("allreduce", "all_to_allv", `"dtype"`, `"In split size":"[1, 0]","dtype"`), collective.AllToAllV, 1},
		{event1("allreduce", "wait"), 0, 0},
		{event1("kernel", "cpu_op"), 0, 0},
	} {
		calls, _, err := Parse(strings.NewReader(c.trace), "t")
		if err != nil || len(calls) != c.calls {
			t.Errorf("%s: %+v, %v", c.trace, calls, err)
			continue
		}
		if c.calls > 0 && (calls[0].Kind != c.kind || calls[0].Seq != 7 || !reflect.DeepEqual(calls[0].On, []int{0, 1}) ||
			calls[0].Size != 4) {
			t.Errorf("%s: %+v", c.trace, calls[0])
		}
	}
	if _, note, err := Parse(strings.NewReader(event1("allreduce", "gossip")), "t"); err != nil ||
		note != "t: 1 kernel of no collective that is known" {
		t.Error(note, err)
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ trace, want string }{
		{"[]", "t: line 1 or before: it is no trace"},
		{"{}", `t: line 1 or before: it has no "traceEvents"`},
		{"{\n\"traceEvents\":3}", `t: line 2 or before: "traceEvents" is no list`},
		{event1("Float", "Thing"), `t: event 1: dtype "Thing" is not known`},
		{event1(`"dur":2`, `"dur":-2`), "t: event 1: starts at 1 us and takes -2 us"},
		{event1(`size":2`, `size":0`), "t: event 1: a group of 0"},
		{event1(`nelems":1`, `nelems":-1`), "t: event 1: -1 elements"},
		{event1()[:60], "t: line 1 or before: unexpected EOF"},
		{`{"x":"` + strings.Repeat("y", maxValue+4096) + `"}`, "t: line 1 or before: one value is larger than 64 MiB"},
	} {
		if _, _, err := Parse(strings.NewReader(c.trace), "t"); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.80q: %v, want %s", c.trace, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("testdata/rank0.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(event1()))
	f.Fuzz(func(t *testing.T, data []byte) {
		calls, _, err := Parse(bytes.NewReader(data), "f")
		if err != nil {
			return
		}
		for _, c := range calls {
			if c.Size < 0 || c.Time < 0 || c.Ranks < 1 {
				t.Fatalf("%+v", c)
			}
		}
	})
}
