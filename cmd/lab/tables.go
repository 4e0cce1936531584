package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/internal/outfile"
	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report/fit"
	"railyard/sim/nccl"
	"railyard/study"
	"railyard/study/kernels"
	"railyard/study/tuning"
	"railyard/topologies"
)

// tablesFlags say what cuda-sweep --nccl measured, and with what it is compared: for the tables and figures of
// docs/evidence/execution-one-host.md, and the choice of schedules.
type tablesFlags struct {
	Topology string   `flag:"topology,t,default=hgx-h200-4"`
	Profile  string   `flag:"profile,need"`
	Goals    string   `flag:"goals"`
	Peers    []string `flag:"peers"`
	Choices  string   `flag:"methods"`
	Gpu      string   `flag:"gpu"`
	Gpus     []int    `flag:"gpus"`
	Figures  string   `flag:"figures"`
	Out      string   `flag:"output,o"`
	Date     string   `flag:"date,need"`
}

// Args are files of rows.
func (f *tablesFlags) Args(cmd *cobra.Command, args []string) error {
	return cobra.MinimumNArgs(1)(cmd, args)
}

// Run makes them.
func (f *tablesFlags) Run(cmd *cobra.Command, files []string) error {
	return f.run(cmd.OutOrStdout(), files)
}

// compared is a case of ours beside NCCL's in one run.
type compared struct {
	key                  tuning.Key
	best                 tuning.Row
	nccl, windows        float64 // µs; 0: not measured
	stream               onStreams
	goal                 float64
	peer                 peerTime // the fastest other library
	probe, fitted, cross float64  // predicted µs; cross: fitted on the other sizes
	bound, library       float64
	schedule             *schedule.Schedule
	topo                 *topology.Topology
}

// onStreams is what operations launched one by one on streams take, in µs; 0: not measured.
type onStreams struct{ ours, nccl, windows float64 }

// miss is a prediction's relative error.
func (c *compared) miss(predicted float64) float64 { return (predicted - c.best.US) / c.best.US }

func (f *tablesFlags) run(out io.Writer, files []string) error {
	all, err := tuning.ReadRows(files[0])
	if err != nil {
		return err
	}
	cases := compareFastest(all)
	if len(f.Gpus) > 0 {
		cases = slices.DeleteFunc(cases, func(c *compared) bool { return !slices.Contains(f.Gpus, c.key.GPUs) })
	}
	if len(cases) == 0 {
		return fmt.Errorf("%s: no case has rows of ours and of NCCL", files[0])
	}
	if err := f.predict(cases); err != nil {
		return err
	}
	if f.Goals != "" {
		if err := readGoals(f.Goals, cases); err != nil {
			return err
		}
	}
	left := peersLeft{}
	for _, name := range f.Peers {
		if err := readPeers(name, cases, left); err != nil {
			return err
		}
	}
	writeTables(out, cases)
	writePeers(out, cases, left)
	if f.Out != "" {
		if err := outfile.Write(f.Out, func(w io.Writer) error { return writeCompared(w, cases) }); err != nil {
			return err
		}
	}
	if f.Choices != "" {
		var others []tuning.Row
		for _, name := range files[1:] {
			more, err := tuning.ReadRows(name)
			if err != nil {
				return err
			}
			others = append(others, more...)
		}
		if err := f.writeFastest(all, others); err != nil {
			return err
		}
	}
	if f.Figures == "" {
		return nil
	}
	return f.draw(cases)
}

// writeFastest writes what was fastest into a profile.
func (f *tablesFlags) writeFastest(first, others []tuning.Row) error {
	if f.Gpu == "" {
		return cli.Usagef("--methods needs --gpu, the name of the GPUs they are of")
	}
	m, err := cost.GetMachine(f.Choices)
	if err != nil {
		return err
	}
	known := map[tuning.Key]bool{}
	for _, s := range first {
		known[s.Key] = true
	}
	others = slices.DeleteFunc(others, func(s tuning.Row) bool { return known[s.Key] })
	return cli.WriteMachine(f.Choices, m.WithFastest(tuning.Fastest(f.Gpu, "lab tables --methods", f.Date, slices.Concat(first, others))))
}

// compareFastest are the fastest rows of ours with NCCL's, in order.
func compareFastest(all []tuning.Row) (out []*compared) {
	at := map[tuning.Key]*compared{}
	for _, s := range all {
		c := at[s.Key]
		if c == nil {
			c = &compared{key: s.Key}
			at[s.Key] = c
			out = append(out, c)
		}
		switch {
		case s.Variant.Algorithm == tuning.NCCL && s.Variant.Windows:
			c.windows, c.stream.windows = s.US, s.StreamUS
		case s.Variant.Algorithm == tuning.NCCL:
			c.nccl, c.stream.nccl = s.US, s.StreamUS
		default:
			if c.best.US == 0 || s.US < c.best.US {
				c.best = s
			}
			if s.StreamUS > 0 && (c.stream.ours == 0 || s.StreamUS < c.stream.ours) {
				c.stream.ours = s.StreamUS
			}
		}
	}
	out = slices.DeleteFunc(out, func(c *compared) bool { return c.best.US == 0 || c.nccl == 0 })
	slices.SortFunc(out, func(a, b *compared) int { return a.key.Compare(b.key) })
	return out
}

