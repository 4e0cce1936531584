package network

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"railyard/exec/cluster"
	"railyard/exec/host"
	"railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
)

// csvFile gets what TestLeafSpine measures, with more sizes: docs/measured/hosts/leaf-spine.csv.
var csvFile = flag.String("csv", "", "measure at length and write the rows to this file")

// node is the environment variable that makes the test binary a process of the run: its number, scene, largest size.
const node = "RAILYARD_LEAF_SPINE"

func TestMain(m *testing.M) {
	flag.Parse()
	if as := os.Getenv(node); as != "" {
		if err := runNode(as); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// prefix begins the names of namespaces and links, of this run alone.
var prefix = fmt.Sprintf("ry%d", os.Getpid())

// scene is an emulated network and what is run on it. Ranks of the first half of the namespaces share a leaf.
type scene struct {
	namespaces []int // by process
	stride     int   // of processes that share a leaf: 1, or as many as there are leaves
	ranks      int   // of each process
	slow       bool  // the last node's link has a quarter of its rate
	jobs       bool  // two jobs share the uplinks
}

var scenes = map[string]scene{
	"near":      {namespaces: []int{0, 1, 2, 3}, stride: 1, ranks: 1},
	"spread":    {namespaces: []int{0, 2, 1, 3}, stride: 2, ranks: 1},
	"two ranks": {namespaces: []int{0, 1, 2, 3}, stride: 1, ranks: 2},
	"slow":      {namespaces: []int{0, 1, 2, 3, 4, 5}, stride: 1, ranks: 1, slow: true},
	"two jobs":  {namespaces: []int{0, 1, 2, 3}, stride: 1, ranks: 1, jobs: true},
}

// emulated is the network of testdata/leafspine.sh with 2 Gbit/s a node and 1 Gbit/s an uplink.
func emulated(name string) (*topology.Topology, error) {
	x := scenes[name]
	text := fmt.Sprintf(`schema: railyard.topology/v1
name: emulated
description: "hosts on two leaves, one uplink a leaf"
source: "testdata/leafspine.sh"
date: 2026-11-23
classes:
  node: {medium: network, rate: 2Gb/s, latency: 0ns, date: 2026-11-23,
    source: "tbf of testdata/leafspine.sh; latency in the measured messages"}
  up: {medium: network, rate: 1Gb/s, latency: 0ns, date: 2026-11-23,
    source: "tbf of testdata/leafspine.sh; latency in the measured messages"}
  core: {medium: membus, rate: 1000GB/s, latency: 0ns, date: 2026-11-23,
    source: "assumption: more than threads copy; what they reach is measured"}
templates:
  host:
    devices: [{id: "cpu[0-%d]", kind: thread}, {id: bus, kind: memory}, {id: nic, kind: nic}]
    links: [{from: "cpu[0-%[1]d]", to: bus, class: core}, {from: bus, to: nic, class: core}]
nodes:
  - {template: host, count: %d}
fabrics:
  - name: eth
    endpoints: nic
    class: node
    levels:
      - {kind: leaf, group: %d, stride: %d, uplinks: 1, uplink: up}
      - {kind: spine}
`, x.ranks-1, len(x.namespaces), len(x.namespaces)/2, x.stride)
	return topology.Load(func(string) (string, []byte, error) { return "emulated.yaml", []byte(text), nil }, "emulated", topology.Options{})
}

// planned is a plan with the name that it was asked for by.
type planned struct {
	*schedule.Schedule
	algo string
}

// cases are the plans that are run.
func cases(t *topology.Topology, slices int) (list []planned, err error) {
	for _, c := range []struct {
		kind  collective.Kind
		algos []string
	}{
		{collective.AllReduce, []string{"ring", "direct"}},
		{collective.AllGather, []string{"ring", "direct"}},
		{collective.ReduceScatter, []string{"ring", "direct"}},
		{collective.Broadcast, []string{"ring"}},
		{collective.AllToAll, []string{"direct"}},
	} {
		for _, algo := range c.algos {
			s, err := planner.Build(t, collective.Spec{Kind: c.kind, Ranks: t.NumRanks()}, algo, planner.Options{Slices: slices})
			if err != nil {
				return nil, err
			}
			list = append(list, planned{s, algo})
		}
	}
	return list, nil
}

// member is a process of the run.
type member struct {
	scene
	name    string
	process int
	largest units.Bytes
	topo    *topology.Topology
	out     *csv.Writer // nil but for process 0
}

// runNode is a process of the run; the first prints the rows.
func runNode(as string) error {
	m := &member{}
	if _, err := fmt.Sscanf(as, "%d %q %d", &m.process, &m.name, &m.largest); err != nil {
		return err
	}
	m.scene = scenes[m.name]
	var err error
	if m.topo, err = emulated(m.name); err != nil {
		return err
	}
	if m.process == 0 {
		m.out = csv.NewWriter(os.Stdout)
	}
	if err := m.run(context.Background()); err != nil || m.out == nil {
		return err
	}
	m.out.Flush()
	return m.out.Error()
}

func (m *member) run(ctx context.Context) error {
	p, _, leave, err := m.meet(ctx, m.process, len(m.namespaces), m.address(0)+":7411")
	if err != nil {
		return err
	}
	defer leave()
	rows, err := p.Network(ctx, m.largest)
	if err != nil {
		return err
	}
	c, err := Of(rows, m.topo)
	if err != nil {
		return err
	}
	if m.process == 0 {
		fmt.Fprintf(os.Stderr, "%s: %s; %+v; %v; %+v\n", m.name, c.Profile.Error, c.Ratios, c.Suspects, c.Profile.Curves)
	}
	for _, x := range c.Ratios {
		m.row("messages", fmt.Sprintf("all at once, %d on", x.Distance), x.Bytes, x.Predicted, x.Measured)
	}
	switch {
	case m.jobs:
		return m.twoJobs(ctx, c)
	case m.slow:
		if err := m.namesTheSlow(c); err != nil {
			return err
		}
	}
	return m.plans(ctx, p, c)
}

// address is a process's node.
func (m *member) address(process int) string { return fmt.Sprintf("10.8.0.1%d", m.namespaces[process]) }

// meet joins some of the processes, of which this is a number.
func (m *member) meet(ctx context.Context, process, size int, root string) (*host.Processes, *cluster.Group, func(), error) {
	secret := sha256.Sum256([]byte("of a test"))
	group, err := cluster.Join(ctx, cluster.World{Rank: process, Size: size, Root: root}, cluster.Hello{Version: "test"},
		cluster.Options{Secret: secret[:], Dead: time.Minute}) // others may hold all processors for a while
	if err != nil {
		return nil, nil, nil, err
	}
	p, err := host.Meet(ctx, group, host.Place{Process: process, Size: size, Ranks: m.ranks, Local: len(m.namespaces),
		Host: m.address(m.process)})
	if err != nil {
		group.Close()
		return nil, nil, nil, err
	}
	return p, group, func() { p.Close(); group.Close() }, nil
}

// namesTheSlow checks that the last node is named first, and takes its rate off the topology.
func (m *member) namesTheSlow(c *Calibration) error {
	last := len(m.namespaces) - 1
	if len(c.Suspects) == 0 || c.Suspects[0].What != fmt.Sprintf("node %d", last) {
		return fmt.Errorf("slow are %v, want node %d first", c.Suspects, last)
	}
	var err error
	m.topo, err = slowed(m.topo, last)
	return err
}

// slowed is a network where a node's link has a quarter of its rate.
func slowed(t *topology.Topology, node int) (*topology.Topology, error) {
	fault, err := topology.ParseFault(fmt.Sprintf("nic:node%d/nic=0.25", node))
	if err != nil {
		return nil, err
	}
	return t.Degrade([]topology.Fault{fault})
}

// timing is a plan at a size.
type timing struct {
	planned
	size            units.Bytes
	predicted, took units.Time
}

// rounds of measurements lie apart.
const rounds = 3

// plans runs collectives of all processes. The fastest round counts: what others make of the machine for some seconds is not the
// network's.
func (m *member) plans(ctx context.Context, p *host.Processes, c *Calibration) error {
	list, err := cases(m.topo, 4)
	if err != nil {
		return err
	}
	var all []timing
	for _, x := range list {
		for size := 4 * units.MiB; size <= m.largest; size *= 2 {
			predicted, err := sim.Run(m.topo, x.Schedule, size, c.Profile, sim.Options{})
			if err != nil {
				return err
			}
			all = append(all, timing{x, size, predicted.Time, units.MaxTime})
		}
	}
	for range rounds {
		for i := range all {
			x := &all[i]
			took, err := timed(ctx, p, x.Schedule, x.size, 3)
			if err != nil {
				return err
			}
			x.took = min(x.took, took)
		}
	}
	for _, x := range all {
		m.row(x.Spec.Kind.String(), x.algo, x.size, x.predicted, x.took)
	}
	return nil
}

// twoJobs runs all-reduces of processes 0 and 2, alone and while 1 and 3 do so too, over the same uplinks: what either takes in the mean.
func (m *member) twoJobs(ctx context.Context, c *Calibration) error {
	first, second := []int{0, 2}, []int{1, 3}
	_, whole, leave, err := m.meet(ctx, m.process, len(m.namespaces), m.address(0)+":7412")
	if err != nil {
		return err
	}
	defer leave()
	own, _, leaveOwn, err := m.meet(ctx, m.process/2, 2, m.address(m.process%2)+":7413")
	if err != nil {
		return err
	}
	defer leaveOwn()
	s, err := planner.Build(m.topo, collective.Spec{Kind: collective.AllReduce, Ranks: 2}, "ring", planner.Options{Slices: 4})
	if err != nil {
		return err
	}
	jobs := []sim.Job{{Schedule: s, Ranks: first}, {Schedule: s, Ranks: second}}
	for i, algo := range []string{"alone", "beside another"} {
		plan, err := sim.CompileJobs(m.topo, jobs[:1+i], c.Profile, sim.CompileOptions{})
		if err != nil {
			return err
		}
		predicted, err := plan.RunJobs(slices.Repeat([]units.Bytes{m.largest}, 1+i), sim.Options{})
		if err != nil {
			return err
		}
		var all []float64 // µs, by round: the middle counts, since the other job may be late in one
		for range rounds {
			if err := whole.Barrier(ctx); err != nil {
				return err
			}
			var took units.Time
			if m.process%2 <= i {
				if took, err = timed(ctx, own, s, m.largest, 15); err != nil {
					return err
				}
			}
			// TCP shares a link fairly in the long run alone: one job's gain is the other's loss, and the mean of both what is predicted.
			told, err := cluster.Tell(ctx, whole.Exchange, took.Microseconds())
			if err != nil {
				return err
			}
			sum := 0.
			for _, us := range told {
				sum += us / float64(2+2*i)
			}
			all = append(all, sum)
		}
		m.row("all_reduce of two", algo, m.largest, predicted.Ends[0],
			units.Time(math.Round(measurement.Median(all)*float64(units.Microsecond))))
	}
	return whole.Barrier(ctx)
}

// timed runs a schedule; no element may be wrong.
func timed(ctx context.Context, p *host.Processes, s *schedule.Schedule, size units.Bytes, iterations int) (units.Time, error) {
	got, err := host.Run(ctx, s, host.Config{Count: int64(size) / 4, Checks: 1, Warmup: 1, Iterations: iterations, Over: p})
	if err != nil {
		return 0, err
	}
	if got.Wrong > 0 {
		return 0, fmt.Errorf("%s of %v: %d wrong elements", s.Algorithm, size, got.Wrong)
	}
	return units.Time(measurement.Summarise(got.Times).Median.Nanoseconds()) * units.Nanosecond, nil
}

func (m *member) row(kind, algo string, size units.Bytes, predicted, measured units.Time) {
	if m.out == nil {
		return
	}
	m.out.Write([]string{m.name, kind, algo, strconv.FormatInt(int64(size), 10), fmt.Sprintf("%.0f", predicted.Microseconds()),
		fmt.Sprintf("%.0f", measured.Microseconds()), fmt.Sprintf("%+.3f", float64(predicted)/float64(measured)-1)})
}

// TestLeafSpine runs plans over namespaces joined by shaped links, each predicted beforehand by what was measured of the
// network without a collective: with leaves full and spread over, several ranks a process, a slow link, which is named, and a second job
// on the same uplinks; one of these without -long. Every element must be right; how near predictions come is said, since this
// machine may be busy.
func TestLeafSpine(t *testing.T) {
	largest := 4 * units.MiB
	if *csvFile != "" {
		largest = 16 * units.MiB
	}
	var rows [][]string
	names := slices.Sorted(maps.Keys(scenes))
	if *csvFile == "" {
		names = names[:long.Or(1, len(names))]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			connectNodes(t, scenes[name])
			text := runNodes(t, name, largest)
			list, err := csv.NewReader(strings.NewReader(text)).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			report(t, list)
			rows = append(rows, list...)
		})
	}
	if *csvFile == "" || t.Failed() {
		return
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Write([]string{"scene", "collective", "algorithm", "bytes", "predicted_us", "measured_us", "error"})
	w.WriteAll(rows)
	if err := os.WriteFile(*csvFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// connectNodes makes the namespaces and links.
func connectNodes(t *testing.T, x scene) {
	t.Helper()
	script, err := filepath.Abs("testdata/leafspine.sh")
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	t.Cleanup(func() { _ = exec.Command(script, "down", prefix).Run() })
	commands := [][]string{{"up", prefix, "2gbit", "1gbit", strconv.Itoa(len(x.namespaces))}}
	if x.slow {
		commands = append(commands, []string{"slow", prefix, strconv.Itoa(len(x.namespaces) - 1), "500mbit"})
	}
	for _, args := range commands {
		if out, err := exec.Command(script, args...).CombinedOutput(); err != nil {
			t.Skipf("no namespaces with shaped links here: %v: %s", err, bytes.TrimSpace(out))
		}
	}
}

// runNodes runs a process in each namespace and returns what the first printed.
func runNodes(t *testing.T, name string, largest units.Bytes) string {
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	at := scenes[name].namespaces
	var stdout bytes.Buffer
	errs := make([]error, len(at))
	said := make([]bytes.Buffer, len(at))
	var wg sync.WaitGroup
	for process, n := range at {
		cmd := exec.CommandContext(ctx, "ip", "netns", "exec", fmt.Sprintf("%snode%d", prefix, n), os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %q %d", node, process, name, int64(largest)))
		cmd.Stderr = &said[process]
		if process == 0 {
			cmd.Stdout = &stdout
		}
		wg.Go(func() { errs[process] = cmd.Run() })
	}
	wg.Wait()
	for process, err := range errs {
		if err != nil {
			t.Errorf("process %d: %v: %s", process, err, said[process].String())
		}
	}
	t.Log(said[0].String())
	if t.Failed() {
		t.FailNow()
	}
	return stdout.String()
}

// report checks that all was predicted and measured, and says it.
func report(t *testing.T, rows [][]string) {
	sum, n := 0., 0
	for _, r := range rows {
		predicted, err := strconv.ParseFloat(r[4], 64)
		if err != nil || predicted <= 0 {
			t.Errorf("%v: %v", r, err)
		}
		miss, err := strconv.ParseFloat(r[6], 64)
		if err != nil {
			t.Fatal(err)
		}
		if r[1] != "messages" {
			sum, n = sum+math.Abs(miss), n+1
		}
		t.Log(strings.Join(r, " "))
	}
	if n < 2 {
		t.Fatalf("%d rows", n)
	}
	t.Logf("mean error of %d predictions: %.1f %%", n, 100*sum/float64(n))
}
