package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"railyard/exec/cluster"
	transport "railyard/exec/net"
	"railyard/internal/long"
	"railyard/model/block"
	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/planner"
	"railyard/topologies"
)

// TestMain is the tests, or, told so by its environment, a process of a run that a test has started.
func TestMain(m *testing.M) {
	if os.Getenv("RAILYARD_TEST_GPUS") == "" {
		os.Exit(m.Run())
	}
	if err := processMain(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// processMain plays all cases with the other processes, so many launches each; each process is a node.
func processMain() (err error) {
	gpus, launches := numberOf("RAILYARD_TEST_GPUS"), numberOf("RAILYARD_TEST_LAUNCHES")
	world, err := cluster.Detect(os.Getenv)
	if err != nil {
		return err
	}
	secret, err := cluster.ReadSecret(os.Getenv("RAILYARD_SECRET_FILE"))
	if err != nil {
		return err
	}
	group, err := cluster.Join(context.Background(), world, cluster.Hello{Version: "test"}, cluster.Options{Secret: secret})
	if err != nil {
		return err
	}
	tcp, err := transport.Connect(group.Context(), transport.Options{Process: world.Rank, Size: world.Size, Host: "127.0.0.1", Sockets: 2},
		group.Exchange)
	if err != nil {
		return err
	}
	x := New(tcp, Place{Process: world.Rank, Size: world.Size, Ranks: gpus})
	fmt.Println("begins")
	for i := range cases {
		if err := playCase(group, x, i, launches); err != nil {
			err = fmt.Errorf("%v by %s: %w", cases[i].kind, cases[i].algo, err)
			group.Abort(err)
			return errors.Join(err, group.Close()) // rank 0 stays until all have heard why
		}
	}
	if err := group.Barrier(group.Context()); err != nil {
		return err
	}
	return errors.Join(x.Close(), group.Close())
}

func playCase(group *cluster.Group, x *Proxy, number, launches int) error {
	c := cases[number]
	topo, err := topology.Load(topologies.Source, "dgx-a100", topology.Options{Nodes: x.Size, GPUs: x.Ranks})
	if err != nil {
		return err
	}
	s, err := planner.Build(topo, collective.Spec{Kind: c.kind, Ranks: topo.NumRanks()}, c.algo, planner.Options{Slices: c.slices})
	if err != nil {
		return err
	}
	nodes := make([][]int, x.Size)
	for r := range topo.NumRanks() {
		nodes[r/x.Ranks] = append(nodes[r/x.Ranks], r)
	}
	c.o.Size, c.o.Count = 1, c.count/int64(s.Spec.Blocks())*int64(s.Spec.Blocks())
	p, err := block.CompileProxied(s, c.o, nodes)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(group.Context())
	defer end(nil)
	kernels := newFake(ctx, s, p, c.o.Count, x.Process*x.Ranks, x.Ranks)
	round, err := x.Begin(ctx, p, kernels.shared, func(err error) { end(err) })
	if err != nil {
		return err
	}
	if err := group.Barrier(ctx); err != nil {
		return err
	}
	if err := kernels.launches(launches); err != nil {
		return err
	}
	return round.End()
}

func numberOf(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		panic(err)
	}
	return n
}

// start starts so many processes.
func start(t *testing.T, size, gpus, launches int) (all []*exec.Cmd, said []*strings.Builder) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	root := listener.Addr().String()
	listener.Close()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(strings.Repeat("5a", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for rank := range size {
		cmd, out := exec.Command(program), new(strings.Builder)
		cmd.Env = append(os.Environ(), "RAILYARD_RANK="+strconv.Itoa(rank), "RAILYARD_SIZE="+strconv.Itoa(size), "RAILYARD_ROOT="+root,
			"RAILYARD_SECRET_FILE="+secret, "RAILYARD_TEST_GPUS="+strconv.Itoa(gpus), "RAILYARD_TEST_LAUNCHES="+strconv.Itoa(launches))
		cmd.Stderr = out
		if rank > 0 {
			cmd.Stdout = out
		}
		all, said = append(all, cmd), append(said, out)
	}
	for i, cmd := range all[1:] {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = all[i+1].Process.Kill() })
	}
	return all, said
}

// TestProcesses: kernels of several processes exchange by proxy what each case wants, launch after launch, none waiting for another
// in between: every byte is right.
func TestProcesses(t *testing.T) {
	for _, c := range []struct{ size, gpus int }{{2, 1}, {2, 2}, {4, 1}, {3, 2}}[:long.Or(2, 4)] {
		all, said := start(t, c.size, c.gpus, 6)
		if err := all[0].Start(); err != nil {
			t.Fatal(err)
		}
		for i, cmd := range all {
			if err := cmd.Wait(); err != nil {
				t.Errorf("%d processes of %d ranks: process %d: %v: %s", c.size, c.gpus, i, err, said[i])
			}
		}
	}
}

// TestKilled: kernels that wait for a process that is gone end, since its loss is said.
func TestKilled(t *testing.T) {
	all, said := start(t, 3, 1, 1<<30)
	out, err := all[0].StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := all[0].Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // in the middle of launches
	if err := all[1].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 2} {
		err := all[i].Wait()
		if text := said[i].String(); err == nil || !strings.Contains(text, "lost rank 1") && !strings.Contains(text, "process 1 (") {
			t.Errorf("process %d: %v: %s", i, err, text)
		}
	}
}
