package measurement_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"railyard/internal/golden"
	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/units"
)

func read(t *testing.T, name string) *measurement.Set {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	set, err := measurement.ReadCSV(bytes.NewReader(data), name)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestReadCSVSamples prints what is made of measured files of two kinds: ours, and
// published ones that lack times, sizes or both.
func TestReadCSVSamples(t *testing.T) {
	for _, name := range []string{"h200", "published"} {
		var out bytes.Buffer
		for _, r := range read(t, name+".csv").Rows {
			fmt.Fprintf(&out, "line %d: %s %v of %v, %v, %d GPUs = %d x %d, algo %q proto %q launch %q dtype %q nccl %q system %q, "+
				"derived %q, unusable %q\n", r.Line, r.ID, r.Collective,
				r.Size, r.Time, r.GPUs, r.Nodes, r.GPUsPerNode, r.Algo, r.Proto, r.Launch, r.DType, r.NCCLVersion, r.System, r.Derived,
				r.Unusable)
		}
		golden.Equal(t, name+".txt", out.Bytes())
	}
}

// Files with percentiles are of many runs in a row.
func TestPercentilesAreOfReplays(t *testing.T) {
	for cells, replayed := range map[string]bool{",p95_us\nall_reduce,1024,9,9.2\n": true, ",p95_us\nall_reduce,1024,9,\n": false,
		"\nall_reduce,1024,9\n": false} {
		set, err := measurement.ReadCSV(strings.NewReader("collective,size_bytes,time_us"+cells), "x.csv")
		if err != nil || len(set.Rows) != 1 || set.Rows[0].Replayed != replayed {
			t.Errorf("%q: %+v, %v", cells, set, err)
		}
	}
}

func TestTimeFromBandwidth(t *testing.T) {
	const file = "size_bytes,time_us,collective,algbw_GBps,busbw_GBps,gpus\n" +
		"1000000,,all_reduce,10,,\n1000000,,all_reduce,,17.5,8\n1000000,,all_reduce,,17.5,\n1M,2.5,allreduce,10,,\n0,0,all_reduce,,,\n" +
		"1000000,,all_reduce,0.04,,\n"
	set, err := measurement.ReadCSV(strings.NewReader(file), "f")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []measurement.Row{
		{Time: 100 * units.Microsecond, Derived: "algbw_GBps"},
		{Time: 100 * units.Microsecond, Derived: "busbw_GBps"}, // busbw = algbw·2·7/8
		{Unusable: "no time was measured"},
		{Time: 2500 * units.Nanosecond},
		{Unusable: "no time was measured"},
		{Unusable: "the time is known to ±12 % only: algbw_GBps is printed as 0.04"},
	} {
		got := set.Rows[i]
		if got.Time != want.Time || got.Derived != want.Derived || got.Unusable != want.Unusable {
			t.Errorf("row %d: %v %q %q, want %v %q %q", i, got.Time, got.Derived, got.Unusable, want.Time, want.Derived, want.Unusable)
		}
	}
	if set.Rows[3].Size != units.MiB || set.Rows[3].Collective != collective.AllReduce {
		t.Errorf("%+v", set.Rows[3])
	}
}

func TestReadCSVErrors(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       []string
	}{
		{"empty", "", []string{"f:1: the file is empty: the first line must name the columns, at least collective, size_bytes, time_us"}},
		{"several missing", "kernel,gpus,bytes,us\n",
			[]string{`f:1: there is no column "collective" and no "size_bytes" and no "time_us"`, "(found: kernel, gpus, bytes, us)"}},
		{"after a comment", "# source\n\ncollective,size_bytes\n", []string{`f:3: there is no column "time_us"`}},
		{"twice", "collective,size_bytes,time_us,algo,algo\n", []string{`f:1: columns 4 and 5 are both named "algo"`}},
		{"unnamed", "collective,size_bytes,time_us,\n", []string{"f:1: column 4 has no name"}},
		{"all at once",
			"collective,size_bytes,time_us,gpus,nodes\nallred,1,1,4,1\nall_reduce,x,-1,0,1.5\nall_reduce,1,1\nall_reduce,-4,NaN,1e9,99999999999999999999\n", []string{
				`f:2: collective: unknown collective "allred"`, `f:3: size_bytes: "x" is not a number of bytes`,
				`f:3: time_us: "-1" is not a number of zero or more`,
				`f:3: gpus: "0" is not a whole number from 1`, `f:3: nodes: "1.5" is not a whole number from 1`,
				"f:4: row: 3 cells for 5 columns",
				`f:5: size_bytes: "-4"`, `f:5: time_us: "NaN"`, `f:5: gpus: "1e9"`, `f:5: nodes: "99999999999999999999"`}},
		{"contradiction", "collective,size_bytes,time_us,gpus,gpus_per_node,nodes\nall_reduce,1,1,9,4,2\n",
			[]string{"f:2: gpus: 9 does not agree with 4 per node on 2 nodes"}},
		{"ambiguous size", "collective,size_bytes,time_us\nall_reduce,1MB,1\n",
			[]string{`f:2: size_bytes: "1MB" is not a number of bytes`}},
		{"too long", "collective,size_bytes,time_us\nall_reduce,1,2e12\n", []string{"f:2: time_us: 2e+12 is more than eleven days"}},
		{"quote", "collective,size_bytes,time_us\nall_reduce,\"1,1\n", []string{"f: ", "line 2"}},
		{"many", "collective,size_bytes,time_us\n" + strings.Repeat("all_reduce,x,1\n", 50),
			[]string{"f:21: size_bytes", "f:22: and perhaps more: reading ended after 20 errors"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := measurement.ReadCSV(strings.NewReader(c.file), "f")
			if err == nil {
				t.Fatal("accepted")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q lacks %q", err, w)
				}
			}
		})
	}
}

