package report

import (
	"fmt"
	"slices"
	"strings"

	"railyard/model/units"
	"railyard/report/table"
)

// GateDocument is from which bandwidth on a machine is healthy.
type GateDocument struct {
	Schema      string      `json:"schema" const:"railyard.gate/v1" doc:"from which bandwidth on a machine is healthy"`
	Topology    string      `json:"topology"`
	Profile     string      `json:"profile"`
	Collective  string      `json:"collective"`
	Nodes       int         `json:"nodes"`
	Ranks       int         `json:"ranks"`
	FalseAlarms float64     `json:"false_alarms" as:"share" doc:"share of a healthy machine's runs that fail"`
	Rows        []GateRow   `json:"rows" csv:""`
	Faults      []GateFault `json:"faults" doc:"what the gate finds, of each kind one part"`
	// Beside are of the largest size.
	Beside []GateBeside `json:"beside" doc:"faults that runs find which should take the same, compared with one another"`
}

// GateRow is the gate of a size.
type GateRow struct {
	SizeBytes int64    `json:"size_bytes" text:"size"`
	Algorithm string   `json:"algorithm" text:"schedule"`
	Protocol  string   `json:"protocol" text:"" join:"/"`
	BusBW     float64  `json:"busbw_GBps" text:"predicted busbw" doc:"predicted bus bandwidth"`
	Band      float64  `json:"band" text:"off by" as:"factor" doc:"factor, either way, within which predictions of 9 of 10 machines lie"`
	Runs      int      `json:"runs" text:"own runs" doc:"runs of one's own; 0: the floor is the prediction's alone"`
	Spread    float64  `json:"spread" text:"spread" as:"share" doc:"standard deviation of repeats"`
	Typical   float64  `json:"busbw_typical_GBps" text:"typical" doc:"what the prediction and own runs make believe"`
	Floor     float64  `json:"busbw_floor_GBps" text:"floor" doc:"runs below it fail"`
	Tolerance float64  `json:"tolerance" text:"tolerance" as:"share" doc:"share of what is typical that the floor is below it"`
	Warnings  []string `json:"warnings" note:"warning"`
}

// GateFault is what the gate of a size finds of a fault.
type GateFault struct {
	SizeBytes int64    `json:"size_bytes" text:"size"`
	Kind      string   `json:"kind" text:"lost or slow"`
	Fault     string   `json:"fault" text:"such as"`
	Slower    float64  `json:"slower" text:"slower" as:"factor" doc:"how many times as long it takes, predicted"`
	BusBW     float64  `json:"busbw_GBps" text:"predicted busbw" doc:"with the fault, predicted"`
	Detection float64  `json:"detection" text:"found in" as:"share" doc:"share of runs with the fault that fail"`
	Detected  bool     `json:"detected" text:"detected" doc:"at least 95 % of them do"`
	FromBytes *int64   `json:"from_bytes" text:"from size" as:"bytes" doc:"least size whose gate finds it; null: none"`
	Bearable  *float64 `json:"bearable_spread" text:"or spread" as:"share" doc:"own runs find it that spread less"`
}

// GateBeside is what runs that should take the same find of a fault, of which one is touched by it. The prediction's own error is the same
// for all of them.
type GateBeside struct {
	Kind      string  `json:"kind" text:"lost or slow"`
	Fault     string  `json:"fault" text:"such as"`
	Runs      int     `json:"runs" text:"runs" doc:"how many there are"`
	Times     int     `json:"times" text:"times each" doc:"how often each of them is run: its median counts"`
	Of        string  `json:"of" text:"beside one another" doc:"what they run on"`
	SizeBytes int64   `json:"size_bytes" text:"size"`
	Share     float64 `json:"share" text:"fail below" as:"share" doc:"one fails below this share of the others' median bandwidth"`
	Slower    float64 `json:"slower" text:"slower" as:"factor" doc:"how many times as long the one with the fault takes, predicted"`
	Detection float64 `json:"detection" text:"found in" as:"share" doc:"share of machines with the fault that fail"`
	Detected  bool    `json:"detected" text:"detected" doc:"at least 95 % of them do"`
	// With is for what is not detected.
	With *float64 `json:"false_alarms" text:"or alarms" as:"share" doc:"false alarms with which it is; empty where it is, or above 5 %"`
}

// Reason says why the floor of a size is where it is.
func (r GateRow) Reason(d *GateDocument) string {
	why := fmt.Sprintf("%s of a healthy machine's runs pass; %s GB/s predicted, off by up to a factor of %.2f on 9 of 10 machines",
		table.Percent(1-d.FalseAlarms), gigabytes(r.BusBW), r.Band)
	if r.Runs > 0 {
		why += fmt.Sprintf("; with %s %s GB/s are typical, repeats spread by %s", units.Counted(r.Runs, "own run"), gigabytes(r.Typical),
			table.Percent(r.Spread))
	}
	return why
}

// Finds lists the faults that the gate of a size finds, and those that it does not.
func (d *GateDocument) Finds(size int64) string {
	var found, not []string
	for _, f := range d.Faults {
		if f.SizeBytes != size {
			continue
		}
		what := fmt.Sprintf("%s (%s: %.0f %%)", f.Kind, f.Fault, 100*f.Detection)
		if f.Detected {
			found = append(found, what)
		} else {
			not = append(not, what)
		}
	}
	out := "finds " + strings.Join(found, ", ")
	if len(found) == 0 {
		out = "finds none of the faults looked at"
	}
	if len(not) > 0 {
		out += "; not surely " + strings.Join(not, ", ")
	}
	return out + d.wants(size) + d.beside(size)
}

// beside says which runs find what the gate of a size does not.
func (d *GateDocument) beside(size int64) string {
	var by, kinds []string // for each comparison, the faults
	for _, x := range d.Beside {
		missed := slices.ContainsFunc(d.Faults, func(f GateFault) bool { return f.SizeBytes == size && f.Fault == x.Fault && !f.Detected })
		if !x.Detected && x.With == nil || !missed {
			continue
		}
		what := fmt.Sprintf("%s of %s (%s)", units.Counted(x.Runs, "run"), table.Bytes(float64(x.SizeBytes)), x.Of)
		if x.Times > 1 {
			what += fmt.Sprintf(", %d times each,", x.Times)
		}
		if x.With != nil {
			what += fmt.Sprintf(" with %s of false alarms (--how false-alarms)", table.Percent(*x.With))
		}
		if i := slices.Index(by, what); i >= 0 {
			kinds[i] += " and " + x.Kind
		} else {
			by, kinds = append(by, what), append(kinds, x.Kind)
		}
	}
	out := ""
	for i := range by {
		out += fmt.Sprintf("; %s compared with one another find %s", by[i], kinds[i])
	}
	return out
}

// wants says what own runs would find that the gate of a size does not, and how little they may spread; "" where it has such runs, or
// none would.
func (d *GateDocument) wants(size int64) string {
	i := slices.IndexFunc(d.Rows, func(r GateRow) bool { return r.SizeBytes == size })
	var would []string
	for _, f := range d.Faults {
		if f.SizeBytes == size && f.Bearable != nil && i >= 0 && d.Rows[i].Runs == 0 {
			would = append(would, fmt.Sprintf("%s (that spread less than %s)", f.Kind, table.Percent(*f.Bearable)))
		}
	}
	if len(would) == 0 {
		return ""
	}
	return "; own runs on the healthy machine (--how healthy) would find " + strings.Join(would, ", ")
}
