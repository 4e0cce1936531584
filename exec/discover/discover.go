package discover

import (
	"fmt"
	"io"
	"time"

	"railyard/model/survey"
)

// Write describes the machine as a topology file: GPUs in the library's order, parts of
// sysfs below root ("/" on a live machine). The same machine and date give the same
// bytes. What is assumed or left out stands in comments at the top.
func Write(w io.Writer, l Library, root string, date time.Time) error {
	n, err := node(l, tree{root})
	if err != nil {
		return err
	}
	return n.Write(w, date)
}

// node puts together what the library and sysfs tell.
func node(l Library, t tree) (*survey.Node, error) {
	n := &survey.Node{Name: "discovered", Source: "railyard discover: NVML and sysfs, driver " + l.Driver(), By: "NVML",
		Adapters: t.adapters(), PCI: map[string]survey.PCI{}}
	var err error
	if n.GPUs, err = l.GPUs(); err != nil {
		return nil, err
	}
	if len(n.GPUs) == 0 {
		return nil, fmt.Errorf("the driver (%s) shows no GPU", l.Driver())
	}
	s := t.sockets()
	n.CPUs, n.Vendor, n.Processors = s.count, s.vendor, s.processors
	for _, bus := range devices(n) {
		above := switchesAbove(t.path(bus))
		for _, x := range append(above, bus) {
			n.PCI[x] = survey.PCI{Lanes: t.lanes(x), CPU: s.of(t, x), Root: t.hostBridge(x)}
		}
		p := n.PCI[bus]
		p.Above = above
		n.PCI[bus] = p
	}
	return n, nil
}
