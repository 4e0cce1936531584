package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"railyard/internal/golden"
	_ "railyard/internal/long" // accepts -long
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report"
	"railyard/report/table"
)

// mixed has everything that a comparison must carry: unknown columns, names like our
// own, empty and odd cells, rows without size or time, and algorithms nobody predicts.
const mixed = `error,note,size_bytes,collective,gpus,algo,proto,time_us,busbw_GBps,p99_us
7,plain,1M,allreduce,4,Ring,LL128,20.3,77.48,21.50
,"quoted, text",1048576,all_reduce,16,Ring,LL128,40,,.5
,no time,4194304,all_gather,4,Ring,Simple,,155.7,
,nothing,4194304,all_gather,,Ring,Simple,,155.7,
,no size,,all_reduce,4,Ring,Simple,3,,
,other,1024,all_reduce,4,NVLS,Simple,8,,n/a
,free,1024,barrier,4,Ring,Simple,8,,
`

// half is a predictor that is right for 4 GPUs but for a factor of two.
func half(m measurement.Row) (report.Predicted, error) {
	switch {
	case m.Algo == "NVLS":
		return report.Predicted{}, errors.New("algorithm NVLS is not modelled")
	case m.GPUs == 16:
		return report.Predicted{Time: 3 * m.Time, Schedule: "ring/ll128", Profile: "slow", Warnings: []string{"extrapolated"}}, nil
	case m.Size < units.MiB:
		return report.Predicted{Schedule: "ring/simple"}, nil
	}
	return report.Predicted{Time: m.Time / 2, Schedule: "ring/" + strings.ToLower(m.Proto)}, nil
}

func compareMixed(t *testing.T) *report.Comparison {
	t.Helper()
	set, err := measurement.ReadCSV(strings.NewReader(mixed), "mixed.csv")
	if err != nil {
		t.Fatal(err)
	}
	return report.Compare(set, half)
}

func emitted(format string, doc any) func(io.Writer) error {
	return func(w io.Writer) error { return table.Emit(w, format, doc) }
}

func written(t *testing.T, write func(io.Writer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestComparisonGoldens(t *testing.T) {
	c := compareMixed(t)
	doc := written(t, emitted(table.JSON, c.Document("box", "test")))
	golden.Equal(t, "compare-mixed.json", doc)
	validate(t, "compare", doc)
	golden.Equal(t, "compare-mixed.csv", written(t, emitted(table.CSV, c.Document("box", "test"))))
	golden.Equal(t, "compare-mixed.txt", written(t, emitted(table.Text, c.Document("box", "test"))))
}

// TestNoRowIsDropped holds that every row of the file is in each form of the result.
func TestNoRowIsDropped(t *testing.T) {
	c := compareMixed(t)
	if len(c.Rows) != 3 || len(c.Skipped) != 4 {
		t.Fatalf("%d compared, %d skipped", len(c.Rows), len(c.Skipped))
	}
	rows, err := csv.NewReader(bytes.NewReader(written(t, emitted(table.CSV, c.Document("box", "test"))))).ReadAll()
	if err != nil || len(rows) != 8 {
		t.Errorf("CSV: %d lines, %v", len(rows), err)
	}
	seen := map[string]bool{}
	for _, name := range rows[0] {
		if seen[name] {
			t.Errorf("CSV: two columns %q", name)
		}
		seen[name] = true
	}
	for i, want := range []float64{-0.5, 2, -0.5} {
		if c.Rows[i].Error != want {
			t.Errorf("row %d: error %v, want %v", i, c.Rows[i].Error, want)
		}
	}
}

// TestComparedAgain holds that a comparison's CSV is a measurement file itself.
func TestComparedAgain(t *testing.T) {
	first := written(t, emitted(table.CSV, compareMixed(t).Document("box", "test")))
	set, err := measurement.ReadCSV(bytes.NewReader(first), "again.csv")
	if err != nil {
		t.Fatal(err)
	}
	c := report.Compare(set, half)
	if len(c.Rows) != 3 || !slices.Contains(c.Header, "error_in_file") {
		t.Errorf("%d rows, header %v", len(c.Rows), c.Header)
	}
	var doc struct {
		Rows []map[string]any `json:"rows"`
	}
	if err := json.Unmarshal(written(t, emitted(table.JSON, c.Document("box", "test"))), &doc); err != nil {
		t.Fatal(err)
	}
	r := doc.Rows[0]
	if r["error"] != -0.5 || r["error_in_file"] != "7" || r["error_in_file_in_file"] != "-0.5" {
		t.Errorf("%v", r)
	}
}

func TestNothingCompared(t *testing.T) {
	set, err := measurement.ReadCSV(strings.NewReader("collective,size_bytes,time_us\nall_reduce,,1\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	c := report.Compare(set, half)
	doc := written(t, emitted(table.JSON, c.Document("box", "test")))
	validate(t, "compare", doc)
	if !bytes.Contains(doc, []byte(`"mape": null`)) {
		t.Errorf("an error of nothing: %s", doc)
	}
	if text := written(t, emitted(table.Text, c.Document("box", "test"))); !bytes.Contains(text,
		[]byte("0 rows could be compared, 1 skipped")) {
		t.Errorf("%s", text)
	}
	if _, err := c.Figure("box", "test"); err != nil {
		t.Error(err)
	}
}

// full is a disk with room for n bytes.
type full struct{ n int }

var errFull = errors.New("no space left")

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.n {
		return 0, errFull
	}
	f.n -= len(p)
	return len(p), nil
}

// TestWritersReportAFullDisk tries every form with no room and with a little.
func TestWritersReportAFullDisk(t *testing.T) {
	run := runDocument()
	all := map[string]func(io.Writer) error{"line": func(w io.Writer) error { return table.WriteJSONLine(w, run) }}
	for name, doc := range documents(t) {
		for _, format := range append(table.Formats(), table.Wide) {
			all[name+"."+format] = emitted(format, doc)
		}
	}
	for name, write := range all {
		size := len(written(t, write))
		for _, room := range []int{0, size / 2, size - 1} {
			if err := write(&full{room}); !errors.Is(err, errFull) {
				t.Errorf("%s with room for %d of %d bytes: %v", name, room, size, err)
			}
		}
	}
}

// measuredRing is a sample of measured rows with a plausible model: launch, latency and
// rate of each protocol.
func measuredRing(t *testing.T) *report.Comparison {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "h200-ring.csv"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := measurement.ReadCSV(bytes.NewReader(data), "h200-ring.csv")
	if err != nil {
		t.Fatal(err)
	}
	return report.Compare(set, func(m measurement.Row) (report.Predicted, error) {
		floor, ok := map[string]float64{"LL": 11, "LL128": 23, "Simple": 38}[m.Proto]
		if !ok {
			return report.Predicted{}, fmt.Errorf("protocol %s", m.Proto)
		}
		rate := map[string]float64{"LL": 147, "LL128": 330, "Simple": 360}[m.Proto]
		return report.Predicted{Time: units.FromMicroseconds(floor + float64(m.Size)*1.5/rate/1e3), Schedule: "ring"}, nil
	})
}
