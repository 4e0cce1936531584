package ncclgraph

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"

	"railyard/interop/foreign"
)

// Write writes the file as NCCL dumps it: devices in hexadecimal, ranks in decimal.
func (g *Graphs) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, `<graphs version="1">`)
	for i := range g.Graphs {
		writeGraph(b, &g.Graphs[i])
	}
	fmt.Fprintln(b, `</graphs>`)
	return b.Flush()
}

func writeGraph(b *bufio.Writer, g *Graph) {
	same := 0
	if g.SameChannels {
		same = 1
	}
	fmt.Fprintf(b, "  <graph id=\"%d\" pattern=\"%d\" crossnic=\"%d\" nchannels=\"%d\" speedintra=\"%g\" speedinter=\"%g\" latencyinter=\"%g\" typeintra=\"%s\" typeinter=\"%s\" samechannels=\"%d\">\n",
		g.ID, g.Pattern, g.CrossNIC, len(g.Channels), g.SpeedIntra, g.SpeedInter, g.LatencyInter, g.TypeIntra, g.TypeInter, same)
	for _, c := range g.Channels {
		fmt.Fprintln(b, `    <channel>`)
		if len(c.Nets) > 0 {
			fmt.Fprintf(b, "      <net dev=\"0x%x\"/>\n", c.Nets[0])
		}
		for _, x := range c.GPUs {
			rank := ""
			if x.Rank >= 0 {
				rank = fmt.Sprintf(" rank=\"%d\"", x.Rank)
			}
			fmt.Fprintf(b, "      <gpu dev=\"0x%x\"%s/>\n", x.Dev, rank)
		}
		if len(c.Nets) > 1 {
			fmt.Fprintf(b, "      <net dev=\"0x%x\"/>\n", c.Nets[1])
		}
		fmt.Fprintln(b, `    </channel>`)
	}
	fmt.Fprintln(b, `  </graph>`)
}

// Read reads a file and validates it.
func Read(r io.Reader) (*Graphs, error) {
	data, err := foreign.Read(r, 16)
	if err != nil {
		return nil, err
	}
	p := &parser{}
	x := foreign.XML{What: "graph file of NCCL", Open: p.open, Close: p.close,
		Parents: map[string]string{"graphs": "", "graph": "graphs", "channel": "graph", "net": "channel", "gpu": "channel"}}
	if err := x.Read(data); err != nil {
		return nil, err
	}
	return &p.g, p.g.Validate()
}

// parser takes the elements.
type parser struct {
	g    Graphs
	want int // nchannels of the graph
}

func (p *parser) last() *Graph { return &p.g.Graphs[len(p.g.Graphs)-1] }

func (p *parser) close(name string) error {
	if name == "graph" && len(p.last().Channels) != p.want {
		return fmt.Errorf("graph %d: nchannels=%d, but it has %d", p.last().ID, p.want, len(p.last().Channels))
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
		p.want = number(e, "nchannels")
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

func graph(e *foreign.Element) Graph {
	g := Graph{ID: number(e, "id"), Pattern: number(e, "pattern"), CrossNIC: number(e, "crossnic"), SpeedIntra: e.Float("speedintra"), SpeedInter: e.Float("speedinter"),
		TypeIntra: e.Text("typeintra"), TypeInter: e.Text("typeinter"), SameChannels: number(e, "samechannels") != 0, line: e.Line}
	if e.Has("latencyinter") { // older versions have none
		g.LatencyInter = e.Float("latencyinter")
	}
	return g
}

// vertex adds a NIC or a GPU; NICs stand at the ends.
func vertex(e *foreign.Element, c *Channel) error {
	dev := e.Hex("dev")
	switch {
	case e.Name == "net" && len(c.Nets) == 0 && len(c.GPUs) > 0:
		return errors.New("net: stands in the middle, without one at the beginning")
	case e.Name == "net":
		c.Nets = append(c.Nets, dev)
		return nil
	case len(c.Nets) > 1:
		return errors.New("gpu: stands behind the last net")
	}
	rank := -1
	if e.Has("rank") {
		rank = number(e, "rank")
	}
	c.GPUs = append(c.GPUs, GPU{dev, rank})
	return nil
}
