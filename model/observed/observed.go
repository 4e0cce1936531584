// Package observed is what running jobs say of themselves: what NCCL chose, which collectives ran and how long they
// took, and how far every rank has come. Readers of interop make it of logs and dumps; verdicts of study are given on it.
package observed

import (
	"fmt"

	"railyard/model/collective"
	"railyard/model/units"
)

// Place is where something was read.
type Place struct {
	File string
	Line int // from 1; 0 where the file has no lines
}

// String is file:line.
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Member is a rank of a communicator and where it runs, as far as that is known.
type Member struct {
	Rank int
	Host string
	PID  int // 0: not known
	GPU  int // of its host; -1: not known
}

// String names the rank and its place.
func (m Member) String() string {
	text := fmt.Sprintf("rank %d", m.Rank)
	if m.Host != "" {
		text += " on " + m.Host
	}
	if m.GPU >= 0 && m.Host != "" {
		text += fmt.Sprintf(", GPU %d", m.GPU)
	}
	if m.PID > 0 {
		text += fmt.Sprintf(", process %d", m.PID)
	}
	return text
}

// Call is a collective that has run, as one rank saw it.
type Call struct {
	Place
	Group string // the communicator or process group
	Rank  int    // in the group, or of the job where only that is known; -1: neither
	Ranks int    // of the group
	Nodes int    // 0: not known
	On    []int  // the group's ranks of the job; nil: not known
	Host  string // may be empty
	Kind  collective.Kind
	Size  units.Bytes // as nccl-tests counts it
	Seq   int64       // of the group's collectives of this kind; -1: not known
	Start int64       // ns of the file's clock; where only the end is known, that
	Time  units.Time  // on the GPU
	Mean  bool        // of several
}

// InTests is the size by nccl-tests' count: of what all ranks gather or scatter together, where perRank is what one of them gives
// or takes (NCCL's sendcount and recvcount).
func InTests(kind collective.Kind, perRank units.Bytes, ranks int) units.Bytes {
	switch kind {
	case collective.AllGather, collective.ReduceScatter, collective.Gather, collective.Scatter:
		return perRank * units.Bytes(ranks)
	}
	return perRank
}