// TestOtherFilesAreRefused holds that files with other columns are refused with the
// missing column's name.
func TestOtherFilesAreRefused(t *testing.T) {
	for _, name := range []string{"prototype.csv", "links.csv"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := measurement.ReadCSV(bytes.NewReader(data), name); err == nil ||
			!strings.Contains(err.Error(), name+`:2: there is no column "collective"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadRowsAreLeftOut(t *testing.T) {
	set, err := measurement.ReadCSV(strings.NewReader("collective,size_bytes,time_us\nall_reduce,x,1\nall_reduce,8,1\n"), "f")
	if err == nil || len(set.Rows) != 1 || set.Rows[0].Line != 3 {
		t.Errorf("%+v, %v", set, err)
	}
}

// TestCSVRoundTrip holds that unknown columns, their order and any text survive.
func TestCSVRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		extra := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Za-z_ ",é]{1,8}x`), 0, 4, strings.TrimSpace).Draw(rt, "extra")
		header := rapid.Permutation(append([]string{"collective", "size_bytes", "time_us"}, extra...)).Draw(rt, "header")
		set := &measurement.Set{Header: make([]string, len(header))}
		for i, h := range header {
			set.Header[i] = strings.TrimSpace(h)
		}
		for range rapid.IntRange(0, 5).Draw(rt, "rows") {
			cells := make([]string, len(header))
			for i, h := range header {
				switch h {
				case "collective":
					cells[i] = rapid.SampledFrom(collective.All()).Draw(rt, "c").String()
				case "size_bytes", "time_us":
					cells[i] = fmt.Sprint(rapid.Int64Range(1, 1<<38).Draw(rt, "n"))
				default:
					cells[i] = rapid.StringMatching(`[a-z0-9 ,"#é\n]{0,9}`).Draw(rt, "x")
				}
			}
			set.Rows = append(set.Rows, measurement.Row{Columns: cells})
		}
		var first, second bytes.Buffer
		if err := writeCSV(&first, set); err != nil {
			rt.Fatal(err)
		}
		got, err := measurement.ReadCSV(bytes.NewReader(first.Bytes()), "f")
		if err != nil {
			rt.Fatal(err)
		}
		if err := writeCSV(&second, got); err != nil {
			rt.Fatal(err)
		}
		if first.String() != second.String() || len(got.Rows) != len(set.Rows) {
			rt.Fatal(cmp.Diff(first.String(), second.String()))
		}
	})
}

// TestSummariseOracle counts, for each percentile, how many timings it is not below.
func TestSummariseOracle(t *testing.T) {
	if got := (measurement.Summarise(nil)); got != (measurement.Summary{}) {
		t.Errorf("%+v", got)
	}
	rapid.Check(t, func(rt *rapid.T) {
		times := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, 50).Draw(t,
				"ns"))
		}), 1, 250).Draw(rt, "times")
		before := slices.Clone(times)
		s := measurement.Summarise(times)
		oracle := func(p int) time.Duration {
			best := time.Duration(math.MaxInt64)
			for _, x := range times {
				within := 0
				for _, y := range times {
					if y <= x {
						within++
					}
				}
				if 100*within >= p*len(times) {
					best = min(best, x)
				}
			}
			return best
		}
		var sum time.Duration
		for _, x := range times {
			sum += x
		}
		want := measurement.Summary{Min: slices.Min(times), Median: oracle(50), P95: oracle(95), P99: oracle(99), Max: slices.Max(times),
			Mean: time.Duration(math.Round(float64(sum) / float64(len(times))))}
		if s != want {
			rt.Fatalf("%+v, want %+v", s, want)
		}
		if !slices.Equal(times, before) {
			rt.Fatal("the timings were reordered")
		}
	})
}

func TestErrors(t *testing.T) {
	errors := []float64{1, -0.5} // twice as slow, twice as fast
	if got := measurement.MAPE(errors); got != 0.75 {
		t.Error(got)
	}
	if got := measurement.GeomeanFactor(errors); math.Abs(got-2) > 1e-12 {
		t.Error(got)
	}
	if got := measurement.Bias(errors); math.Abs(got-1) > 1e-12 {
		t.Error(got)
	}
	if measurement.MAPE(nil) != 0 || measurement.GeomeanFactor(nil) != 1 || measurement.Bias(nil) != 1 {
		t.Error("no errors must mean no error")
	}
}

func FuzzReadCSV(f *testing.F) {
	f.Add("collective,size_bytes,time_us\nall_reduce,8,1.5\n")
	f.Add("# c\ntime_us,gpus,nodes,gpus_per_node,collective,size_bytes,busbw_GBps\n,8,2,4,alltoall,1M,3\n")
	f.Fuzz(func(t *testing.T, s string) {
		set, err := measurement.ReadCSV(strings.NewReader(s), "f")
		if err != nil {
			return
		}
		for _, r := range set.Rows {
			if r.Size < 0 || r.Time < 0 || r.Unusable == "" && (r.Time == 0) || len(r.Columns) != len(set.Header) || r.Line < 2 {
				t.Fatalf("%+v", r)
			}
		}
	})
}

// writeCSV writes a set as ReadCSV reads it: all columns, in their order.
func writeCSV(w io.Writer, s *measurement.Set) error {
	rows := [][]string{s.Header}
	for _, r := range s.Rows {
		rows = append(rows, r.Columns)
	}
	return csv.NewWriter(w).WriteAll(rows)
}
