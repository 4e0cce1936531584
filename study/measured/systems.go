package measured

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/sim/nccl"
	"railyard/topologies"
	"railyard/validation"
)

// System is a line of a table of systems: where series were measured.
type System struct {
	Series            string // prefix of their names
	Topology, Profile string // "": the profile of the topology's GPUs
	Set               []string
	Options           nccl.Options
	Single            bool   // one process launched for all GPUs
	Replayed          bool   // graphs were launched in a row, which hides all launches but the first
	Version           string // of the library at most, where rows do not say it
	Excluded          string // why the series is left out, "" where it is not
}

// Systems is such a table.
type Systems struct {
	file string
	dir  string // where topologies of its own lie; "": nowhere
	list []System
}

// ShippedSystems is the table of the package validation.
func ShippedSystems() (*Systems, error) {
	s, err := readSystems(validation.Files, "systems.csv", "")
	if s != nil {
		s.file = "validation/systems.csv"
	}
	return s, err
}

// readSystems reads a table: a CSV with the columns series and topology (a shipped name, or a file beside the
// table), and where they are needed set, profile, launch, version (of NCCL, at most), nvls, cc, fabric, p2p,
// exclude and why.
func readSystems(files fs.FS, file, dir string) (*Systems, error) {
	s := &Systems{file: file, dir: dir}
	err := measurement.FileLines(files, file, func(l *measurement.Line) { s.list = append(s.list, readSystem(l)) }, "series", "topology")
	if err != nil {
		return nil, err
	}
	return s, nil
}

// p2pLevels are what NCCL_P2P_LEVEL may be.
var p2pLevels = []string{"", "LOC", "NVL", "PIX", "PXB", "PHB", "SYS"}

func readSystem(l *measurement.Line) System {
	launch := l.Cell("launch")
	s := System{Series: l.Cell("series"), Topology: l.Cell("topology"), Profile: l.Cell("profile"), Single: launch == "single",
		Replayed: launch == "replayed", Version: l.Cell("version")}
	if launch != "" && !s.Single && !s.Replayed {
		l.Fail("launch", "%q must be single (one process launched for all GPUs), replayed (graphs, in a row) or empty", launch)
	}
	s.Options.Fabric, s.Options.ComputeCapability = l.Cell("fabric"), l.Count("cc")
	if set := l.Cell("set"); set != "" {
		s.Set = strings.Split(set, ";")
	}
	if l.Cell("exclude") != "" {
		s.Excluded = l.Cell("why")
	}
	if s.Options.P2PLevel = l.Cell("p2p"); !slices.Contains(p2pLevels, s.Options.P2PLevel) {
		l.Fail("p2p", "%q must be LOC, NVL, PIX, PXB, PHB, SYS (NCCL_P2P_LEVEL) or empty", s.Options.P2PLevel)
	}
	switch nvls := l.Cell("nvls"); nvls {
	case "":
	case "on":
		s.Options.NVLS = nccl.On
	case "off":
		s.Options.NVLS = nccl.Off
	case "collnet":
		s.Options.CollNet = nccl.On
	default:
		l.Fail("nvls", "%q must be on, off, collnet (switches of the network reduce) or empty", nvls)
	}
	return s
}

// Of is the system with the longest prefix of a series' name.
func (s *Systems) Of(series string) (*System, error) {
	var best *System
	for i := range s.list {
		if x := &s.list[i]; strings.HasPrefix(series, x.Series) && (best == nil || len(x.Series) > len(best.Series)) {
			best = x
		}
	}
	if best == nil {
		return nil, fmt.Errorf("series %s: %s does not say where it was measured", series, s.file)
	}
	return best, nil
}

// topology of a system, with so many nodes and GPUs in all.
func (s *Systems) topology(x *System, nodes, gpus int) (*topology.Topology, error) {
	o := topology.Options{Nodes: nodes, GPUs: gpus / max(nodes, 1), Set: x.Set}
	return topology.Load(s.source, x.Topology, o)
}

// source finds files beside the table before shipped topologies.
func (s *Systems) source(name string) (string, []byte, error) {
	for _, beside := range []string{name, name + ".yaml"} {
		beside = filepath.Join(s.dir, beside)
		if info, err := os.Stat(beside); s.dir != "" && err == nil && info.Mode().IsRegular() {
			return topologies.Source(beside)
		}
	}
	return topologies.Source(name)
}

// Shipped are the measurements of the package validation; rows without a series are named by their file.
func Shipped() ([]*measurement.Set, error) {
	var out []*measurement.Set
	for _, name := range []string{"h200-nccl.csv", "h200-nccl-replayed.csv", "published.csv"} {
		f, err := validation.Files.Open(name)
		if err != nil {
			return nil, err
		}
		set, err := readSet(f, "validation/"+name)
		if err != nil {
			return nil, err
		}
		out = append(out, set)
	}
	return out, nil
}

// readSet reads measurements, and closes the file.
func readSet(f io.ReadCloser, file string) (*measurement.Set, error) {
	defer f.Close()
	set, err := measurement.ReadCSV(f, file)
	if err != nil {
		return nil, err
	}
	for i := range set.Rows {
		if set.Rows[i].ID == "" {
			set.Rows[i].ID = strings.TrimSuffix(filepath.Base(file), ".csv")
		}
	}
	return set, nil
}
