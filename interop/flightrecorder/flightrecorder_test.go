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

// TestEntriesAreApart: a dump says the same pickled and as JSON, though entries lack what those before them have, and lists what longer
// ones have.
func TestEntriesAreApart(t *testing.T) {
	const pickled = "\x80\x02}q\x00(X\x07\x00\x00\x00versionq\x01X\x03\x00\x00\x002.4q\x02X\x09\x00\x00\x00pg_configq\x03}q\x04X\x01\x00\x00" +
		"\x000q\x05}q\x06(X\x04\x00\x00\x00nameq\x07h\x05X\x04\x00\x00\x00descq\x08X\x01\x00\x00\x00xq\x09X\x05\x00\x00\x00ranksq" +
		"\x0aX\x06\x00\x00\x00[0, 4]q\x0busX\x07\x00\x00\x00entriesq\x0c]q\x0d(}q\x0e(X\x0d\x00\x00\x00process_groupq\x0fh\x05h" +
		"\x09\x86q\x10X\x11\x00\x00\x00collective_seq_idq\x11K\x03X\x0e\x00\x00\x00profiling_nameq\x12X\x0f\x00\x00\x00nccl:all_r" +
		"educeq\x13X\x05\x00\x00\x00stateq\x14X\x09\x00\x00\x00completedq\x15X\x07\x00\x00\x00retiredq\x16\x88X\x0f\x00\x00\x00ti" +
		"me_created_nsq\x17K\x05X\x1a\x00\x00\x00time_discovered_started_nsq\x18K\x06X\x1c\x00\x00\x00time_discovered_completed_n" +
		"sq\x19K\x07X\x0b\x00\x00\x00duration_msq\x1aG?\xf8\x00\x00\x00\x00\x00\x00X\x0b\x00\x00\x00input_sizesq\x1b]q\x1c(]q\x1d" +
		"(K\x02K\x03e]q\x1eK\x04aeX\x0c\x00\x00\x00input_dtypesq\x1f]q (X\x04\x00\x00\x00Halfq!X\x05\x00\x00\x00Floatq\x22eX\x06" +
		"\x00\x00\x00framesq#]q$}q%(h\x07X\x01\x00\x00\x00aq&X\x08\x00\x00\x00filenameq'X\x04\x00\x00\x00b.pyq(X\x04\x00\x00\x00l" +
		"ineq)K\x03uau}q*(h\x0fh\x05\x85q+h\x12h\x13h\x14X\x07\x00\x00\x00startedq,h\x18Nh\x1b]q-]q.K\x05aah#]q/u}q0(h\x14X\x09" +
		"\x00\x00\x00scheduledq1h\x0fh\x10h\x11K\x09h\x12X\x0e\x00\x00\x00nccl:broadcastq2h\x1b]q3(]q4(K\x05NeNeh\x1f]q5(h!h!eh#h" +
		"$ueu."
	const text = `{"version":"2.4","pg_config":{"0":{"name":"0","desc":"x","ranks":"[0, 4]"}},"entries":[{"process_group":["0","` +
		`x"],"collective_seq_id":3,"profiling_name":"nccl:all_reduce","state":"completed","retired":true,"time_created_` +
		`ns":5,"time_discovered_started_ns":6,"time_discovered_completed_ns":7,"duration_ms":1.5,"input_sizes":[[2,3],[` +
		`4]],"input_dtypes":["Half","Float"],"frames":[{"name":"a","filename":"b.py","line":3}]},{"process_group":["0"]` +
		`,"profiling_name":"nccl:all_reduce","state":"started","time_discovered_started_ns":null,"input_sizes":[[5]],"f` +
		`rames":[]},{"state":"scheduled","process_group":["0","x"],"collective_seq_id":9,"profiling_name":"nccl:broadca` +
		`st","input_sizes":[[5,null],null],"input_dtypes":["Half","Half"],"frames":[{"name":"a","filename":"b.py","line` +
		`":3}]}]}`
	a, err := Parse(strings.NewReader(pickled), "trace_4")
	if err != nil {
		t.Fatal(err)
	}
	b, err := Parse(strings.NewReader(text), "trace_4")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) || len(a.Ops) != 3 || a.Ops[1].Bytes != 0 || a.Ops[1].Time != 0 || a.Ops[0].Begun != 6 || a.Ops[1].Begun != 0 {
		t.Errorf("pickled %+v, as JSON %+v", a, b)
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
