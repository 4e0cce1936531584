package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report/table"
)

// Point is one size of a series.
type Point struct {
	Size        units.Bytes
	MeasuredUS  float64
	PredictedUS float64
	OwnUS       float64 // NCCL's own model, 0 where it says nothing
	NCCLUS      float64 // NCCL beside it, measured; 0 where it was not
	BusBW       float64 // measured, in GB/s; 0 where the number of ranks is not known
}

// busBWAt is what the bus bandwidth would be at another time than the measured one; 0 where there is none.
func (p Point) busBWAt(us float64) float64 {
	if us == 0 {
		return 0
	}
	return p.BusBW * p.MeasuredUS / us
}

// err is (predicted − measured)/measured in percent.
func (p Point) err() float64 { return 100 * (p.PredictedUS - p.MeasuredUS) / p.MeasuredUS }

// Series is a case over sizes.
type Series struct {
	Name   string
	Points []Point // sorted by size, each with a size and both times
}

// Figure is predictions (lines) beside measurements (points) over size: time above, bus bandwidth where it is known, and errors.
type Figure struct {
	Title    string
	Source   string // what, where, when: printed below
	Series   []Series
	NoBusBW  bool // it is not known, or not shown
	NoTime   bool
	NoErrors bool
}

// maxSeries is how many cases a figure shows: more colours cannot be told apart.
const maxSeries = 6

// add appends a point to a series, leaving out what a logarithmic axis cannot show.
func (s *Series) add(p Point) {
	if p.Size > 0 && p.MeasuredUS > 0 && p.PredictedUS > 0 {
		s.Points = append(s.Points, p)
	}
}

// Figure is the comparison over size: time, bus bandwidth where the number of GPUs is
// known, and error. A case (collective, algorithm, protocol, launch, type, GPUs, nodes,
// system and series) is one colour; it is an error if there are more than can be told
// apart.
func (c *Comparison) Figure(topology, profile string) (*Figure, error) {
	f := &Figure{}
	groups := c.groups(keyOf)
	if len(groups) > maxSeries {
		return nil, fmt.Errorf("a figure shows at most %d cases, but there are %d, such as %q and %q: narrow the rows with --only",
			maxSeries, len(groups), groups[0].key, groups[1].key)
	}
	common, names := caseNames(groups)
	files := map[string]bool{}
	for i, g := range groups {
		s := Series{Name: names[i]}
		for _, r := range g.rows {
			files[filepath.Base(r.File)] = true
			s.add(comparedPoint(r))
		}
		slices.SortStableFunc(s.Points, func(a, b Point) int { return cmp.Compare(a.Size, b.Size) })
		if len(s.Points) > 0 {
			f.Series = append(f.Series, s)
		}
		if slices.ContainsFunc(s.Points, func(p Point) bool { return p.BusBW == 0 }) {
			f.NoBusBW = true
		}
	}
	f.Title = fmt.Sprintf("%s on %s", common, topology)
	f.Source = fmt.Sprintf("measured: %s; predicted: profile %s", strings.Join(sortedKeys(files), ", "), profile)
	return f, nil
}

func comparedPoint(r ComparedRow) Point {
	m := r.Measured
	p := Point{Size: m.Size, MeasuredUS: m.Time.Microseconds(), PredictedUS: r.Predicted.Time.Microseconds(),
		OwnUS: r.Predicted.Own.Microseconds()}
	if m.GPUs > 1 {
		p.BusBW = float64(m.Size) / m.Time.Seconds() / 1e9 * m.Collective.BusFactor(m.GPUs)
	}
	return p
}

// String says what was measured, whatever the size.
func (k caseKey) String() string { return strings.Join(slices.DeleteFunc(k.words(), isEmpty), " ") }

func isEmpty(s string) bool { return s == "" }

// words are the parts of a name, always as many.
func (k caseKey) words() []string {
	count := func(n int, what string) string {
		switch n {
		case 0:
			return ""
		case 1:
			return "1 " + what
		}
		return fmt.Sprintf("%d %ss", n, what)
	}
	return []string{k.kind.String(), k.algo, k.proto, k.launch, k.dtype, count(k.gpus, "GPU"), count(k.nodes, "node"), k.system, k.id}
}

// caseNames splits names into what all have in common and the rest.
func caseNames(groups []group) (common string, names []string) {
	if len(groups) == 0 {
		return "", nil
	}
	shared := groups[0].key.words()
	for _, g := range groups[1:] {
		for i, w := range g.key.words() {
			if w != shared[i] {
				shared[i] = ""
			}
		}
	}
	for _, g := range groups {
		var own []string
		for i, w := range g.key.words() {
			if shared[i] == "" && w != "" {
				own = append(own, w)
			}
		}
		names = append(names, strings.Join(own, " "))
	}
	return strings.Join(slices.DeleteFunc(shared, isEmpty), " "), names
}

// Figures are time and bus bandwidth of a run, predicted and measured (the median),
// each with the error below, and NCCL's where it was measured beside. Runs of several collectives get a colour each.
func (d *RunDocument) Figures() map[string]*Figure {
	source := fmt.Sprintf("measured: backend %s, median; predicted: profile %s; %s", d.Backend, d.Profile, d.Tool)
	time, busbw := &Figure{Source: source, NoBusBW: true}, &Figure{Source: source, NoTime: true}
	index := map[string]int{}
	for _, r := range d.Rows {
		at, ok := index[r.Collective]
		if !ok {
			at = len(time.Series)
			index[r.Collective] = at
			time.Series = append(time.Series, Series{Name: r.Collective})
		}
		p := Point{Size: units.Bytes(r.SizeBytes), MeasuredUS: r.MeasuredUS.Median, PredictedUS: r.PredictedUS, BusBW: r.BusBW}
		if r.Library.MeasuredUS != nil {
			p.NCCLUS = *r.Library.MeasuredUS
		}
		time.Series[at].add(p)
	}
	busbw.Series = time.Series
	what := ""
	if len(time.Series) == 1 {
		what = time.Series[0].Name + " "
	}
	time.Title = fmt.Sprintf("%son %s", what, d.Topology)
	busbw.Title = time.Title
	return map[string]*Figure{"time": time, "busbw": busbw}
}

// summaryOf is the errors of a figure's series, for its legend.
func summaryOf(s Series) string {
	errors := make([]float64, len(s.Points))
	for i, p := range s.Points {
		errors[i] = p.err() / 100
	}
	return "MAPE " + table.Percent(measurement.MAPE(errors))
}
