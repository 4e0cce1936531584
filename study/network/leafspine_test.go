package network

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"railyard/exec/cluster"
	"railyard/exec/host"
	_ "railyard/internal/long"
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/planner"
	"railyard/sim"
)

// csvFile gets what TestLeafSpine measures, with more sizes: docs/measured/leaf-spine.csv.
var csvFile = flag.String("csv", "", "measure at length and write the rows to this file")

// node is the environment variable that makes the test binary a node of the run: rank, placement, largest size.
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

// prefix begins the names of namespaces and links.
const prefix = "rynet"

// placements are which nodes share a leaf: ranks 0 and 1, or 0 and 2; namespaces are their nodes in the script's order.
var placements = map[string]struct {
	stride     int
	namespaces []int
}{"near": {1, []int{0, 1, 2, 3}}, "spread": {2, []int{0, 2, 1, 3}}}

// emulated is the network of testdata/leafspine.sh with 2 Gbit/s a node and 1 Gbit/s an uplink.
func emulated(placement string) (*topology.Topology, error) {
	text := fmt.Sprintf(`schema: railyard.topology/v1
name: emulated-%s
description: "four hosts, two to a leaf, one uplink a leaf"
source: "testdata/leafspine.sh"
date: 2026-11-23
classes:
  node: {medium: network, rate: 2Gb/s, latency: 0ns, source: "tbf of testdata/leafspine.sh; latency in the measured messages", date: 2026-11-23}
  up: {medium: network, rate: 1Gb/s, latency: 0ns, source: "tbf of testdata/leafspine.sh; latency in the measured messages", date: 2026-11-23}
templates:
  host: {devices: [{id: cpu, kind: thread}]}
nodes:
  - {template: host, count: 4}
fabrics:
  - name: eth
    endpoints: thread
    class: node
    levels:
      - {kind: leaf, group: 2, stride: %d, uplinks: 1, uplink: up}
      - {kind: spine}
`, placement, placements[placement].stride)
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

// runNode is a rank of the run; rank 0 prints the rows.
func runNode(as string) error {
	var rank int
	var placement, root, address string
	var largest units.Bytes
	if _, err := fmt.Sscan(as, &rank, &placement, &root, &address, &largest); err != nil {
		return err
	}
	t, err := emulated(placement)
	if err != nil {
		return err
	}
	ctx := context.Background()
	secret := sha256.Sum256([]byte("of a test"))
	group, err := cluster.Join(ctx, cluster.World{Rank: rank, Size: 4, Root: root}, cluster.Hello{Version: "test"},
		cluster.Options{Secret: secret[:]})
	if err != nil {
		return err
	}
	defer group.Close()
	p, err := host.Meet(ctx, group, host.Place{Process: rank, Size: 4, Ranks: 1, Local: 4, Host: address})
	if err != nil {
		return err
	}
	defer p.Close()
	c, err := Calibrate(ctx, p, t, host.Config{}, largest)
	if err != nil {
		return err
	}
	out := csv.NewWriter(os.Stdout)
	if rank == 0 {
		fmt.Fprintf(os.Stderr, "%s: %s; %+v; %v; %+v\n", placement, c.Profile.Error, c.Ratios, c.Suspects, c.Profile.Curves)
		for _, x := range c.Ratios {
			out.Write(row(placement, "messages", fmt.Sprintf("all at once, %d on", x.Distance), c.Rows[len(c.Rows)-1].Bytes, x.Predicted,
				x.Measured))
		}
	}
	list, err := cases(t, 4)
	if err != nil {
		return err
	}
	for _, x := range list {
		for size := 4 * units.MiB; size <= largest; size *= 2 {
			predicted, err := sim.Run(t, x.Schedule, size, c.Profile, sim.Options{})
			if err != nil {
				return err
			}
			got, err := host.Run(ctx, x.Schedule, host.Config{Count: int64(size) / 4, Checks: 1, Warmup: 1, Iterations: 5, Over: p})
			if err != nil {
				return err
			}
			if got.Wrong > 0 {
				return fmt.Errorf("%s of %v: %d wrong elements", x.algo, size, got.Wrong)
			}
			if took := measurement.Summarise(got.Times).Median; rank == 0 {
				out.Write(row(placement, x.Spec.Kind.String(), x.algo, size, predicted.Time,
					units.Time(took.Nanoseconds())*units.Nanosecond))
			}
		}
	}
	out.Flush()
	return out.Error()
}

func row(placement, kind, algo string, size units.Bytes, predicted, measured units.Time) []string {
	return []string{placement, kind, algo, strconv.FormatInt(int64(size), 10), fmt.Sprintf("%.0f", predicted.Microseconds()),
		fmt.Sprintf("%.0f", measured.Microseconds()), fmt.Sprintf("%+.3f", float64(predicted)/float64(measured)-1)}
}

// TestLeafSpine runs plans over four namespaces joined by shaped links, each predicted beforehand by what was measured of the
// network without a collective. Every element must be right; how near predictions come is said, since this machine may be busy.
func TestLeafSpine(t *testing.T) {
	script, err := filepath.Abs("testdata/leafspine.sh")
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	if out, err := exec.Command(script, "up", prefix, "2gbit", "1gbit").CombinedOutput(); err != nil {
		_ = exec.Command(script, "down", prefix).Run()
		t.Skipf("no namespaces with shaped links here: %v: %s", err, bytes.TrimSpace(out))
	}
	t.Cleanup(func() { _ = exec.Command(script, "down", prefix).Run() })
	largest := 4 * units.MiB
	if *csvFile != "" {
		largest = 16 * units.MiB
	}
	var rows [][]string
	for _, placement := range []string{"near", "spread"} {
		text := runNodes(t, placement, largest)
		list, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, list...)
	}
	report(t, rows)
	if *csvFile == "" {
		return
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Write([]string{"placement", "collective", "algorithm", "bytes", "predicted_us", "measured_us", "error"})
	w.WriteAll(rows)
	if err := os.WriteFile(*csvFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// runNodes runs a process in each namespace and returns what rank 0 printed.
func runNodes(t *testing.T, placement string, largest units.Bytes) string {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	at := placements[placement].namespaces
	root := fmt.Sprintf("10.8.0.1%d:7411", at[0])
	var stdout bytes.Buffer
	errs := make([]error, len(at))
	said := make([]bytes.Buffer, len(at))
	var wg sync.WaitGroup
	for rank, n := range at {
		cmd := exec.CommandContext(ctx, "ip", "netns", "exec", fmt.Sprintf("%snode%d", prefix, n), os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s %s 10.8.0.1%d %d", node, rank, placement, root, n, int64(largest)))
		cmd.Stderr = &said[rank]
		if rank == 0 {
			cmd.Stdout = &stdout
		}
		wg.Go(func() { errs[rank] = cmd.Run() })
	}
	wg.Wait()
	for rank, err := range errs {
		if err != nil {
			t.Errorf("rank %d: %v: %s", rank, err, said[rank].String())
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
	if n < 16 {
		t.Fatalf("%d rows", n)
	}
	t.Logf("mean error of %d predictions: %.1f %%", n, 100*sum/float64(n))
}
