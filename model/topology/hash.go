package topology

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// computeHash covers everything that a plan or a prediction depends on: devices,
// links, constants and which ranks are used; not names, sources or descriptions.
func (t *Topology) computeHash() string {
	h := sha256.New()
	w := bufio.NewWriterSize(h, 1<<16)
	fmt.Fprintf(w, "%s\n", Schema)
	for _, c := range t.classes {
		fmt.Fprintf(w, "class %d %d %d\n", c.Medium, c.Rate, c.Latency)
	}
	for _, m := range t.models {
		fmt.Fprintf(w, "model %d %d %t %t\n", m.Kind, m.Ports, m.Reduction, m.Multicast)
	}
	if t.gdr != GDRLevel {
		fmt.Fprintf(w, "gdr %d\n", t.gdr)
	}
	var buf [16]byte
	put := func(numbers ...int32) {
		for i, n := range numbers {
			binary.LittleEndian.PutUint32(buf[4*i:], uint32(n))
		}
		w.Write(buf[:])
	}
	for i, d := range t.devices {
		put(int32(d.Kind), d.Node, d.Model, t.rankOf[i])
	}
	for _, l := range t.links {
		put(int32(l.From), int32(l.To), l.Class, l.Count)
	}
	for _, s := range t.shapes {
		for _, g := range s.ranks {
			fmt.Fprintf(w, "nics %v\n", s.devices[g].nics)
		}
		noP2P := make([]bool, len(s.devices))
		for i, d := range s.devices {
			noP2P[i] = d.noP2P
		}
		fmt.Fprintf(w, "p2p %v\n", noP2P)
	}
	w.Flush()
	return hex.EncodeToString(h.Sum(nil))
}