// predict simulates what ran, under the probe's profile and under fitted ones.
func (f *tablesFlags) predict(cases []*compared) error {
	machine, err := cost.GetMachine(f.Profile)
	if err != nil {
		return err
	}
	probe := machine.Measured()
	if probe == nil {
		return fmt.Errorf("%s: it says nothing of railyard's own kernels: measure with `railyard probe`", f.Profile)
	}
	type made struct {
		gpus   int
		kind   collective.Kind
		algo   string
		slices int
		proto  schedule.Protocol
	}
	topos, plans := map[int]*topology.Topology{}, map[made]*schedule.Schedule{}
	libraries := map[int]*nccl.Runtime{}
	for _, c := range cases {
		n := c.key.GPUs
		if topos[n] == nil {
			if topos[n], err = topology.Load(topologies.Source, f.Topology, topology.Options{GPUs: n}); err != nil {
				return err
			}
			if libraries[n], err = study.NCCL(topos[n], nil, nccl.Options{}); err != nil {
				return err
			}
		}
		c.topo = topos[n]
		spec := collective.Spec{Kind: c.key.Kind, Ranks: n}
		k := made{n, spec.Kind, c.best.Variant.Algorithm, c.best.Variant.Slices, c.best.Variant.How.Mechanism.Protocol()}
		if plans[k] == nil {
			if plans[k], err = planner.Build(c.topo, spec, k.algo, planner.Options{Slices: k.slices, Protocol: k.proto}); err != nil {
				return err
			}
		}
		c.schedule = plans[k]
		c.bound = collective.LowerBound(c.topo, spec, c.key.Size).Time.Microseconds()
		l, err := libraries[n].Predict(nccl.Ask{Kind: spec.Kind, Size: c.key.Size})
		var not nccl.Unsupported
		if err != nil && !errors.As(err, &not) {
			return err
		}
		c.library = l.Time.Microseconds() // 0 where NCCL has no such collective
		if c.probe, err = simulated(c, probe); err != nil {
			return err
		}
	}
	return f.fit(cases, probe)
}

func simulated(c *compared, p *cost.Profile) (float64, error) {
	t, _, err := kernels.Predict(c.topo, c.schedule, c.best.Variant.How, kernels.Floats(c.key.Size), p)
	return t.Microseconds(), err
}

// fit makes a profile on all cases, and two on every other size for those between.
func (f *tablesFlags) fit(cases []*compared, probe *cost.Profile) error {
	half := alternatingHalves(cases)
	halves := [2][]fit.Case{}
	for _, c := range cases {
		x, err := kernels.Case(c.topo, c.schedule, c.best.Variant.How, c.key.Size, units.Time(c.best.US*float64(units.Microsecond)), probe)
		if err != nil {
			return err
		}
		i := half[c.key.Size]
		halves[i] = append(halves[i], x)
	}
	profile := func(rows []fit.Case) (*cost.Profile, error) {
		r, err := fit.Messages("fitted", "cuda-sweep", f.Date, rows, probe)
		if err != nil {
			return nil, err
		}
		return r.Profile, nil
	}
	whole, err := profile(slices.Concat(halves[0], halves[1]))
	if err != nil {
		return err
	}
	var other [2]*cost.Profile
	for i := range other {
		if other[i], err = profile(halves[1-i]); err != nil {
			return err
		}
	}
	for _, c := range cases {
		if c.fitted, err = simulated(c, whole); err != nil {
			return err
		}
		if c.cross, err = simulated(c, other[half[c.key.Size]]); err != nil {
			return err
		}
	}
	return nil
}

// alternatingHalves are the sizes of cases, by turns in one half and the other.
func alternatingHalves(cases []*compared) map[units.Bytes]int {
	half := map[units.Bytes]int{}
	for _, c := range cases {
		half[c.key.Size] = 0
	}
	for i, size := range slices.Sorted(maps.Keys(half)) {
		half[size] = i % 2
	}
	return half
}

// sizeParity tells the sizes that tables of pairs show.
func sizeParity(size units.Bytes) int { return int(math.Round(math.Log2(float64(size)))) % 2 }

// fastestOther is the fastest of all that was measured beside ours.
func (c *compared) fastestOther() float64 {
	best := c.nccl
	for _, us := range []float64{c.windows, c.peer.us} {
		if us > 0 {
			best = min(best, us)
		}
	}
	return best
}

// meanMiss is the mean absolute error of predictions over cases.
func meanMiss(cases []*compared, predicted func(*compared) float64) float64 {
	var errors []float64
	for _, c := range cases {
		errors = append(errors, c.miss(predicted(c)))
	}
	return measurement.MAPE(errors)
}
