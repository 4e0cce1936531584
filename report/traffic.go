package report

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"railyard/model/topology"
	"railyard/model/units"
)

// PortTraffic is what a scale-up port of a GPU carried in all runs.
type PortTraffic struct {
	GPU, Port      int
	Sent, Received units.Bytes
}

// GPUTraffic is what crosses a GPU's scale-up links in one run, in bytes, predicted
// beside measured.
type GPUTraffic struct {
	GPU               int     `json:"gpu"`
	PredictedSent     float64 `json:"predicted_sent_bytes"`
	MeasuredSent      float64 `json:"measured_sent_bytes"`
	PredictedReceived float64 `json:"predicted_received_bytes"`
	MeasuredReceived  float64 `json:"measured_received_bytes"`
	// The port that sent least and the one that sent most: an uneven GPU stripes badly.
	LeastPort float64 `json:"least_port_bytes"`
	MostPort  float64 `json:"most_port_bytes"`
}

// NewGPUTraffic adds up ports and links by rank of t. predicted is what a link carries
// in one run; ports hold what runs runs carried together. GPUs that t does not use are
// left out.
func NewGPUTraffic(t *topology.Topology, predicted func(topology.LinkID) float64, ports []PortTraffic, runs int) []GPUTraffic {
	out := make([]GPUTraffic, t.NumRanks())
	scaleUp := func(l topology.LinkID) bool {
		m := t.Class(l).Medium
		return m == topology.NVLink || m == topology.XGMI
	}
	for rank, d := range t.Ranks() {
		out[rank].GPU = rank
		for _, l := range t.Out(d) {
			if scaleUp(l) {
				out[rank].PredictedSent += predicted(l)
			}
		}
		for _, l := range t.In(d) {
			if scaleUp(l) {
				out[rank].PredictedReceived += predicted(l)
			}
		}
	}
	seen := make([]bool, len(out))
	for _, p := range ports {
		if p.GPU >= len(out) {
			continue
		}
		g := &out[p.GPU]
		sent := float64(p.Sent) / float64(runs)
		g.MeasuredSent += sent
		g.MeasuredReceived += float64(p.Received) / float64(runs)
		if !seen[p.GPU] {
			seen[p.GPU], g.LeastPort = true, sent
		}
		g.LeastPort, g.MostPort = min(g.LeastPort, sent), max(g.MostPort, sent)
	}
	return out
}

// WriteTraffic prints a line for each GPU.
func WriteTraffic(w io.Writer, list []GPUTraffic) error {
	out := &lines{w: w}
	t := newTable(out)
	t.AppendHeader(table.Row{"GPU", "sent(B)", "predicted", "error", "received(B)", "predicted", "error", "least port", "most port"})
	alignRight(t, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	whole := func(v float64) string { return fmt.Sprintf("%.0f", v) }
	miss := func(predicted, measured float64) string {
		if measured == 0 {
			return "-"
		}
		return signedPercent(predicted/measured - 1)
	}
	for _, g := range list {
		t.AppendRow(table.Row{g.GPU, whole(g.MeasuredSent), whole(g.PredictedSent), miss(g.PredictedSent, g.MeasuredSent),
			whole(g.MeasuredReceived), whole(g.PredictedReceived), miss(g.PredictedReceived, g.MeasuredReceived), whole(g.LeastPort), whole(g.MostPort)})
	}
	t.Render()
	return out.err
}
