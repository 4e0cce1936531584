package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/report/fit"
	"railyard/topologies"
)

// tablesFlags say what cuda-sweep measured, and with what it is compared.
type tablesFlags struct {
	topology, profile, goals    string
	peers                       []string
	choices, figures, out, date string
	gpu                         string
	gpus                        []int
}

// newCudaTables makes docs/execution.md's tables and figures, and the choice of methods,
// from what cuda-sweep --nccl measured.
func newCudaTables() *cobra.Command {
	var f tablesFlags
	cmd := &cobra.Command{Use: "cuda-tables FILE.csv...", Hidden: true, Args: cobra.MinimumNArgs(1), RunE: func(cmd *cobra.Command, files []string) error { return f.run(cmd.OutOrStdout(), files) }}
	fl := cmd.Flags()
	fl.StringVarP(&f.topology, "topology", "t", "hgx-h200-4", "topology")
	fl.StringVar(&f.profile, "profile", "", "profile of probe")
	fl.StringVar(&f.goals, "goals", "", "CSV of goals for float32 all_reduce: gpus,size_bytes,goal_us")
	fl.StringArrayVar(&f.peers, "peers", nil, "CSV of other libraries, as exec/peers writes it; may be repeated")
	fl.StringVar(&f.choices, "methods", "", "profile that is told what was fastest: of a case that the first file has, there, else in the others")
	fl.StringVar(&f.gpu, "gpu", "", "the GPUs' name, with --methods")
	fl.IntSliceVar(&f.gpus, "gpus", nil, "these numbers of GPUs alone in tables and figures")
	fl.StringVar(&f.figures, "figures", "", "write figures into this folder")
	fl.StringVarP(&f.out, "output", "o", "", "write the fastest of each case with predictions here, as CSV")
	fl.StringVar(&f.date, "date", "", "when it was measured")
	must(cmd.MarkFlagRequired("profile"))
	must(cmd.MarkFlagRequired("date"))
	return cmd
}

