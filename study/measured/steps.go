package measured

import (
	"cmp"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"railyard/model/measurement"
	"railyard/model/topology"
)

// PublishedStep is a row of validation/steps.csv, or of a file like it: a training step that
// somebody has measured.
type PublishedStep struct {
	ID, Source, Topology, GPU string // GPU "": as the topology says
	Workload, Layout, Note    string
	Set                       []string // of the workload
	Options                   topology.Options
	Seconds                   float64
	MemoryGiB                 float64 // of the fullest GPU; 0: not published
}

// Series is what rows of one source share, the first part of their names.
func (s *PublishedStep) Series() string {
	name, _, _ := strings.Cut(s.ID, "-")
	return name
}

// PublishedSteps reads rows by the names of their columns; options may be --gpus N instead of gpus_per_node.
func PublishedSteps(files fs.FS, name string) ([]PublishedStep, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := measurement.Records(f, name, "id", "nodes", "step_s")
	if err != nil {
		return nil, err
	}
	var out []PublishedStep
	for _, r := range rows {
		cell := r.Cell
		s := PublishedStep{ID: cell("id"), Source: cell("source"), Topology: cell("topology"), GPU: cell("gpu"),
			Workload: cell("workload"), Layout: cell("layout"), Note: cell("note"),
			Set: strings.FieldsFunc(cell("set"), func(c rune) bool { return c == ';' })}
		nodes, err1 := strconv.Atoi(cell("nodes"))
		gpus, err2 := strconv.Atoi(cmp.Or(cell("gpus_per_node"), strings.TrimPrefix(cell("options"), "--gpus "), "0"))
		t, err3 := strconv.ParseFloat(cell("step_s"), 64)
		memory, err4 := strconv.ParseFloat(cmp.Or(cell("memory_gib"), "0"), 64)
		if cmp.Or(err1, err2, err3, err4) != nil || !(t > 0) || !(memory >= 0) {
			return nil, fmt.Errorf("%s:%d: nodes, gpus_per_node, memory_gib and step_s must be positive numbers", name, r.Line)
		}
		s.MemoryGiB = memory
		s.Options, s.Seconds = topology.Options{Nodes: nodes, GPUs: gpus}, t
		out = append(out, s)
	}
	return out, nil
}
