package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/cuda"
	"railyard/exec/cuda/driver"
	"railyard/exec/nccl"
	"railyard/exec/net"
	"railyard/exec/proxy"
	"railyard/model/block"
	"railyard/model/measurement"
	"railyard/model/schedule"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/study/network"
)

// between is what carries messages of GPUs from node to node.
type between struct {
	mesh    *nccl.Mesh
	streams int // that the library needs of each rank
	proxy   *proxy.Proxy
}

// connectProxy connects the processes' threads.
func (b *between) connectProxy(ctx context.Context, c *processGroup, node *cuda.Node) (err error) {
	o := net.Options{Process: c.world.Rank, Size: c.world.Size, Host: c.control.Address(), Sockets: c.Sockets}
	if b.proxy, err = proxy.Meet(ctx, o, c.control.Exchange, node.Ranks()); err == nil {
		node.ConnectProxy(b.proxy)
	}
	return err
}

// connectLibrary connects NCCL.
func (b *between) connectLibrary(ctx context.Context, c *processGroup, node *cuda.Node) (err error) {
	if b.mesh, err = nccl.Meet(ctx, c.all(), node, b.streams, nccl.Setting{}); err == nil {
		node.Connect(b.mesh)
	}
	return err
}

func (b *between) close() {
	if b.mesh != nil {
		_ = b.mesh.Close() // what was measured is complete
	}
	if b.proxy != nil {
		_ = b.proxy.Close()
	}
}

// engines are the names of --how engine; of plans that are equally fast those of the first are taken, whose messages begin sooner.
var engines = []string{string(schedule.Proxied), string(schedule.Staged)}

// checkEngine refuses others.
func (g *gpuFlags) checkEngine() error {
	if g.Engine != "" && g.Engine != engines[0] && g.Engine != engines[1] {
		return cli.Usagef("--how engine=%s: must be %s", g.Engine, strings.Join(engines, " or "))
	}
	return nil
}

// measured are the engines whose messages' costs are known, of those that the user leaves the choice of.
func (g *gpuFlags) measured(p *planned) (out []schedule.Protocol) {
	for _, e := range engines {
		if (g.Engine == "" || g.Engine == e) && p.Question.Costs().Curved(e) {
			out = append(out, schedule.Protocol(e))
		}
	}
	return out
}

// uses reports whether some row's messages go from node to node by proxy, or by the library.
func (g *gpuFlags) uses(proxied bool) bool {
	for _, how := range g.ways {
		if g.staged() && how.Proxied == proxied {
			return true
		}
	}
	return false
}

// engines times what messages between nodes, up to the largest size, cost GPUs, where all processes have as many as they need.
func (c *processGroup) engines(ctx context.Context, cmd *cobra.Command, t *topology.Topology, largest units.Bytes) (
	rows []measurement.Link, err error) {
	ctx, end := c.bound(ctx)
	defer end()
	node, err := c.openGPUs(ctx, t)
	if err != nil {
		if driver.Load() == nil && c.leads() {
			fmt.Fprintf(cmd.ErrOrStderr(), "# without GPUs: %v\n", err)
		}
		return nil, context.Cause(ctx)
	}
	defer func() {
		if !node.Abandoned() {
			node.Close()
		}
	}()
	node.Deadline = c.Deadline
	err = node.Within(ctx, func() (err error) {
		rows, err = c.timeEngines(ctx, cmd, node, t, largest)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// timeEngines is what they take on the GPUs of a node that has not met the others.
func (c *processGroup) timeEngines(ctx context.Context, cmd *cobra.Command, node *cuda.Node,
	t *topology.Topology, largest units.Bytes) (rows []measurement.Link, err error) {
	if err := node.Meet(ctx, c.all(), nodesOf(t, true)); err != nil {
		return nil, err
	}
	b := between{streams: block.MostStreams}
	for _, e := range []struct {
		proxied bool
		connect func(context.Context, *processGroup, *cuda.Node) error
	}{{true, b.connectProxy}, {false, b.connectLibrary}} {
		if err := e.connect(ctx, c, node); err != nil {
			if e.proxied || ctx.Err() != nil {
				return nil, err
			}
			if c.leads() {
				fmt.Fprintf(cmd.ErrOrStderr(), "# without stages: %v\n", err)
			}
			continue
		}
		more, err := network.TimeEngine(ctx, node, t, e.proxied, largest)
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	if err := c.control.Barrier(ctx); err != nil {
		return nil, err
	}
	b.close()
	return rows, nil
}
