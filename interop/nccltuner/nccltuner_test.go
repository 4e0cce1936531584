package nccltuner

import (
	"bytes"
	"strings"
	"testing"

	"railyard/internal/golden"
	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/units"
)

func choices() []Row {
	at := func(size units.Bytes, algo, proto string, channels int) Row {
		return Row{Kind: collective.AllReduce, Min: size, Algorithm: algo, Protocol: proto, Channels: channels, Nodes: 1, Ranks: 8}
	}
	return []Row{at(1024, "ring", "ll", 2), at(2048, "ring", "ll", 2), at(4096, "tree", "ll128", 8), at(8192, "nvls", "simple", 16),
		at(16384, "nvls", "simple", 16)}
}

func TestRanges(t *testing.T) {
	rows := Ranges(choices())
	if len(rows) != 3 || rows[0].Min != 0 || rows[0].Max != 4095 || rows[1].Min != 4096 || rows[1].Max != 8191 || rows[2].Max != maxBytes {
		t.Errorf("%+v", rows)
	}
}

func TestWriteCSV(t *testing.T) {
	var b bytes.Buffer
	if err := WriteCSV(&b, []string{"A plan for a test, with a comment that is far too long for one line of a hundred characters, so " +
		"that it goes on in the next."}, Ranges(choices()), 16); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "allreduce.csv", b.Bytes())
	rows, err := ReadCSV(bytes.NewReader(b.Bytes()))
	if err != nil || len(rows) != 13 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

func TestWriteEnv(t *testing.T) {
	rows := Ranges(choices())
	rows[1].Note = "what NCCL cannot do"
	var b bytes.Buffer
	if err := WriteEnv(&b, Env{Plan: "a plan", Rows: rows, Config: "/etc/it's mine.csv", Own: 4}); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "allreduce-tuner.env", b.Bytes())
	b.Reset()
	rows[0].Protocol, rows[0].Algorithm, rows[1].Algorithm = "ll128", "tree", "nvls"
	if err := WriteEnv(&b, Env{Plan: "a plan", Rows: rows, Own: 8}); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "allreduce.env", b.Bytes())
	if err := WriteEnv(&b, Env{}); err == nil {
		t.Error("an empty plan")
	}
}

func TestRowsThatThePluginMisreads(t *testing.T) {
	good := Row{Kind: collective.AllReduce, Max: 1, Algorithm: "ring", Protocol: "ll", Channels: 1, Nodes: 1, Ranks: 8}
	for _, x := range []struct {
		change func(*Row)
		want   string
	}{
		{func(r *Row) { r.Kind = collective.AllToAll }, "take it for all_reduce"},
		{func(r *Row) { r.Algorithm = "direct" }, "take it for ring"},
		{func(r *Row) { r.Protocol = "LL" }, "take it for simple"},
		{func(r *Row) { r.Channels = -1 }, "-1 would mean one"},
		{func(r *Row) { r.Min = 2 }, "no range"},
		{func(r *Row) { r.Ranks = 0 }, "must be positive"},
	} {
		r := good
		x.change(&r)
		if err := WriteCSV(&bytes.Buffer{}, nil, []Row{r}, 1); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v instead of %q", err, x.want)
		}
	}
}

// everything is the end of every table.
var everything = func() string {
	var b bytes.Buffer
	for _, r := range CatchAll(4) {
		line(&b, &r)
	}
	return b.String()
}()

func TestBrokenTables(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"allreduce,0,1,ring,ll,1,1\n", "line 1: 7 fields"},
		{"allreduce,0,,ring,ll,1,1,8\n", "field 3 is empty"},
		{"alltoall,0,1,ring,ll,1,1,8\n", `"alltoall" cannot be tuned`},
		{"allreduce,0,1,ring,ll,-1,1,8\n", "-1 would mean one"},
		{"allreduce,x,1,ring,ll,1,1,8\n", "not a number"},
		{"allreduce,0,1,ring,ll,99999999999,1,8\n", "out of range"},
		{"allreduce,0,1,rings,ll,1,1,8\n", "take it for ring"},
		{"allreduce,0,1,ring,ll,1,1,8,2\n", "numPipeOps"},
		{"#" + strings.Repeat("x", 300) + "\n", "301 characters"},
		{"allreduce,0,9,ring,ll,1,-1,-1\nallreduce,1,2,tree,ll,1,1,8\n", "line 2: row 1 before covers"},
		{"allreduce,0,9,ring,ll,1,-1,-1\n", "allreduce has no row for any communicator from 10 bytes on"},
	} {
		text := x.text
		if !strings.Contains(x.want, "no row") {
			text += everything
		}
		if _, err := ReadCSV(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q: %v instead of %q", x.text, err, x.want)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, x := range []struct {
		algo string
		kind collective.Kind
		nvls bool
		want string
		note bool
	}{
		{"ring", collective.AllReduce, false, "ring", false},
		{"breadth_first", collective.AllGather, true, "ring", true},
		{"two_shot", collective.AllReduce, true, "nvls", true},
		{"two_shot", collective.AllReduce, false, "ring", true},
		{"double_binary_tree", collective.Broadcast, true, "ring", true},
		{"double_binary_tree", collective.AllReduce, true, "tree", true},
		{"mine", collective.AllReduce, true, "ring", true},
		{"in_network", collective.AllGather, true, "nvls", false},
		{"in_network", collective.AllGather, false, "ring", true},
		{"hierarchical_in_network", collective.AllReduce, true, "nvls_tree", true},
		{"hierarchical_in_network", collective.AllGather, true, "ring", true},
	} {
		if got, note := Nearest(x.algo, x.kind, x.nvls); got != x.want || (note != "") != x.note {
			t.Errorf("%s %v: %s (%s)", x.algo, x.kind, got, note)
		}
	}
}

func FuzzParseTable(f *testing.F) {
	f.Add("allreduce,0,1,ring,ll,1,1,8\n" + everything)
	f.Add("# comment\n\nallgather, 0 ,\t9,pat,simple,2,-1,-1,-1,-1\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := ReadCSV(strings.NewReader(text))
		if err != nil {
			return
		}
		var b bytes.Buffer
		for i := range rows {
			line(&b, &rows[i])
		}
		again, err := ReadCSV(&b)
		if err != nil || len(again) != len(rows) {
			t.Errorf("%v: %d rows, then %d", err, len(rows), len(again))
		}
	})
}
