package report

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"railyard/model/units"
)

// ExpectDocument is schema railyard.expect/v1: what nccl-tests should show.
type ExpectDocument struct {
	Schema     string      `json:"schema"`
	Topology   string      `json:"topology"`
	Profile    string      `json:"profile"`
	Collective string      `json:"collective"`
	Ranks      int         `json:"ranks"`
	Rows       []ExpectRow `json:"rows"`
}

// ExpectRow is a size. Low and High bound what is normal: the prediction, give or take
// twice the mean error that the kernel has on measurements left out of its fit.
type ExpectRow struct {
	SizeBytes int64    `json:"size_bytes"`
	Algorithm string   `json:"algorithm"`
	Protocol  string   `json:"protocol"`
	TimeUS    float64  `json:"time_us"`
	LowUS     float64  `json:"low_us"`
	HighUS    float64  `json:"high_us"`
	AlgBW     float64  `json:"algbw_GBps"`
	BusBW     float64  `json:"busbw_GBps"`
	LowBusBW  float64  `json:"busbw_low_GBps"`
	HighBusBW float64  `json:"busbw_high_GBps"`
	WireBW    float64  `json:"wire_GBps"`
	LineBW    float64  `json:"line_GBps"`
	Limit     string   `json:"limit"`
	NCCLUS    *float64 `json:"nccl_model_us"`
	Warnings  []string `json:"warnings"`
}

// WriteText prints a line for each size.
func (d *ExpectDocument) WriteText(w io.Writer) error {
	out := &lines{w: w}
	out.printf("%s on %s (%s), profile %s: what nccl-tests should show\n\n", d.Collective, d.Topology, units.Counted(d.Ranks, "rank"), d.Profile)
	t := newTable(out)
	t.AppendHeader(table.Row{"size", "algo", "time(us)", "normal(us)", "algbw", "busbw", "normal", "wire", "of", "NCCL's model(us)", "limited by"})
	alignRight(t, 1, 3, 4, 5, 6, 7, 8, 9, 10)
	warnings := map[string]int{}
	for _, r := range d.Rows {
		own := "–"
		if r.NCCLUS != nil {
			own = fmt.Sprintf("%.1f", *r.NCCLUS)
		}
		t.AppendRow(table.Row{units.Bytes(r.SizeBytes).String(), r.Algorithm + "/" + r.Protocol, fmt.Sprintf("%.1f", r.TimeUS), band(r.LowUS, r.HighUS),
			fmt.Sprintf("%.2f", r.AlgBW), fmt.Sprintf("%.2f", r.BusBW), band(r.LowBusBW, r.HighBusBW),
			fmt.Sprintf("%.1f", r.WireBW), fmt.Sprintf("%.0f", r.LineBW), own, r.Limit})
		for _, x := range r.Warnings {
			warnings[x]++
		}
	}
	t.Render()
	out.printf("\nGB/s. busbw as nccl-tests computes it; wire is what each link group named last really carries, of its line rate.\n")
	writeCounts(out, "warning", warnings)
	return out.err
}

// WriteCSV writes the rows.
func (d *ExpectDocument) WriteCSV(w io.Writer) error {
	rows := [][]string{{"size_bytes", "algorithm", "protocol", "time_us", "low_us", "high_us", "algbw_GBps", "busbw_GBps", "busbw_low_GBps", "busbw_high_GBps", "wire_GBps", "line_GBps", "limit", "nccl_model_us"}}
	for _, r := range d.Rows {
		own := ""
		if r.NCCLUS != nil {
			own = number(*r.NCCLUS)
		}
		rows = append(rows, []string{fmt.Sprint(r.SizeBytes), r.Algorithm, r.Protocol, number(r.TimeUS), number(r.LowUS), number(r.HighUS), number(r.AlgBW), number(r.BusBW),
			number(r.LowBusBW), number(r.HighBusBW), number(r.WireBW), number(r.LineBW), r.Limit, own})
	}
	return writeCSV(w, rows)
}
