package mscclxml

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Write writes the file as XML, attributes in msccl-tools' order.
func (f *File) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "<algo name=\"%s\" proto=\"%s\" nchannels=\"%d\" nchunksperloop=\"%d\" "+
		"ngpus=\"%d\" coll=\"%s\" inplace=\"%d\" outofplace=\"%d\" minBytes=\"%d\" maxBytes=\"%d\">\n",
		escape(f.Name), f.Proto, f.Channels, f.ChunksPerLoop, len(f.GPUs), f.Coll, digit(f.InPlace), digit(f.OutOfPlace),
		f.MinBytes, f.MaxBytes)
	for _, g := range f.GPUs {
		fmt.Fprintf(b, "  <gpu id=\"%d\" i_chunks=\"%d\" o_chunks=\"%d\" s_chunks=\"%d\">\n", g.ID, g.Input, g.Output, g.Scratch)
		for _, tb := range g.Blocks {
			fmt.Fprintf(b, "    <tb id=\"%d\" send=\"%d\" recv=\"%d\" chan=\"%d\">\n", tb.ID, tb.Send, tb.Recv, tb.Channel)
			for _, s := range tb.Steps {
				fmt.Fprintf(b, "      <step s=\"%d\" type=\"%s\" srcbuf=\"%s\" srcoff=\"%d\" "+
					"dstbuf=\"%s\" dstoff=\"%d\" cnt=\"%d\" depid=\"%d\" deps=\"%d\" hasdep=\"%d\"/>\n",
					s.S, s.Type, s.Src.Buf, s.Src.Off, s.Dst.Buf, s.Dst.Off, s.Count, s.DepBlock, s.DepStep, digit(s.HasDep))
			}
			fmt.Fprintln(b, "    </tb>")
		}
		fmt.Fprintln(b, "  </gpu>")
	}
	fmt.Fprintln(b, "</algo>")
	return b.Flush()
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // strings.Builder never fails
	return b.String()
}

func digit(b bool) int {
	if b {
		return 1
	}
	return 0
}
