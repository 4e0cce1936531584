// Scaling measures what a simulation costs as machines and schedules grow: wall time,
// memory and sends per second for an all-reduce of 1 GiB by hierarchical rings over 8
// channels, on the network of sim/testdata/scale/rails.yaml from 256 to 131,072 GPUs,
// and on 1,024 of them as the pipeline deepens. Run it from the root of the module:
//
//	go run ./notebooks/scaling
//
// It writes docs/scaling.csv and docs/img/scaling.png, and takes half a minute.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"runtime"
	"slices"
	"time"

	"railyard/internal/outfile"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report/chart"
	"railyard/report/table"
	"railyard/sim"
	"railyard/topologies"
)

const (
	network  = "sim/testdata/scale/rails.yaml"
	channels = 8
	size     = units.GiB
)

func main() {
	csvFile := flag.String("csv", "docs/scaling.csv", "write the figures to this file")
	pngFile := flag.String("png", "docs/img/scaling.png", "write the plot to this file")
	flat := flag.Int("flat", 1024, "most GPUs that are also simulated without folding")
	flag.Parse()
	log.SetFlags(0)
	if err := run(*csvFile, *pngFile, *flat); err != nil {
		log.Fatal("scaling: ", err)
	}
}

func run(csvFile, pngFile string, flat int) error {
	var rows []row
	add := func(nodes, depth int, flat bool) error {
		kinds := []string{folded, unfolded}
		if !flat {
			kinds = kinds[:1]
		}
		for _, kind := range kinds {
			r, err := measure(nodes, depth, kind)
			if err != nil {
				return err
			}
			log.Printf("%+v", r)
			rows = append(rows, r)
		}
		return nil
	}
	for nodes := 32; nodes <= 16384; nodes *= 2 {
		if err := add(nodes, 64, 8*nodes <= flat); err != nil {
			return err
		}
	}
	for depth := 1; depth <= 256; depth *= 4 {
		if err := add(128, depth, depth <= 16); err != nil {
			return err
		}
	}
	if err := outfile.Write(csvFile, func(w io.Writer) error { return table.WriteRows(w, rows) }); err != nil {
		return err
	}
	draw, err := chart.Draw(figure(rows), pngFile)
	if err != nil {
		return err
	}
	return outfile.Write(pngFile, draw)
}

// row is one simulation.
type row struct {
	GPUs        int     `json:"gpus"`
	Slices      int     `json:"slices"`
	Kind        string  `json:"kind"` // folded or unfolded
	PredictedUS float64 `json:"predicted_us"`
	Sends       int64   `json:"sends"`
	Topology    float64 `json:"topology_s" digits:"6"` // reading it
	Schedule    float64 `json:"schedule_s" digits:"6"`
	Simulation  float64 `json:"simulation_s" digits:"6"` // compile and run
	Heap        uint64  `json:"heap_bytes"`              // that the topology and the plan hold afterwards
	PerSecond   float64 `json:"sends_per_s" digits:"0"`
}

const (
	folded   = "folded"
	unfolded = "unfolded"
)

func measure(nodes, depth int, kind string) (row, error) {
	r := row{Slices: depth, Kind: kind}
	before := heap()
	began := time.Now()
	topo, err := topology.Load(topologies.Source, network, topology.Options{Nodes: nodes})
	if err != nil {
		return r, err
	}
	r.GPUs, r.Topology = topo.NumRanks(), time.Since(began).Seconds()
	began = time.Now()
	s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: r.GPUs}, "hierarchical_ring",
		planner.Options{Channels: channels, Slices: depth})
	if err != nil {
		return r, err
	}
	r.Schedule = time.Since(began).Seconds()
	began = time.Now()
	compile := sim.Compile
	if kind == unfolded {
		compile = sim.CompileFlat
	}
	p, err := compile(topo, s, cost.Line)
	if err != nil {
		return r, err
	}
	result, err := p.Run(size, sim.Options{})
	if err != nil {
		return r, err
	}
	r.Simulation, r.PredictedUS, r.Sends = time.Since(began).Seconds(), result.Time.Microseconds(), result.Sends
	r.PerSecond = float64(r.Sends) / r.Simulation
	r.Heap = heap() - before
	runtime.KeepAlive(p)
	return r, nil
}

// heap is the live heap.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// figure is time over GPUs and over slices.
func figure(rows []row) *chart.Panels {
	byGPUs := func(r row) (float64, bool) { return float64(r.GPUs), r.Slices == 64 }
	bySlices := func(r row) (float64, bool) { return float64(r.Slices), r.GPUs == 1024 }
	simulation := func(r row) float64 { return r.Simulation }
	curve := func(name, kind string, x func(row) (float64, bool), y func(row) float64) chart.Series {
		points := map[float64]float64{} // the last of repeated ones
		for _, r := range rows {
			if v, ok := x(r); ok && r.Kind == kind {
				points[v] = y(r)
			}
		}
		c := chart.Series{Name: name}
		for _, v := range slices.Sorted(maps.Keys(points)) {
			c.Points = append(c.Points, chart.XY{X: v, Y: points[v]})
		}
		return c
	}
	panel := func(x string, list ...chart.Series) *chart.Lines {
		return &chart.Lines{Frame: chart.Frame{X: x, Y: "seconds", Sizes: true, LogY: true}, Series: list}
	}
	return &chart.Panels{Across: true, Frame: chart.Frame{Title: "What a simulation costs",
		Source: fmt.Sprintf("all_reduce of 1 GiB, hierarchical_ring, %d channels, %s, profile line, %s", channels, network,
			runtime.Version())},
		Charts: []chart.Chart{
			panel("GPUs, 64 slices (K = 1024)", curve("simulation, unfolded", unfolded, byGPUs, simulation),
				curve("simulation, folded", folded, byGPUs, simulation),
				curve("reading the topology", folded, byGPUs, func(r row) float64 { return r.Topology })),
			panel("slices, 1,024 GPUs", curve("simulation, unfolded", unfolded, bySlices, simulation),
				curve("simulation, folded", folded, bySlices, simulation)),
		}}
}
