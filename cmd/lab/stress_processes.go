package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"railyard/exec/cluster"
	"railyard/exec/cuda"
	"railyard/exec/host"
	"railyard/exec/nccl"
	"railyard/model/topology"
)

// stressProcesses are those of a stress run.
type stressProcesses struct{ cuda.Processes }

// all reports whether all processes say yes.
func (p *stressProcesses) all(ctx context.Context, yes bool) (bool, error) {
	said, err := cuda.Tell(ctx, p.Processes, yes)
	return err == nil && !slices.Contains(said, false), err
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
	hello := cluster.Hello{Version: "lab", Plan: fmt.Sprint(topo.Hash(), f.Seed, f.First, f.Deadline), GPUs: own}
	group, err := cluster.Join(ctx, world, hello, options)
	if err != nil {
		return err
	}
	f.several = &stressProcesses{cuda.Processes{Own: world.Rank, Size: world.Size, Exchange: group.Exchange, Barrier: group.Barrier}}
	bound, end := host.Bound(ctx, group)
	defer end()
	if err = f.connected(bound, node, topo); err == nil {
		err = f.all(bound, cmd, node, topo)
	}
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
func (f *stressFlags) connected(ctx context.Context, node *cuda.Node, topo *topology.Topology) error {
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
	mesh, err := nccl.Meet(ctx, f.several.Processes, node, nccl.Setting{})
	if err == nil {
		node.Connect(mesh)
	}
	return err
}
