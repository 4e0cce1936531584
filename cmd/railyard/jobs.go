package main

import (
	"fmt"
	"slices"
	"strings"

	"railyard/capacity/locality"
	"railyard/cmd/internal/cli"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/sim"
	"railyard/study"
)

// job is a collective that runs, maybe beside others.
type job struct {
	sim.Job
	name     string // as the command line says it
	size     units.Bytes
	elsewise bool // the plan in its file was made for another topology
}

const withForms = "write FILE.json[:SIZE][@RANKS] or COLLECTIVE[:ALGO][:SIZE][@RANKS], such as b.json:64M or all_to_all:direct:64M@16-31"

// jobSpec is a --with taken apart.
type jobSpec struct {
	file  string // of a plan; "": plan the collective
	kind  collective.Kind
	algo  string
	size  units.Bytes
	ranks []int
}

// parseJob reads a --with; size is what it means where it says none.
func parseJob(text string, size units.Bytes) (jobSpec, error) {
	spec := jobSpec{size: size}
	rest, ranks, some := strings.Cut(text, "@")
	if some {
		var err error
		if spec.ranks, err = parseRanks(ranks); err != nil {
			return spec, cli.Usagef("--with %s: %v", text, err)
		}
	}
	rest = spec.cutSize(rest)
	name, algo, _ := strings.Cut(rest, ":")
	kind, err := collective.Parse(name)
	switch {
	case err == nil:
		spec.kind, spec.algo = kind, algo
	case strings.HasSuffix(rest, ".json"):
		spec.file = rest
	default:
		return spec, cli.Usagef("--with %s: %s", text, withForms)
	}
	return spec, nil
}

// cutSize takes a size off the end.
func (s *jobSpec) cutSize(text string) string {
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		if size, err := units.ParseBytes(text[i+1:]); err == nil && size > 0 {
			s.size = size
			return text[:i]
		}
	}
	return text
}

// maxRank bounds what a range of ranks may take.
const maxRank = 1 << 20

// parseRanks reads 0-7,12.
func parseRanks(text string) ([]int, error) {
	out, err := units.ParseRanges(text, maxRank)
	if err != nil || len(out) == 0 {
		return nil, fmt.Errorf("%q is not a list of ranks such as 0-7,12", text)
	}
	sorted := slices.Sorted(slices.Values(out))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return nil, fmt.Errorf("%q names rank %d twice", text, sorted[i])
		}
	}
	return out, nil
}

// readJob is the job of a plan in a file.
func readJob(path string, topo *topology.Topology, size units.Bytes, ranks []int) (*job, error) {
	of := topo
	if ranks != nil {
		of = nil // its ranks need not be the topology's
	}
	s, err := readSchedule(path, of)
	if err != nil {
		return nil, err
	}
	other := ranks == nil && s.TopologyHash != "" && s.TopologyHash != topo.Hash() && s.TopologyHash != topo.Idle().Hash()
	return &job{Job: sim.Job{Schedule: s, Ranks: ranks}, name: path, size: size, elsewise: other}, nil
}

// planJob is the job of a collective, planned for the part of the machine that it uses.
func planJob(spec jobSpec, topo *topology.Topology, machine *cost.Machine, protocols []schedule.Protocol) (*job, error) {
	part, ranks, err := partOf(topo, spec.ranks)
	if err != nil {
		return nil, err
	}
	a, err := study.Ask(study.Asked{Topology: part, Collective: study.Collective{Kind: spec.kind}, Sizes: []units.Bytes{spec.size},
		Machine: machine, Search: study.Search{Algorithm: spec.algo, Protocols: protocols}}, nil)
	if err != nil {
		return nil, err
	}
	return &job{Job: sim.Job{Schedule: a.Rows[0].Schedule, Ranks: ranks}, name: spec.kind.String(), size: spec.size}, nil
}

// partOf is the machine without the GPUs of other ranks, and the ranks in ascending
// order; the machine itself where ranks is nil.
func partOf(topo *topology.Topology, ranks []int) (*topology.Topology, []int, error) {
	if ranks == nil {
		return topo, nil, nil
	}
	ranks = slices.Sorted(slices.Values(ranks))
	if last := ranks[len(ranks)-1]; last >= topo.NumRanks() {
		return nil, nil, fmt.Errorf("rank %d: %s has ranks 0 to %d", last, topo.Name(), topo.NumRanks()-1)
	}
	part, err := (&locality.Placement{Ranks: ranks}).Part(topo)
	return part, ranks, err
}
