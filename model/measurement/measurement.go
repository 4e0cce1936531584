// Package measurement holds measured times of collectives, whoever measured them.
package measurement

import (
	"railyard/model/collective"
	"railyard/model/units"
)

// Row is one measured case. Numbers that the file does not give are 0, texts "".
type Row struct {
	Line        int // in its file, from 1
	Collective  collective.Kind
	Size        units.Bytes // as nccl-tests counts: the total of all_gather, reduce_scatter and all_to_all
	Time        units.Time  // of one operation, the slowest rank's
	InPlace     units.Time  // the same with one buffer, where it was measured
	GPUs        int         // ranks in all
	GPUsPerNode int
	Nodes       int
	Hosts       []string // where its ranks were, in order of their names; nil: the file does not say
	GPU         string   // what its GPUs are called; "": the file does not say
	Adapters    []int    // of each node, those that were used; nil: all
	ID          string   // name of the series, where the file has several
	System      string   // machine
	Algo        string   // as the library names it: Ring, Tree, NVLS, default, …
	Proto       string   // LL, LL128, Simple, default
	Launch      string   // graph or stream
	Replayed    bool     // the median of many graphs in a row, whose launches are hidden, as railyard measures
	DType       string
	NCCLVersion string
	// Derived names the column that Time was computed from where the file gives no time:
	// bandwidths are printed with few digits, so such a time is less certain.
	Derived string
	// Unusable says why the case cannot be compared (no size, no time); "" where it can.
	Unusable string
	// Columns are all cells of the row as written, in the order of Set.Header.
	Columns []string
}

// Set is a file of measurements.
type Set struct {
	File     string
	Header   []string
	Rows     []Row
	Failures []Failure
}

// Failure is where the run that a file tells of failed, so that what it would have measured then is missing.
type Failure struct {
	Line int
	Says string // in the words of the program
}
