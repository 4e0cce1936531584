package nccltuner

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/interop/foreign"
	"railyard/model/collective"
	"railyard/model/units"
)

// call is what NCCL tells a tuner of a collective, as far as ranks agree on it.
type call struct {
	Kind         collective.Kind
	Size         units.Bytes
	Nodes, Ranks int
}

// choose is the row that serves a call, by the rules of NCCL's example plugin (plugins/tuner/example/plugin.c:397–450) and of ours: the
// first that matches and that the call can use.
func choose(rows []Row, c call, usable func(algorithm, protocol string) bool) (Row, bool) {
	for _, r := range rows {
		if r.Kind == c.Kind && r.Min <= c.Size && c.Size <= r.Max && (r.Nodes == -1 || r.Nodes == c.Nodes) &&
			(r.Ranks == -1 || r.Ranks == c.Ranks) && usable(r.Algorithm, r.Protocol) {
			return r, true
		}
	}
	return Row{}, false
}

// usable says what a call can use, a bit for each algorithm and protocol.
func usable(bits uint32) func(algorithm, protocol string) bool {
	return func(a, p string) bool {
		return bits>>(3*slices.Index(foreign.NCCLAlgorithms, a)+slices.Index(foreign.NCCLProtocols, p))&1 == 1
	}
}

// someCalls are calls of sizes at and beside the ends of rows, on communicators that rows are for and others.
func someCalls(rows []Row, n int) (out []call, bits []uint32) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		r := rows[rng.IntN(len(rows))]
		end := []units.Bytes{r.Min, r.Max, r.Min / 2}[rng.IntN(3)]
		ranks := 8 << rng.IntN(2)
		size := max(end+units.Bytes(rng.IntN(3))-1, 0)
		out = append(out, call{Kind: Kinds[rng.IntN(len(Kinds))], Size: size, Nodes: ranks / 8, Ranks: ranks})
		bits = append(bits, 1<<21-1)
		if rng.IntN(2) == 0 {
			bits[len(bits)-1] = rng.Uint32() & (1<<21 - 1)
		}
	}
	return out, bits
}

// TestPlugin: the plugin in C chooses as the rows say, the same on all ranks of a process, whose communicators are made in threads of
// their own; what it leaves to NCCL it leaves alone.
func TestPlugin(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	rows := Ranges(choices())
	rows[1].Own = true
	rows = append(rows, Row{Kind: collective.Broadcast, Max: maxBytes, Algorithm: "pat", Protocol: "simple", Channels: 3, Nodes: -1,
		Ranks: -1,
		Note:  "a remark"})
	var source bytes.Buffer
	if err := WritePlugin(&source, "x.c", []string{"a plan */ of\nthree lines \\"}, rows); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, program := filepath.Join(dir, "x.c"), filepath.Join(dir, "drive")
	if err := os.WriteFile(file, source.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", program + ".so", file},
		{"-pthread", "-O1", "-DPLUGIN=\"" + file + "\"", "-o", program, "testdata/drive.c"}} {
		if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	calls, bits := someCalls(rows, 2000)
	var in bytes.Buffer
	for i, c := range calls {
		fmt.Fprintln(&in, slices.Index(functions, names[c.Kind]), int64(c.Size), c.Nodes, c.Ranks, bits[i])
	}
	cmd := exec.Command(program)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(calls) {
		t.Fatalf("%d lines for %d calls", len(lines), len(calls))
	}
	told := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Own })
	matched := 0
	for i, c := range calls {
		want := "none"
		if r, ok := choose(told, c, usable(bits[i])); ok {
			matched++
			want = fmt.Sprintf("%d/%d/0", slices.Index(foreign.NCCLAlgorithms, r.Algorithm),
				slices.Index(foreign.NCCLProtocols, r.Protocol))
		}
		if got := strings.Fields(lines[i]); len(got) != 4 || slices.ContainsFunc(got, func(g string) bool { return g != want }) {
			t.Errorf("%+v, %b: %q instead of %s", c, bits[i], lines[i], want)
		}
	}
	if matched < 200 || matched > 1800 {
		t.Errorf("%d of %d calls have a row", matched, len(calls))
	}
	if err := WritePlugin(&source, "x.c", nil, rows[1:2]); err == nil || !strings.Contains(err.Error(), "no plugin is needed") {
		t.Error(err)
	}
}

// tokens reads a table as NCCL's example plugin does, a step a call of strtok, whose place in a text lies in place.
type tokens struct {
	lines []string
	line  int
	row   []string
	table []string
	place *string
	begun bool
}

// step makes one call of strtok; false at the end of the table.
func (r *tokens) step() bool {
	if r.line == len(r.lines) {
		return false
	}
	if !r.begun {
		*r.place, r.row, r.begun = r.lines[r.line], nil, true
	}
	token, rest, _ := strings.Cut(strings.TrimLeft(*r.place, ","), ",")
	if *r.place = rest; token != "" && len(r.row) < 10 {
		r.row = append(r.row, token)
		return true
	}
	if len(r.row) >= 8 {
		r.table = append(r.table, strings.Join(r.row, ","))
	}
	r.line, r.begun = r.line+1, false
	return true
}

// TestTwoReaders: why NCCL's example plugin can hang a process with two GPUs. Two threads that read a table with one strtok end with
// tables that differ; with a place for each (strtok_r) they never do. With the first, ranks choose differently.
func TestTwoReaders(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(everything), "\n")
	read := func(seed uint64, shared bool) [2][]string {
		rng := rand.New(rand.NewPCG(seed, 7))
		var places [2]string
		readers := [2]*tokens{{lines: lines, place: &places[0]}, {lines: lines, place: &places[1]}}
		if shared {
			readers[1].place = &places[0]
		}
		for left := true; left; {
			which := rng.IntN(2) // whose thread goes on, for a while
			left = false
			for range rng.IntN(40) {
				left = readers[which].step() || left
			}
			left = left || readers[0].line < len(lines) || readers[1].line < len(lines)
		}
		return [2][]string{readers[0].table, readers[1].table}
	}
	differ := 0
	for seed := range uint64(200) {
		if own := read(seed, false); !slices.Equal(own[0], lines) || !slices.Equal(own[1], lines) {
			t.Fatalf("seed %d: readers with places of their own lose rows", seed)
		}
		if tables := read(seed, true); !slices.Equal(tables[0], tables[1]) {
			differ++
		}
	}
	if differ == 0 {
		t.Error("readers that share a place read the same")
	}
	t.Logf("%d of 200 interleavings leave the two with different tables", differ)
}
