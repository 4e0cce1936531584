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
	var buf [16]byte
	for i, d := range t.devices {
		binary.LittleEndian.PutUint32(buf[0:], uint32(d.Kind))
		binary.LittleEndian.PutUint32(buf[4:], uint32(d.Node))
		binary.LittleEndian.PutUint32(buf[8:], uint32(d.Model))
		binary.LittleEndian.PutUint32(buf[12:], uint32(t.rankOf[i]))
		w.Write(buf[:])
	}
	for _, l := range t.links {
		binary.LittleEndian.PutUint32(buf[0:], uint32(l.From))
		binary.LittleEndian.PutUint32(buf[4:], uint32(l.To))
		binary.LittleEndian.PutUint32(buf[8:], uint32(l.Class))
		binary.LittleEndian.PutUint32(buf[12:], uint32(l.Count))
		w.Write(buf[:])
	}
	for _, s := range t.shapes {
		for _, g := range s.ranks {
			fmt.Fprintf(w, "nics %v\n", s.nics[g])
		}
		fmt.Fprintf(w, "p2p %v\n", s.noP2P)
	}
	w.Flush()
	return hex.EncodeToString(h.Sum(nil))
}
