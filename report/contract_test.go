package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report/table"
)

// compared is a small comparison: one good row, one off by two, one without a model.
func compared() *Comparison {
	set := &measurement.Set{File: "m.csv", Header: []string{"collective", "size_bytes", "time_us", "algo", "note"}}
	for i, us := range []float64{10, 20, 30} {
		set.Rows = append(set.Rows, measurement.Row{Line: i + 2, Collective: collective.AllReduce, Size: units.Bytes(1024 << i), GPUs: 4,
			Algo: "Ring", Time: units.FromMicroseconds(us), Columns: []string{"allreduce", "x", "y", "Ring", "kept"}})
	}
	return Compare(set, func(m measurement.Row) (Predicted, error) {
		switch m.Line {
		case 2:
			return Predicted{Time: 11 * units.Microsecond, Schedule: "ring"}, nil
		case 3:
			return Predicted{Time: 10 * units.Microsecond, Schedule: "ring", Warnings: []string{"extrapolated"}}, nil
		}
		return Predicted{}, errors.New("algorithm NVLS is not modelled")
	})
}

func TestCompareContract(t *testing.T) {
	var buf bytes.Buffer
	if err := table.WriteJSON(&buf, compared().Document("topo", "profile")); err != nil {
		t.Fatal(err)
	}
	var d struct {
		Schema string
		Rows   []struct {
			Note        string
			MeasuredUS  float64 `json:"measured_us"`
			PredictedUS float64 `json:"predicted_us"`
			Error       float64
			Warnings    []string
		}
		Skipped []struct{ Reason string }
		Summary struct {
			Rows          int
			MAPE          float64
			GeomeanFactor float64 `json:"geomean_factor"`
			Worst         struct {
				Error float64
			}
		}
	}
	if err := json.Unmarshal(buf.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if d.Schema != "railyard.compare/v1" || len(d.Rows) != 2 || d.Rows[0].Error != 0.1 || d.Rows[0].Note != "kept" ||
		d.Rows[0].Warnings == nil ||
		d.Rows[1].MeasuredUS != 20 || d.Rows[1].PredictedUS != 10 || len(d.Skipped) != 1 || d.Summary.Rows != 2 || d.Summary.MAPE != 0.3 ||
		d.Summary.Worst.Error != -0.5 {
		t.Errorf("%+v", d)
	}
	if f := d.Summary.GeomeanFactor; f < 1.48 || f > 1.49 { // √(1.1·2)
		t.Errorf("factor %v", f)
	}
}
