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
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report/chart"
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
	add := func(nodes, depth int, folded bool) error {
		r, err := measure(nodes, depth, folded)
		if err != nil {
			return err
		}
		log.Println(r)
		rows = append(rows, r)
		return nil
	}
	for nodes := 32; nodes <= 16384; nodes *= 2 {
		if err := add(nodes, 64, true); err != nil {
			return err
		}
		if 8*nodes <= flat {
			if err := add(nodes, 64, false); err != nil {
				return err
			}
		}
	}
	for depth := 1; depth <= 256; depth *= 4 {
		if err := add(128, depth, true); err != nil {
			return err
		}
		if depth <= 16 {
			if err := add(128, depth, false); err != nil {
				return err
			}
		}
	}
	if err := write(csvFile, func(w io.Writer) error { return writeCSV(w, rows) }); err != nil {
		return err
	}
	draw, err := chart.Draw(figure(rows), pngFile)
	if err != nil {
		return err
	}
	return write(pngFile, draw)
}

// row is one simulation.
type row struct {
	gpus, slices    int
	folded          bool
	predicted       units.Time
	sends           int64
	load, plan, sim time.Duration // topology; schedule; compile and run
	bytes           uint64        // heap that the topology and the plan hold afterwards
}

func (r row) kind() string {
	if r.folded {
		return "folded"
	}
	return "unfolded"
}

func (r row) perSecond() float64 { return float64(r.sends) / r.sim.Seconds() }

func (r row) String() string {
	return fmt.Sprintf("%6d GPUs, %3d slices, %-8s  predicted %9.3f ms  %11d sends  topology %7.3f s  schedule %6.3f s  simulation "+
		"%8.4f s  %6.0f MB  %9.3g sends/s",
		r.gpus, r.slices, r.kind(), r.predicted.Seconds()*1e3, r.sends, r.load.Seconds(), r.plan.Seconds(), r.sim.Seconds(),
		float64(r.bytes)/1e6, r.perSecond())
}

func measure(nodes, depth int, folded bool) (row, error) {
	r := row{slices: depth, folded: folded}
	before := heap()
	began := time.Now()
	topo, err := topology.Load(topologies.Source, network, topology.Options{Nodes: nodes})
	if err != nil {
		return r, err
	}
	r.gpus, r.load = topo.NumRanks(), time.Since(began)
	began = time.Now()
	s, err := planner.Build(topo, collective.Spec{Kind: collective.AllReduce, Ranks: r.gpus}, "hierarchical_ring",
		planner.Options{Channels: channels, Slices: depth})
	if err != nil {
		return r, err
	}
	r.plan = time.Since(began)
	line := cost.Line
	began = time.Now()
	compile := sim.Compile
	if !folded {
		compile = sim.CompileFlat
	}
	p, err := compile(topo, s, line)
	if err != nil {
		return r, err
	}
	result, err := p.Run(size, sim.Options{})
	if err != nil {
		return r, err
	}
	r.sim, r.predicted, r.sends = time.Since(began), result.Time, result.Sends
	r.bytes = heap() - before
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

func writeCSV(w io.Writer, rows []row) error {
	out := csv.NewWriter(w)
	records := [][]string{{"gpus", "slices", "kind", "predicted_us", "sends", "topology_s", "schedule_s", "simulation_s", "heap_bytes",
		"sends_per_s"}}
	seconds := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 6, 64) }
	for _, r := range rows {
		records = append(records, []string{strconv.Itoa(r.gpus), strconv.Itoa(r.slices), r.kind(), fmt.Sprint(r.predicted.Microseconds()),
			strconv.FormatInt(r.sends, 10),
			seconds(r.load), seconds(r.plan), seconds(r.sim), strconv.FormatUint(r.bytes, 10),
			strconv.FormatFloat(r.perSecond(), 'g', 4, 64)})
	}
	return out.WriteAll(records)
}

// figure is time over GPUs and over slices.
func figure(rows []row) *chart.Panels {
	byGPUs := func(r row) (float64, bool) { return float64(r.gpus), r.slices == 64 }
	bySlices := func(r row) (float64, bool) { return float64(r.slices), r.gpus == 1024 }
	simulation := func(r row) float64 { return r.sim.Seconds() }
	curve := func(name, kind string, x func(row) (float64, bool), y func(row) float64) chart.Series {
		points := map[float64]float64{} // the last of repeated ones
		for _, r := range rows {
			if v, ok := x(r); ok && r.kind() == kind {
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
			panel("GPUs, 64 slices (K = 1024)", curve("simulation, unfolded", "unfolded", byGPUs, simulation),
				curve("simulation, folded", "folded", byGPUs, simulation),
				curve("reading the topology", "folded", byGPUs, func(r row) float64 { return r.load.Seconds() })),
			panel("slices, 1,024 GPUs", curve("simulation, unfolded", "unfolded", bySlices, simulation),
				curve("simulation, folded", "folded", bySlices, simulation)),
		}}
}

// write makes a file.
func write(path string, content func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := content(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
