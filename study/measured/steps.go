package measured

import (
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
func PublishedSteps(files fs.FS, name string) (out []PublishedStep, err error) {
	err = measurement.FileLines(files, name, func(l *measurement.Line) {
		s := PublishedStep{ID: l.Cell("id"), Source: l.Cell("source"), Topology: l.Cell("topology"), GPU: l.Cell("gpu"),
			Workload: l.Cell("workload"), Layout: l.Cell("layout"), Note: l.Cell("note"),
			Set:     strings.FieldsFunc(l.Cell("set"), func(c rune) bool { return c == ';' }),
			Options: topology.Options{Nodes: l.Count("nodes"), GPUs: l.Count("gpus_per_node")},
			Seconds: l.Number("step_s"), MemoryGiB: l.Number("memory_gib")}
		l.Given("nodes")
		if s.Seconds == 0 {
			l.Fail("step_s", "must be above 0")
		}
		if gpus := strings.TrimPrefix(l.Cell("options"), "--gpus "); s.Options.GPUs == 0 && gpus != "" {
			if s.Options.GPUs, err = strconv.Atoi(gpus); err != nil {
				l.Fail("options", "%q is not --gpus N", l.Cell("options"))
			}
		}
		out = append(out, s)
	}, "id", "nodes", "step_s")
	return out, err
}
