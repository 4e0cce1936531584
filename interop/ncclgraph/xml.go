package ncclgraph

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
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

// maxFile bounds what Read takes.
const maxFile = 16 << 20

// Read reads a file and validates it.
func Read(r io.Reader) (*Graphs, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("larger than %d MiB", maxFile>>20)
	}
	p := &parser{d: xml.NewDecoder(bytes.NewReader(data)), g: &Graphs{}}
	for {
		tok, err := p.d.Token()
		p.line, _ = p.d.InputPos()
		switch {
		case errors.Is(err, io.EOF) && p.seen:
			return p.g, p.g.Validate()
		case errors.Is(err, io.EOF):
			return nil, errors.New("no graphs element: this is no graph file of NCCL")
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
		if err := p.token(tok); err != nil {
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
	}
}

// parser goes through the elements; they nest one way only.
type parser struct {
	d    *xml.Decoder
	g    *Graphs
	path []string
	want int // nchannels of the graph
	line int
	seen bool
}

// parents is where each element stands.
var parents = map[string]string{"graphs": "", "graph": "graphs", "channel": "graph", "net": "channel", "gpu": "channel"}

func (p *parser) token(tok xml.Token) error {
	switch t := tok.(type) {
	case xml.StartElement:
		return p.open(t)
	case xml.EndElement:
		p.path = p.path[:len(p.path)-1]
		if t.Name.Local == "graph" {
			g := &p.g.Graphs[len(p.g.Graphs)-1]
			if len(g.Channels) != p.want {
				return fmt.Errorf("graph %d: nchannels=%d, but it has %d", g.ID, p.want, len(g.Channels))
			}
		}
	}
	return nil
}

func (p *parser) open(t xml.StartElement) error {
	name, inside := t.Name.Local, ""
	if len(p.path) > 0 {
		inside = p.path[len(p.path)-1]
	}
	if want, known := parents[name]; !known || want != inside || name == "graphs" && p.seen {
		return fmt.Errorf("unexpected element %s", name)
	}
	p.path = append(p.path, name)
	a := attrs{element: name, values: map[string]string{}}
	for _, x := range t.Attr {
		a.values[x.Name.Local] = x.Value
	}
	switch name {
	case "graphs":
		p.seen = true
		if v := a.int("version"); v != 1 && a.err == nil {
			a.err = fmt.Errorf("version %d: NCCL reads 1", v)
		}
	case "graph":
		p.want = a.int("nchannels")
		p.g.Graphs = append(p.g.Graphs, p.graph(&a))
	case "channel":
		g := p.last()
		g.Channels = append(g.Channels, Channel{line: p.line})
	default:
		p.vertex(name, &a)
	}
	return a.err
}

func (p *parser) last() *Graph { return &p.g.Graphs[len(p.g.Graphs)-1] }

func (p *parser) graph(a *attrs) Graph {
	g := Graph{ID: a.int("id"), Pattern: a.int("pattern"), CrossNIC: a.int("crossnic"), SpeedIntra: a.float("speedintra"), SpeedInter: a.float("speedinter"),
		TypeIntra: a.text("typeintra"), TypeInter: a.text("typeinter"), SameChannels: a.int("samechannels") != 0, line: p.line}
	if _, ok := a.values["latencyinter"]; ok { // older versions have none
		g.LatencyInter = a.float("latencyinter")
	}
	return g
}

// vertex adds a NIC or a GPU; NICs stand at the ends.
func (p *parser) vertex(name string, a *attrs) {
	g := p.last()
	c := &g.Channels[len(g.Channels)-1]
	dev := a.hex("dev")
	switch {
	case name == "net" && len(c.Nets) == 0 && len(c.GPUs) > 0:
		a.err = errors.New("net: stands in the middle, without one at the beginning")
	case name == "net":
		c.Nets = append(c.Nets, dev)
	case len(c.Nets) > 1:
		a.err = errors.New("gpu: stands behind the last net")
	default:
		rank := -1
		if _, ok := a.values["rank"]; ok {
			rank = a.int("rank")
		}
		c.GPUs = append(c.GPUs, GPU{dev, rank})
	}
}

// attrs are an element's attributes; the first mistake stays.
type attrs struct {
	element string
	values  map[string]string
	err     error
}

func (a *attrs) text(name string) string {
	v, ok := a.values[name]
	if !ok && a.err == nil {
		a.err = fmt.Errorf("%s: attribute %s is missing", a.element, name)
	}
	return v
}

func (a *attrs) bad(name, v string) {
	if a.err == nil {
		a.err = fmt.Errorf("%s: %s=%q is not a number that NCCL reads", a.element, name, v)
	}
}

func (a *attrs) int(name string) int {
	v := a.text(name)
	n, err := strconv.ParseInt(v, 10, 32)
	if err != nil || n < 0 {
		a.bad(name, v)
	}
	return int(n)
}

func (a *attrs) float(name string) float64 {
	v := a.text(name)
	n, err := strconv.ParseFloat(v, 64)
	if err != nil {
		a.bad(name, v)
	}
	return n
}

// hex is a device: NCCL reads them as hexadecimal, with 0x or without.
func (a *attrs) hex(name string) int64 {
	v := a.text(name)
	digits := v
	if len(v) > 2 && v[0] == '0' && (v[1] == 'x' || v[1] == 'X') {
		digits = v[2:]
	}
	n, err := strconv.ParseInt(digits, 16, 64)
	if err != nil || n < 0 {
		a.bad(name, v)
	}
	return n
}
