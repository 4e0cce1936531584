package flightrecorder

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/observed"
)

// testdata/missing_*: dumps of four ranks of PyTorch 2.11.0 (NCCL 2.28.9, driver 580.159.04, one H200, 2026-11-23), made while three
// of them waited for the fourth in an all-reduce; rank 0 in both forms. testdata/mismatch_*: the same job where one gathered while the
// others reduced.
func read(t *testing.T, name string) *observed.Recording {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if !Is(data[:min(len(data), 4096)]) {
		t.Errorf("%s is not known for what it is", name)
	}
	r, err := Parse(bytes.NewReader(data), name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Both forms of a dump say the same, but for stacks, which the JSON has not.
func TestFormsAgree(t *testing.T) {
	a, b := read(t, "missing_rank_0"), read(t, "missing_rank_0.json")
	if len(a.Ops) != 8 || a.Rank != 0 {
		t.Fatalf("%d operations of rank %d", len(a.Ops), a.Rank)
	}
	if want := []observed.Group{{Name: "0", About: "default_pg", Ranks: []int{0, 1, 2, 3}}, {Name: "1", About: "undefined",
		Ranks: []int{0, 1}}}; !reflect.DeepEqual(a.Groups, want) || !reflect.DeepEqual(b.Groups, want) {
		t.Errorf("%+v, %+v", a.Groups, b.Groups)
	}
	for i := range a.Ops {
		x, y := a.Ops[i], b.Ops[i]
		if !strings.HasPrefix(x.Caller, "/home/user/train/cap0/rank.py:") {
			t.Errorf("operation %d is called at %q", i, x.Caller)
		}
		x.Caller, x.Begun, y.Begun = "", 0, 0 // the JSON was dumped a moment earlier
		x.Ended, y.Ended = 0, 0
		if i == len(a.Ops)-1 {
			x.State, y.State = 0, 0
		}
		if !reflect.DeepEqual(x, y) {
			t.Errorf("operation %d: %+v, as JSON %+v", i, x, y)
		}
	}
	last := a.Ops[7]
	if last.Seq != 7 || last.Name != "all_reduce" || last.State != observed.Started || last.Bytes != 1<<20 || last.Message() {
		t.Errorf("%+v", last)
	}
	if g := a.Ops[1]; g.Name != "all_gather" || g.Time != 282_112_003 || g.State != observed.Completed {
		t.Errorf("%+v", g)
	}
}

func TestMessages(t *testing.T) {
	const doc = `{"version":"2.10","pg_config":{"0":{"name":"0","desc":"x","ranks":"[0, 4]"}},"entries":[{"process_group":["0","x"],` +
		`"p2p_seq_id":3,"collective_seq_id":0,"is_p2p":true,"profiling_name":"nccl:recv 0<-1","state":"scheduled","time_created_ns":5,` +
		`"input_sizes":[[2,3]],"input_dtypes":["Half"],"time_discovered_started_ns":null,"retired":true}]}`
	for _, text := range []string{doc, strings.Replace(doc, `"[0, 4]"`, "[0, 4]", 1)} {
		r, err := Parse(strings.NewReader(text), "fr_12.json")
		if err != nil {
			t.Fatal(err)
		}
		o := r.Ops[0]
		if peer, _ := r.Groups[0].RankOf(o.Peer); !o.Message() || peer != 4 || o.Name != "recv" || o.Seq != 3 || o.Bytes != 12 ||
			!o.TimedOut || r.Rank != 12 {
			t.Errorf("%+v of rank %d", o, r.Rank)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"trace", `{"version":"2.1"}`, "trace: dumps do not say whose they are: name it after its rank"},
		{"trace_1", "{\n\"version\":2}", "trace_1: line 2: version: number does not belong there"},
		{"trace_1", "{\n\"entries\":[}", "trace_1: line 2: not valid JSON"},
		{"trace_1", `{"version":"1.0"}`, "trace_1: version 1.0: versions 2.x are read"},
		{"trace_1", `{}`, `trace_1: it has no "version"`},
		{"trace_1", "\x80\x02cposix\nsystem\n.", "trace_1: byte 2: opcode 0x63: only plain data are read"},
		{"trace_1", "\x80\x02}q\x00(X\x07\x00\x00\x00versionK\x02u.", "trace_1: dump.version: a number does not belong there"},
		{"trace_1", "\x80\x02X\xff\xff\xff\xff", "trace_1: byte 2: the file ends in the middle of a value"},
		{"trace_1", "\x80\x02h\x07.", "trace_1: byte 2: not valid pickled data"},
		{"trace_1", `{"version":"2.1","entries":[{"process_group":["0"],"state":"lost"}]}`, `trace_1: entry 0: state "lost"`},
		{"trace_1", `{"version":"2.1","pg_config":{"0":{"ranks":"all"}}}`, `trace_1: group 0: ranks "all" are no list`},
	} {
		if _, err := Parse(strings.NewReader(c.data), c.name); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.data, err, c.want)
		}
	}
}

// A list that holds itself is data too; nothing follows it for ever.
func TestCyclesEnd(t *testing.T) {
	if _, err := Parse(strings.NewReader("\x80\x02]q\x00h\x00a."), "trace_1"); err == nil {
		t.Error("took a list for a dump")
	}
	self := "\x80\x02}q\x00(X\x07\x00\x00\x00versionX\x03\x00\x00\x002.1X\x07\x00\x00\x00entries]q\x01(h\x01h\x01eu."
	if _, err := Parse(strings.NewReader(self), "trace_1"); err == nil || !strings.Contains(err.Error(), "entries[0]: a list") {
		t.Error(err)
	}
}

func TestSizes(t *testing.T) {
	if n := size([][]int{{1 << 40, 1 << 40}}, []string{"Float"}); n != 0 {
		t.Errorf("%d bytes", n)
	}
	if n := size([][]int{{3}, {0, 7}}, []string{"Float", "Half"}); n != 12 {
		t.Errorf("%d bytes", n)
	}
}

func FuzzParse(f *testing.F) {
	for rank := range 4 {
		data, err := os.ReadFile(fmt.Sprintf("testdata/missing_rank_%d", rank))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	data, err := os.ReadFile("testdata/missing_rank_0.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(binary.LittleEndian.AppendUint64([]byte{opProto, 4, opFrame}, 1<<63))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(bytes.NewReader(data), "f_3")
		if err != nil {
			return
		}
		for i := range r.Ops {
			if o := &r.Ops[i]; o.Group < 0 || o.Group >= len(r.Groups) || o.Bytes < 0 || o.Time < 0 {
				t.Fatalf("%+v", o)
			}
		}
	})
}
