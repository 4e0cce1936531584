package ncclgraph

import (
	"bufio"
	"fmt"
	"io"
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
	fmt.Fprintf(b, "  <graph id=\"%d\" pattern=\"%d\" crossnic=\"%d\" nchannels=\"%d\" "+
		"speedintra=\"%g\" speedinter=\"%g\" latencyinter=\"%g\" typeintra=\"%s\" typeinter=\"%s\" samechannels=\"%d\">\n",
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
