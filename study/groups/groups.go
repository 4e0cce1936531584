// Package groups finds the faulty node, adapter or leaf of a cluster from collectives that groups of its nodes have run: each is held
// against what is expected of that very group, and model/grouptest says what is faulty and what to run next.
package groups

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"railyard/model/cost"
	"railyard/model/grouptest"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report"
	"railyard/study"
	"railyard/study/gate"
)

// size is what groups run where nothing was run yet: large enough for rates to decide.
const size = 4 * units.GiB

// Asked is what is known of a cluster.
type Asked struct {
	study.Asked                    // without sizes
	Rows        []measurement.Row  // of runs over groups of nodes, with their hosts
	Messages    []measurement.Link // between processes on all nodes, as `railyard probe` measures them
	Repeats     float64            // by which share repeats of a test differ, as a standard deviation
	Failed      []string           // what runs that failed said
}

// diagnosis is a cluster's.
type diagnosis struct {
	Asked
	cluster grouptest.Cluster
	nodes   map[string]int // by host
	hosts   []string       // by node
	times   map[string]units.Time
	noise   grouptest.Noise
	doc     *report.GroupsDocument
}

// Find says what is faulty, how surely, and what to run next.
func Find(a Asked) (*report.GroupsDocument, error) {
	d := &diagnosis{Asked: a, times: map[string]units.Time{}, doc: &report.GroupsDocument{Schema: "railyard.groups/v1",
		Topology: a.Topology.Name(), Nodes: a.Topology.NumNodes(), GPUs: a.Topology.NumRanks() / a.Topology.NumNodes(),
		Collective: a.Collective.Kind.String(), Rows: []report.GroupRow{}, Islands: []report.GroupIsland{},
		Suspects: []report.GroupSuspect{}, Next: []report.GroupTest{}, Notes: append([]string{}, a.Failed...)}}
	d.Sizes = []units.Bytes{d.largest()}
	d.doc.SizeBytes = int64(d.Sizes[0])
	if err := d.name(); err != nil {
		return nil, err
	}
	d.divide()
	if err := d.listen(); err != nil {
		return nil, err
	}
	results, err := d.results()
	if err != nil {
		return nil, err
	}
	messages, err := d.messages()
	if err != nil {
		return nil, err
	}
	p := grouptest.Of(d.cluster, d.noise, append(messages, results...))
	d.doc.Healthy = p.Healthy()
	within := d.islands()
	if len(d.doc.Islands) == 0 {
		d.suspects(p, len(results))
		within = d.untouched(p, results)
	}
	d.doc.Longer = median(within)
	slices.SortStableFunc(d.doc.Rows, func(a, b report.GroupRow) int { return cmp.Compare(b.Longer, a.Longer) })
	return d.doc, nil
}

// suspects are the parts that may be faulty and, after so many tests, the one to run next.
func (d *diagnosis) suspects(p *grouptest.Posterior, tests int) {
	shown := p.Suspects(grouptest.Sure)
	for _, f := range p.Suspects(suspected) { // of a node that is surely faulty, its parts
		if !slices.Contains(shown, f) {
			shown = append(shown, f)
		}
	}
	for _, f := range shown {
		d.doc.Suspects = append(d.doc.Suspects, d.suspect(f))
	}
	if t, ok := p.Next(); ok {
		d.doc.Next = append(d.doc.Next, d.test(t, p.Passes(t), tests+1))
	}
}

// untouched are the tests that nothing surely faulty has slowed.
func (d *diagnosis) untouched(p *grouptest.Posterior, results []grouptest.Result) (out []report.GroupRow) {
	named := p.Suspects(grouptest.Sure)
	for i, r := range results {
		if !slices.ContainsFunc(named, func(f grouptest.Fault) bool { return p.Touches(f.Part, r.Test) }) {
			out = append(out, d.doc.Rows[i])
		}
	}
	return out
}

// suspected is how likely a fault has to be to be shown at all.
const suspected = 0.2

// largest is the largest size that all runs have.
func (d *diagnosis) largest() units.Bytes {
	runs, have := map[string]bool{}, map[units.Bytes]map[string]bool{}
	for _, m := range d.Rows {
		run := m.ID
		runs[run] = true
		if have[m.Size] == nil {
			have[m.Size] = map[string]bool{}
		}
		have[m.Size][run] = true
	}
	best := units.Bytes(0)
	for s, of := range have {
		if len(of) == len(runs) {
			best = max(best, s)
		}
	}
	return cmp.Or(best, size)
}

