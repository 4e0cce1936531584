package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"railyard/exec/cluster"
	"railyard/exec/cuda"
	"railyard/exec/host"
	"railyard/exec/nccl"
	"railyard/exec/net"
	"railyard/exec/proxy"
	"railyard/model/block"
	"railyard/model/schedule"
	"railyard/model/topology"
)

// stressProcesses are those of a stress run.
type stressProcesses struct {
	cuda.Processes
	engines []bool // whether messages between nodes go by proxy, of which cases draw one; none within one node
}

// all says of each question whether all processes say yes to it.
func (p *stressProcesses) all(ctx context.Context, yes []bool) ([]bool, error) {
	said, err := cuda.Tell(ctx, p.Processes, yes)
	for _, other := range said {
		for i := range yes {
			yes[i] = yes[i] && other[i]
		}
	}
	return yes, err
}

// among runs with the other processes of a launcher, each with as many ranks: nodes are the topology's.
func (f *stressFlags) among(ctx context.Context, cmd *cobra.Command, world cluster.World, topo *topology.Topology) (err error) {
	own := topo.NumRanks() / world.Size
	if own*world.Size != topo.NumRanks() {
		return fmt.Errorf("%d ranks for %d processes: each needs as many", topo.NumRanks(), world.Size)
	}
	node, err := cuda.OpenFrom(world.LocalRank*own, own)
	if err != nil {
		return err
	}
	defer node.Close()
	options := cluster.Options{}
	if options.Secret, err = cluster.Secret(os.Getenv); err != nil {
		return err
	}
	plan := fmt.Sprint(topo.Hash(), f.Seed, f.First, f.Deadline, f.Engine)
	hello := cluster.Hello{Version: "lab", Plan: plan, GPUs: own}
	group, err := cluster.Join(ctx, world, hello, options)
	if err != nil {
		return err
	}
	p := cuda.Processes{Own: world.Rank, Size: world.Size, Exchange: group.Exchange, Barrier: group.Barrier}
	f.several = &stressProcesses{Processes: p}
	bound, end := host.Bound(ctx, group)
	defer end()
	err = node.Within(bound, func() error {
		if err := f.connected(bound, group, node, topo); err != nil {
			return err
		}
		return f.all(bound, cmd, node, topo)
	})
	if err != nil {
		group.Abort(err)
		err = fmt.Errorf("%w (%w)", err, context.Cause(group.Context()))
	}
	if closed := group.Close(); err == nil {
		err = closed
	}
	return err
}

// connected makes the ranks of all processes reach one another.
func (f *stressFlags) connected(ctx context.Context, group *cluster.Group, node *cuda.Node, topo *topology.Topology) error {
	nodes := make([][]int, topo.NumNodes())
	for r := range topo.NumRanks() {
		nodes[topo.NodeOf(r)] = append(nodes[topo.NodeOf(r)], r)
	}
	if err := node.Meet(ctx, f.several.Processes, nodes); err != nil {
		return err
	}
	f.Share = max(f.Share, node.Share())
	if len(nodes) == 1 {
		return nil
	}
	p := f.several
	if f.Engine != string(schedule.Staged) {
		x, err := proxy.Meet(ctx, net.Options{Process: p.Own, Size: p.Size, Host: group.Address()}, group.Exchange, node.Ranks())
		if err != nil {
			return err
		}
		node.ConnectProxy(x)
		p.engines = append(p.engines, true)
	}
	if f.Engine != string(schedule.Proxied) {
		mesh, err := nccl.Meet(ctx, p.Processes, node, block.MostStreams, nccl.Setting{})
		if err != nil {
			return err
		}
		node.Connect(mesh)
		p.engines = append(p.engines, false)
	}
	return nil
}
