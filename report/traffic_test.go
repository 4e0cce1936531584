package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"railyard/model/topology"
	"railyard/topologies"
)

// TestGPUTraffic: links add up by GPU, PCIe does not count, runs are divided out.
func TestGPUTraffic(t *testing.T) {
	topo, err := topology.Load(topologies.Source, "hgx-h200-4", topology.Options{GPUs: 2})
	if err != nil {
		t.Fatal(err)
	}
	predicted := func(l topology.LinkID) float64 { // 100 bytes over each link out of a GPU
		if topo.RankOf(topo.Links()[l].From) >= 0 {
			return 100
		}
		return 50
	}
	ports := []PortTraffic{{0, 0, 600, 300}, {0, 1, 200, 300}, {1, 0, 0, 8}, {3, 0, 9, 9}}
	got := NewGPUTraffic(topo, predicted, ports, 2)
	want := []GPUTraffic{
		{GPU: 0, PredictedSent: 400, MeasuredSent: 400, PredictedReceived: 200, MeasuredReceived: 300, LeastPort: 100, MostPort: 300},
		{GPU: 1, PredictedSent: 400, PredictedReceived: 200, MeasuredReceived: 4},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var b bytes.Buffer
	if err := WriteTraffic(&b, got); err != nil || !strings.Contains(b.String(), "+0.0 %") || !strings.Contains(b.String(), "-33.3 %") {
		t.Errorf("%v\n%s", err, b.String())
	}
}