// compared is a case of ours beside NCCL's in one run.
type compared struct {
	key                  sweptKey
	best                 swept
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
func (c *compared) miss(predicted float64) float64 { return (predicted - c.best.us) / c.best.us }

func (f *tablesFlags) run(out io.Writer, files []string) error {
	all, err := readSwept(files[0])
	if err != nil {
		return err
	}
	cases := besides(all)
	if len(f.gpus) > 0 {
		cases = slices.DeleteFunc(cases, func(c *compared) bool { return !slices.Contains(f.gpus, c.key.gpus) })
	}
	if len(cases) == 0 {
		return fmt.Errorf("%s: no case has rows of ours and of NCCL", files[0])
	}
	if err := f.predict(cases); err != nil {
		return err
	}
	if f.goals != "" {
		if err := readGoals(f.goals, cases); err != nil {
			return err
		}
	}
	left := peersLeft{}
	for _, name := range f.peers {
		if err := readPeers(name, cases, left); err != nil {
			return err
		}
	}
	writeTables(out, cases)
	writePeers(out, cases, left)
	if f.out != "" {
		if err := writeFile(f.out, func(w io.Writer) error { return writeCompared(w, cases) }); err != nil {
			return err
		}
	}
	if f.choices != "" {
		var others []swept
		for _, name := range files[1:] {
			more, err := readSwept(name)
			if err != nil {
				return err
			}
			others = append(others, more...)
		}
		if err := f.tell(all, others); err != nil {
			return err
		}
	}
	if f.figures == "" {
		return nil
	}
	return f.draw(cases)
}

// tell writes what was fastest into a profile.
func (f *tablesFlags) tell(first, others []swept) error {
	if f.gpu == "" {
		return usagef("--methods needs --gpu, the name of the GPUs they are of")
	}
	p, err := cost.Get(f.choices)
	if err != nil {
		return err
	}
	known := map[sweptKey]bool{}
	for _, s := range first {
		known[s.key] = true
	}
	others = slices.DeleteFunc(others, func(s swept) bool { return known[s.key] })
	out := *p
	out.GPU, out.Methods = f.gpu, fastestMethods(slices.Concat(first, others))
	return saveProfile(f.choices, &out)
}

// besides are the fastest rows of ours with NCCL's, in order.
func besides(all []swept) (out []*compared) {
	at := map[sweptKey]*compared{}
	for _, s := range all {
		c := at[s.key]
		if c == nil {
			c = &compared{key: s.key}
			at[s.key] = c
			out = append(out, c)
		}
		switch {
		case s.v.algo == ncclAlgo && s.v.windows:
			c.windows, c.stream.windows = s.us, s.stream
		case s.v.algo == ncclAlgo:
			c.nccl, c.stream.nccl = s.us, s.stream
		default:
			if c.best.us == 0 || s.us < c.best.us {
				c.best = s
			}
			if s.stream > 0 && (c.stream.ours == 0 || s.stream < c.stream.ours) {
				c.stream.ours = s.stream
			}
		}
	}
	out = slices.DeleteFunc(out, func(c *compared) bool { return c.best.us == 0 || c.nccl == 0 })
	slices.SortFunc(out, func(a, b *compared) int { return a.key.compare(b.key) })
	return out
}

// predict simulates what ran, under the probe's profile and under fitted ones.
func (f *tablesFlags) predict(cases []*compared) error {
	probe, err := cost.Get(f.profile)
	if err != nil {
		return err
	}
	type made struct {
		gpus   int
		kind   collective.Kind
		algo   string
		slices int
		proto  schedule.Protocol
	}
	topos, plans := map[int]*topology.Topology{}, map[made]*schedule.Schedule{}
	besides := map[int]*beside{}
	for _, c := range cases {
		n := c.key.gpus
		if topos[n] == nil {
			if topos[n], err = topology.Load(topologies.Source, f.topology, topology.Options{GPUs: n}); err != nil {
				return err
			}
			standard, err := cost.Default(topos[n])
			if err != nil {
				return err
			}
			if besides[n], err = newBeside(&topoFlags{name: f.topology}, topos[n], standard); err != nil {
				return err
			}
		}
		c.topo = topos[n]
		spec := collective.Spec{Kind: c.key.kind, Ranks: n}
		k := made{n, spec.Kind, c.best.v.algo, c.best.v.slices, protocolOf(c.best.v.how)}
		if plans[k] == nil {
			if plans[k], err = planner.Build(c.topo, spec, k.algo, planner.Options{Slices: k.slices, Protocol: k.proto}); err != nil {
				return err
			}
		}
		c.schedule = plans[k]
		c.bound = collective.LowerBound(c.topo, spec, c.key.size).Time.Microseconds()
		if l := besides[n].row(spec, c.key.size); l.TimeUS != nil {
			c.library = *l.TimeUS
		}
		if c.probe, err = simulated(c, probe); err != nil {
			return err
		}
	}
	return f.fit(cases, probe)
}

func simulated(c *compared, p *cost.Profile) (float64, error) {
	t, err := predictRun(c.topo, c.schedule, c.best.v.how, c.key.size, p)
	return t.Microseconds(), err
}

// fit makes a profile on all cases, and two on every other size for those between.
func (f *tablesFlags) fit(cases []*compared, probe *cost.Profile) error {
	half := dealt(cases)
	halves := [2][]fit.Case{}
	for _, c := range cases {
		x, err := runCase(c.topo, c.schedule, c.best.v.how, c.key.size, units.Time(c.best.us*float64(units.Microsecond)), probe)
		if err != nil {
			return err
		}
		i := half[c.key.size]
		halves[i] = append(halves[i], x)
	}
	profile := func(rows []fit.Case) (*cost.Profile, error) {
		r, err := fit.Messages("fitted", "cuda-sweep", f.date, rows, probe)
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
		if c.cross, err = simulated(c, other[half[c.key.size]]); err != nil {
			return err
		}
	}
	return nil
}

// dealt are the sizes of cases, by turns in one half and the other.
func dealt(cases []*compared) map[units.Bytes]int {
	half := map[units.Bytes]int{}
	for _, c := range cases {
		half[c.key.size] = 0
	}
	for i, size := range slices.Sorted(maps.Keys(half)) {
		half[size] = i % 2
	}
	return half
}

// sizeParity tells the sizes that tables of pairs show.
func sizeParity(size units.Bytes) int { return int(math.Round(math.Log2(float64(size)))) % 2 }

// rival is the fastest of all that was measured beside ours.
func (c *compared) rival() float64 {
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
