package ncclgraph

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"railyard/interop/foreign"
)

// Read reads a file and validates it.
func Read(r io.Reader) (*Graphs, error) {
	data, err := foreign.Read(r, 16)
	if err != nil {
		return nil, err
	}
	p := &parser{}
	x := foreign.XML{What: "graph file of NCCL", Open: p.open,
		Parents: map[string]string{"graphs": "", "graph": "graphs", "channel": "graph", "net": "channel", "gpu": "channel"}}
	if err := x.Read(data); err != nil {
		return nil, err
	}
	if err := p.complete(); err != nil {
		return nil, err
	}
	return &p.g, p.g.Validate()
}

// parser takes the elements.
type parser struct {
	g    Graphs
	want []int // nchannels of each graph
}

func (p *parser) last() *Graph { return &p.g.Graphs[len(p.g.Graphs)-1] }

// complete says which graph has not as many channels as it says.
func (p *parser) complete() error {
	for i, g := range p.g.Graphs {
		if len(g.Channels) != p.want[i] {
			return fmt.Errorf("line %d: graph %d: nchannels=%d, but it has %d", g.line, g.ID, p.want[i], len(g.Channels))
		}
	}
	return nil
}

func (p *parser) open(e *foreign.Element) error {
	switch e.Name {
	case "graphs":
		if v := number(e, "version"); v != 1 {
			e.Fail("version %d: NCCL reads 1", v)
		}
	case "graph":
		p.want = append(p.want, number(e, "nchannels"))
		p.g.Graphs = append(p.g.Graphs, graph(e))
	case "channel":
		p.last().Channels = append(p.last().Channels, Channel{line: e.Line})
	default:
		g := p.last()
		return vertex(e, &g.Channels[len(g.Channels)-1])
	}
	return nil
}

func number(e *foreign.Element, name string) int { return int(e.Int(name, 0, math.MaxInt32)) }

func decimal(e *foreign.Element, name string) float64 {
	n, err := strconv.ParseFloat(e.Text(name), 64)
	if err != nil {
		e.Fail("%s=%q is not a number", name, e.Text(name))
	}
	return n
}

// hexadecimal is a number written with 0x or without.
func hexadecimal(e *foreign.Element, name string) int64 {
	n, err := strconv.ParseInt(strings.TrimPrefix(strings.ToLower(e.Text(name)), "0x"), 16, 64)
	if err != nil || n < 0 {
		e.Fail("%s=%q is not a hexadecimal number", name, e.Text(name))
	}
	return n
}

func graph(e *foreign.Element) Graph {
	g := Graph{ID: number(e, "id"), Pattern: number(e, "pattern"), CrossNIC: number(e, "crossnic"), SpeedIntra: decimal(e, "speedintra"),
		SpeedInter: decimal(e, "speedinter"),
		TypeIntra:  e.Text("typeintra"), TypeInter: e.Text("typeinter"), SameChannels: number(e, "samechannels") != 0, line: e.Line}
	if e.Has("latencyinter") { // older versions have none
		g.LatencyInter = decimal(e, "latencyinter")
	}
	return g
}

// vertex adds a NIC or a GPU; NICs stand at the ends.
func vertex(e *foreign.Element, c *Channel) error {
	dev := hexadecimal(e, "dev")
	switch {
	case e.Name == "net" && len(c.Nets) == 0 && len(c.GPUs) > 0:
		return errors.New("net: is in the middle, and none is at the beginning")
	case e.Name == "net":
		c.Nets = append(c.Nets, dev)
		return nil
	case len(c.Nets) > 1:
		return errors.New("gpu: comes after the last net")
	}
	rank := -1
	if e.Has("rank") {
		rank = number(e, "rank")
	}
	c.GPUs = append(c.GPUs, GPU{dev, rank})
	return nil
}