// name finds the node of each host: the one that is called so, or all hosts in order of their names.
func (d *diagnosis) name() error {
	t := d.Topology
	d.nodes = map[string]int{}
	for n := range t.NumNodes() {
		d.nodes[t.NodeName(n)] = n
		d.hosts = append(d.hosts, t.NodeName(n))
	}
	var seen []string
	for _, m := range d.Rows {
		seen = append(seen, m.Hosts...)
	}
	slices.SortFunc(seen, natural)
	seen = slices.Compact(seen)
	if !slices.ContainsFunc(seen, func(h string) bool { _, ok := d.nodes[h]; return !ok }) {
		return nil
	}
	if len(seen) > t.NumNodes() {
		return fmt.Errorf("tests ran on %d hosts, %s has %d nodes", len(seen), t.Name(), t.NumNodes())
	}
	clear(d.nodes)
	for n, h := range seen {
		d.nodes[h], d.hosts[n] = n, h
	}
	d.doc.Notes = append(d.doc.Notes, fmt.Sprintf("hosts are taken for the topology's nodes in order of their names (%s is %s): name the "+
		"nodes as their hosts where that is wrong", seen[0], t.NodeName(0)))
	return nil
}

// natural compares names with the numbers in them as numbers.
func natural(a, b string) int {
	cut := func(s string) (text string, number int, rest string) {
		i := strings.IndexAny(s, "0123456789")
		if i < 0 {
			return s, -1, ""
		}
		j := i
		for j < len(s) && s[j] >= '0' && s[j] <= '9' && j < i+9 {
			number = 10*number + int(s[j]-'0')
			j++
		}
		return s[:i], number, s[j:]
	}
	for a != "" && b != "" {
		ta, na, ra := cut(a)
		tb, nb, rb := cut(b)
		if c := cmp.Or(cmp.Compare(ta, tb), cmp.Compare(na, nb)); c != 0 {
			return c
		}
		a, b = ra, rb
	}
	return cmp.Compare(len(a), len(b))
}

// divide says what may be faulty: nodes with their adapters, and the links of groups of the network's tiers.
func (d *diagnosis) divide() {
	t := d.Topology
	d.cluster.Nodes = t.NumNodes()
	for dev, x := range t.Devices() {
		if x.Kind == topology.NIC && t.Devices()[dev].Node == 0 {
			d.cluster.Adapters++
		}
	}
	for _, tier := range t.Tiers()[1:] {
		groups := make([]grouptest.Group, tier.Groups)
		for rank := range t.Ranks() {
			g, n := &groups[tier.Of[rank]], t.NodeOf(rank)
			g.Name = fmt.Sprintf("%s %d", tier.Name, tier.Of[rank])
			if len(g.Nodes) == 0 || g.Nodes[len(g.Nodes)-1] != n {
				g.Nodes = append(g.Nodes, n)
			}
		}
		d.cluster.Groups = append(d.cluster.Groups, groups...)
	}
}

// largestPair is the largest of the smallest groups that are tried.
const largestPair = 8

// listen finds by how much results differ that are healthy, and those that are not: by what is predicted of a group with a fault, the
// smallest that shows the faults of its adapters; NCCL sends little over them where there are two nodes, unless these use few of them.
func (d *diagnosis) listen() error {
	if d.Topology.NumNodes() < 2 {
		return fmt.Errorf("%s has one node: groups are of several; give --nodes, or the topology of the cluster", d.Topology.Name())
	}
	n := 2
	for ; n < min(largestPair, d.Topology.NumNodes()); n = min(2*n, d.Topology.NumNodes()) {
		if hides, err := d.hides(n, nil); err != nil {
			return err
		} else if !hides {
			break
		}
	}
	d.cluster.Smallest = n
	g, err := d.faults(n, nil, nil)
	if err != nil {
		return err
	}
	d.doc.Band = g.Rows[0].Band
	d.noise.Machine = math.Log(g.Rows[0].Band) / gate.Deviations(cost.Normal)
	d.updateMinSlowdown(g.Faults)
	return d.pairs()
}

// pairs finds over how many adapters two nodes show the fault of one, where they do not over all.
func (d *diagnosis) pairs() error {
	var adapters []int
	for k := d.cluster.Adapters / 2; k > 0 && d.cluster.Smallest > 2; k /= 2 {
		for adapters = adapters[:0]; len(adapters) < k; {
			adapters = append(adapters, len(adapters))
		}
		if hides, err := d.hides(2, adapters); err != nil {
			return err
		} else if !hides {
			d.cluster.Pairs = k
			return nil
		}
	}
	return nil
}

// hides reports whether tests of so many nodes do not show the fault of an adapter: that it is lost or, as the last one cannot be, slow.
func (d *diagnosis) hides(nodes int, adapters []int) (bool, error) {
	for _, kind := range []string{gate.NICLost, gate.HalfRate} {
		g, err := d.faults(nodes, adapters, []string{kind})
		if err != nil {
			return false, err
		}
		if len(g.Faults) > 0 {
			return !d.shows(g.Faults[0]), nil
		}
	}
	return false, nil
}

