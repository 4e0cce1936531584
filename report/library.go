package report

import "github.com/jedib0t/go-pretty/v6/table"

// Library is the communication library beside a schedule of ours: how it would run the
// same, how long that takes on this hardware (fitted kernels), how long it estimates
// itself, and what others have measured. Values that are not known are null.
type Library struct {
	Way        string   `json:"nccl_way"` // algorithm/protocol; "" where it does not run here
	TimeUS     *float64 `json:"nccl_us"`
	ModelUS    *float64 `json:"nccl_model_us"`
	MeasuredUS *float64 `json:"nccl_measured_us"`
	MeasuredIn string   `json:"nccl_measured_in"` // the series
}

// libraryHeader names Library's columns in CSV.
var libraryHeader = []string{"nccl_way", "nccl_us", "nccl_model_us", "nccl_measured_us", "nccl_measured_in"}

func (l *Library) csv() []string {
	return []string{l.Way, numberOrNone(l.TimeUS), numberOrNone(l.ModelUS), numberOrNone(l.MeasuredUS), l.MeasuredIn}
}

func numberOrNone(v *float64) string {
	if v == nil {
		return ""
	}
	return number(*v)
}

// known reports whether there is anything to show.
func (l *Library) known() bool { return l.TimeUS != nil || l.MeasuredUS != nil }

// libraryColumns are Library's columns in text.
var libraryColumns = table.Row{"NCCL runs", "in(us)", "its model(us)", "measured(us)"}

func (l *Library) cells() table.Row {
	text := func(v *float64) string {
		if v == nil {
			return "–"
		}
		return hundredths(*v)
	}
	way := l.Way
	if way == "" {
		way = "–"
	}
	return table.Row{way, text(l.TimeUS), text(l.ModelUS), text(l.MeasuredUS)}
}
