package interoptest

import (
	"bytes"
	"testing"
	"time"

	"railyard/model/survey"
	"railyard/model/topology"
)

// Topology requires that a network that was read is written as a topology file that is read, or refused with a reason.
func Topology(t *testing.T, n *survey.Network) {
	t.Helper()
	nodes := 0
	for _, l := range n.Leaves {
		nodes += len(l)
	}
	if nodes*n.Adapters > 1<<12 {
		return
	}
	var b bytes.Buffer
	if err := n.Write(&b, time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)); err != nil {
		return
	}
	x, err := topology.Parse("imported.yaml", b.Bytes(), nil, topology.Options{})
	switch {
	case err != nil:
		t.Errorf("%v\n%s", err, b.String())
	case x.NumNodes() != nodes:
		t.Errorf("%d nodes of %d\n%s", x.NumNodes(), nodes, b.String())
	}
}