// faults are those of one part, of some kinds (nil: of all), in a group of so many nodes, over some adapters of each; nil: all.
func (d *diagnosis) faults(nodes int, adapters []int, kinds []string) (*report.GateDocument, error) {
	t := grouptest.Test{Adapters: adapters}
	for n := range nodes {
		t.Nodes = append(t.Nodes, n)
	}
	group, err := d.part(t)
	if err != nil {
		return nil, err
	}
	a := gate.Asked{Asked: d.Asked.Asked, FalseAlarms: 1 - grouptest.Sure, Kinds: kinds}
	a.Topology = group
	return gate.Of(a)
}

// shows reports whether a test or two show a fault.
func (d *diagnosis) shows(f report.GateFault) bool { return math.Log(f.Slower) > 2*d.Repeats }

// updateMinSlowdown takes the least that a fault slows a test, of those that show.
func (d *diagnosis) updateMinSlowdown(faults []report.GateFault) {
	d.noise.Repeats, d.noise.MaxSlowdown = d.Repeats, math.Log(4)
	for _, f := range faults {
		slows := math.Log(f.Slower)
		switch {
		case !d.shows(f) && f.Kind != gate.Misplaced:
			d.doc.Notes = append(d.doc.Notes, fmt.Sprintf("%s slows a group by %.1f %% only: tests that differ by %.0f %% do not find "+
				"such a fault", f.Fault, 100*(f.Slower-1), 100*d.Repeats))
		case d.shows(f) && (d.noise.MinSlowdown == 0 || slows < d.noise.MinSlowdown):
			d.noise.MinSlowdown = slows
		}
	}
	d.noise.MinSlowdown = cmp.Or(d.noise.MinSlowdown, 2*d.Repeats)
}

// part is the topology of a group alone.
func (d *diagnosis) part(t grouptest.Test) (*topology.Topology, error) {
	return gate.Part(d.Topology, t.Nodes, t.Adapters)
}

// expected is what a group should take. Groups that lie alike take the same.
func (d *diagnosis) expected(t grouptest.Test) (units.Time, error) {
	key := fmt.Sprint(len(t.Nodes), t.Adapters)
	for _, g := range d.cluster.Groups {
		in := 0
		for _, n := range t.Nodes {
			if _, member := slices.BinarySearch(g.Nodes, n); member {
				in++
			}
		}
		key += fmt.Sprint(" ", in)
	}
	if x, ok := d.times[key]; ok {
		return x, nil
	}
	a := d.Asked.Asked
	var err error
	if a.Topology, err = d.part(t); err != nil {
		return 0, err
	}
	q, err := study.New(a)
	if err != nil {
		return 0, err
	}
	rows, err := q.Expect()
	if err != nil {
		return 0, err
	}
	d.times[key] = rows[0].Time
	return rows[0].Time, nil
}

// results are the runs of the size that all have.
func (d *diagnosis) results() (out []grouptest.Result, err error) {
	for _, m := range d.Rows {
		if m.Size != d.Sizes[0] || m.Collective != d.Collective.Kind || m.Time <= 0 || m.Unusable != "" {
			if m.Unusable != "" && m.Size == d.Sizes[0] {
				d.doc.Notes = append(d.doc.Notes, fmt.Sprintf("%s is left out: %s", m.ID, m.Unusable))
			}
			continue
		}
		t := grouptest.Test{Adapters: m.Adapters}
		for _, h := range m.Hosts {
			t.Nodes = append(t.Nodes, d.nodes[h])
		}
		slices.Sort(t.Nodes)
		should, err := d.expected(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.ID, err)
		}
		ratio := float64(m.Time) / float64(should)
		out = append(out, grouptest.Result{Test: t, Longer: math.Log(ratio)})
		d.doc.Rows = append(d.doc.Rows, report.GroupRow{File: m.ID, Nodes: len(t.Nodes), Hosts: d.list(t.Nodes),
			Adapters: units.Ranges(t.Adapters, ","), MeasuredUS: m.Time.Microseconds(), ExpectedUS: should.Microseconds(), Longer: ratio})
	}
	return out, nil
}

// islands finds nodes that fall apart: where tests of as many nodes are either fast or slow, with more between than repeats explain, and
// all slow ones are across the sets of nodes that fast ones join. The topology does not have what joins them, or they are its groups: then
// those are suspects. What it returns are the tests within islands; all, where there are none.
func (d *diagnosis) islands() []report.GroupRow {
	fast, slow := d.fastAndSlow()
	if len(slow) < 2 { // one alone may have been disturbed
		return d.doc.Rows
	}
	islands := joined(fast)
	// a host that no fast test joins to others may itself be faulty
	across := func(hosts []string) bool {
		return contains(slices.Concat(islands...), hosts) &&
			!slices.ContainsFunc(islands, func(island []string) bool { return contains(island, hosts) })
	}
	for _, r := range slow {
		if !across(r.Hosts) {
			return d.doc.Rows
		}
	}
	if others := slices.DeleteFunc(slices.Clone(islands), d.isGroup); len(others) < 2 {
		return d.doc.Rows
	}
	for _, hosts := range islands {
		d.doc.Islands = append(d.doc.Islands, report.GroupIsland{Nodes: len(hosts), Hosts: strings.Join(hosts, " ")})
	}
	d.doc.Across = median(slow) / median(fast)
	return fast
}

