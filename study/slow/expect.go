package slow

import (
	"fmt"

	"railyard/model/cost"
	"railyard/model/observed"
	"railyard/model/units"
	"railyard/sim/nccl"
	"railyard/study"
)

// By predicts calls by NCCL's kernels on parts of a site, as large as their groups. Where a call does not say on how many nodes its group
// is, its ranks are taken to fill nodes in order.
func By(site study.Site, profile string) Expect {
	type part struct{ nodes, ranks int }
	type outcome struct {
		runtime *nccl.Runtime
		how     string
		err     error
	}
	known := map[part]outcome{}
	return func(c *observed.Call) (Expected, error) {
		if site.Name == "" {
			return Expected{}, fmt.Errorf("which machine it ran on is not known: name its topology with -t")
		}
		nodes, err := nodesOf(site, c)
		if err != nil {
			return Expected{}, err
		}
		key := part{nodes, c.Ranks}
		x, ok := known[key]
		if !ok {
			x.runtime, x.how, x.err = runtime(site, profile, nodes, c.Ranks)
			known[key] = x
		}
		if x.err != nil {
			return Expected{}, x.err
		}
		p, err := x.runtime.Predict(nccl.Ask{Kind: c.Kind, Size: c.Size})
		if err != nil {
			return Expected{}, err
		}
		_, high := p.Band()
		return Expected{Time: p.Time, High: high, How: fmt.Sprintf("%s/%s by %s", p.Algorithm, p.Protocol, x.how)}, nil
	}
}

func runtime(site study.Site, profile string, nodes, ranks int) (*nccl.Runtime, string, error) {
	t, err := site.Part(nodes, ranks/nodes)
	if err != nil {
		return nil, "", err
	}
	if t.NumRanks() != ranks {
		return nil, "", fmt.Errorf("%d ranks on %d nodes; %s has %d", ranks, nodes, t.Name(), t.NumRanks())
	}
	m, err := cost.MachineOn(t, profile)
	if err != nil {
		return nil, "", err
	}
	r, err := study.NCCL(t, m, nccl.Options{})
	return r, fmt.Sprintf("NCCL's kernels of profile %s on %s", m.Name, units.Counted(nodes, "node")), err
}

// nodesOf is on how many nodes a call's group is.
func nodesOf(site study.Site, c *observed.Call) (int, error) {
	nodes := c.Nodes
	if nodes == 0 {
		one, err := site.Part(1, 0)
		if err != nil {
			return 0, err
		}
		in := map[int]bool{}
		for i := range c.Ranks {
			rank := i
			if i < len(c.On) {
				rank = c.On[i]
			}
			in[rank/one.NumRanks()] = true
		}
		nodes = len(in)
	}
	if c.Ranks%nodes != 0 {
		return 0, fmt.Errorf("%d ranks are spread unevenly over %d nodes", c.Ranks, nodes)
	}
	return nodes, nil
}
