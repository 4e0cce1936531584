package show

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/measurement"
)

const probed = "../../docs/measured/h200-4"

// TestProbeAlonePredictsCollectives: a profile that knows links and no collective
// predicts the all-reduces that ran on the same machine within 10 % in the mean.
func TestProbeAlonePredictsCollectives(t *testing.T) {
	var errors []float64
	for _, gpus := range []int{2, 4} {
		c, err := Calibrate(Site{Name: "hgx-h200-4", GPUs: gpus}, probed, "2026-11-21")
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range c.Unseen {
			t.Logf("%s, %d GPUs, %v: predicted %v, measured %v (%+.0f %%)", x.Kernel, gpus, x.Size, x.Predicted, x.Measured, 100*x.Error())
		}
		errors = append(errors, c.Errors()...)
	}
	if mape := measurement.MAPE(errors); mape > 0.10 || math.IsNaN(mape) || len(errors) != 36 {
		t.Errorf("MAPE %.1f %% over %d cases, want at most 10 %%", 100*mape, len(errors))
	}
}

func TestCalibrationShows(t *testing.T) {
	c, err := Calibrate(Site{Name: "hgx-h200-4"}, probed, "2026-11-21")
	if err != nil {
		t.Fatal(err)
	}
	m := c.Messages("ll_ring", "simple_ring")
	drawn(t, m)
	for _, s := range m.Series {
		for i, p := range s.Points {
			if i > 0 && p.X <= s.Points[i-1].X {
				t.Errorf("%s: size %v after %v", s.Name, p.X, s.Points[i-1].X)
			}
		}
	}
	// 1 KiB by one block took 3.166 us, by two 3.238: the best counts.
	if p := m.Series[1].Points[0]; p.X != 1024 || p.Y != 3.166 {
		t.Errorf("%v", p)
	}
	drawn(t, c.Predictions())
	rows := c.Curves()
	if len(rows) < 3 {
		t.Errorf("%v", rows)
	}
	for _, r := range rows[1:] {
		if r[0] != "nvlink" || !strings.HasSuffix(r[5], " %") {
			t.Errorf("%v", r)
		}
	}
}

func TestBadCases(t *testing.T) {
	for text, want := range map[string]string{
		"kernel,gpus,bytes,blocks,threads,us,wrong\ntwoshot,4,x,1,1,2.5,0\n": "c.csv:2",
		"kernel,gpus\ntwoshot,4\n": "c.csv:1: there is no column \"bytes\" and no \"us\"",
		"a,b\n1\n":                 "c.csv:1",
	} {
		file := filepath.Join(t.TempDir(), "c.csv")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readCases(file, 4); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := Calibrate(Site{Name: "hgx-h200-4", GPUs: 3}, probed, "2026-11-21"); err == nil {
		t.Error("nobody has measured three GPUs")
	}
}