// isGroup reports whether hosts are the nodes of a group of the topology's.
func (d *diagnosis) isGroup(hosts []string) bool {
	var nodes []int
	for _, h := range hosts {
		nodes = append(nodes, d.nodes[h])
	}
	slices.Sort(nodes)
	return slices.ContainsFunc(d.cluster.Groups, func(g grouptest.Group) bool { return slices.Equal(g.Nodes, nodes) })
}

// fastAndSlow divides the tests over all adapters, of as many nodes as most of them have, where they lie furthest apart, with more between
// than repeats explain; no test is slow where they lie close.
func (d *diagnosis) fastAndSlow() (fast, slow []report.GroupRow) {
	most, tests := 0, map[int]int{} // by nodes
	for _, r := range d.doc.Rows {
		if tests[r.Nodes]++; r.Adapters == "" && (tests[r.Nodes] > tests[most] || tests[r.Nodes] == tests[most] && r.Nodes < most) {
			most = r.Nodes
		}
	}
	rows := slices.SortedStableFunc(slices.Values(d.doc.Rows), func(a, b report.GroupRow) int { return cmp.Compare(a.Longer, b.Longer) })
	rows = slices.DeleteFunc(rows, func(r report.GroupRow) bool { return r.Nodes != most || r.Adapters != "" })
	at, widest := len(rows), 4*d.Repeats // two repeats are further apart in one of 200 pairs
	for i := 1; i < len(rows); i++ {
		if gap := math.Log(rows[i].Longer / rows[i-1].Longer); gap > widest {
			at, widest = i, gap
		}
	}
	return rows[:at], rows[at:]
}

// joined are the sets of hosts that tests join, each in order of their names.
func joined(tests []report.GroupRow) (out [][]string) {
	for _, r := range tests {
		set := slices.Clone(r.Hosts)
		out = slices.DeleteFunc(out, func(other []string) bool {
			meet := slices.ContainsFunc(other, func(h string) bool { return slices.Contains(r.Hosts, h) })
			if meet {
				set = append(set, other...)
			}
			return meet
		})
		slices.SortFunc(set, natural)
		out = append(out, slices.Compact(set))
	}
	slices.SortFunc(out, func(a, b []string) int { return natural(a[0], b[0]) })
	return out
}

// contains reports whether all of some hosts are in a list.
func contains(list, hosts []string) bool {
	return !slices.ContainsFunc(hosts, func(h string) bool { return !slices.Contains(list, h) })
}

// median is how much longer than expected the median test took; 0 without tests.
func median(rows []report.GroupRow) float64 {
	if len(rows) == 0 {
		return 0
	}
	var all []float64
	for _, r := range rows {
		all = append(all, r.Longer)
	}
	return measurement.Median(all)
}

// list are the hosts of nodes.
func (d *diagnosis) list(nodes []int) (out []string) {
	for _, n := range nodes {
		out = append(out, d.hosts[n])
	}
	return out
}

// suspect is a fault in words.
func (d *diagnosis) suspect(f grouptest.Fault) report.GroupSuspect {
	s := report.GroupSuspect{Probability: f.Probability, Named: f.Probability >= grouptest.Sure}
	switch {
	case f.Group >= 0:
		s.Part = d.cluster.Groups[f.Group].Name
		s.Look = "its uplinks: how many are up, their speed, errors, other traffic"
	case f.Adapter == grouptest.Inside:
		s.Part, s.Host = "inside of node", d.hosts[f.Node]
		s.Look = "its GPUs and their links: railyard doctor there"
	case f.Adapter >= 0:
		s.Part, s.Host = fmt.Sprintf("adapter %d", f.Adapter), d.hosts[f.Node]
		s.Look = "its speed and width as negotiated, errors, its cable and the leaf's port"
	default:
		s.Part, s.Host = "node", d.hosts[f.Node]
		s.Look = "railyard doctor there; the next tests tell its adapters apart"
	}
	return s
}

// test is one to run.
func (d *diagnosis) test(t grouptest.Test, passes float64, number int) report.GroupTest {
	return report.GroupTest{Name: fmt.Sprintf("group-%d", number), Nodes: len(t.Nodes), Hosts: d.list(t.Nodes),
		Adapters: units.Ranges(t.Adapters, ","), Passes: passes}
}
