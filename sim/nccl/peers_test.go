package nccl

import (
	"testing"

	"railyard/model/collective"
	"railyard/model/topology"
	"railyard/model/units"
)

// A peer across the network gets as many channels as fill the adapter, and fewer where there are too many peers for one
// round: 400 Gb/s takes four, on B200 up to 32 ranks, two up to 64, then one (series dgxc-b200-*-sendrecv); the fewer
// channels few GPUs have, the fewer a peer gets (cnode3-10n-*-sr).
func TestChannelsToAPeerAcrossTheNetwork(t *testing.T) {
	for _, c := range []struct {
		machine     string
		nodes, gpus int
		channels    float64
	}{
		{"dgx-b200", 2, 8, 4}, {"dgx-b200", 4, 8, 4}, {"dgx-b200", 8, 8, 2}, {"dgx-b200", 16, 8, 1},
		{"dgx-h100", 10, 1, 2}, {"dgx-h100", 10, 2, 2}, {"dgx-h100", 10, 4, 2}, {"dgx-h100", 10, 8, 1},
	} {
		m, err := New(load(t, c.machine, topology.Options{Nodes: c.nodes, GPUs: c.gpus}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.sendChannels(units.GiB); got != c.channels {
			t.Errorf("%s, %d nodes of %d GPUs: %v channels to a peer, want %v", c.machine, c.nodes, c.gpus, got, c.channels)
		}
	}
}

// Inside a node the channels are shared out among the ranks, and doubled where a channel's part of a message is large: of H100, 8 take
// four each for 64 MiB and 32 for 1 GiB, 4 take eight (series cnode3-1n-8g-sr, cnode3-1n-4g-sr); of A100, 2 joined by four
// links take four and then eight (leonardo-1n-2g-sendrecv).
func TestChannelsToANeighbour(t *testing.T) {
	for _, c := range []struct {
		machine  string
		gpus     int
		size     units.Bytes
		channels float64
	}{
		{"dgx-h100", 8, 32 * units.MiB, 4}, {"dgx-h100", 8, 64 * units.MiB, 4}, {"dgx-h100", 8, 128 * units.MiB, 8},
		{"dgx-h100", 8, units.GiB, 32}, {"dgx-h100", 4, 128 * units.MiB, 8}, {"dgx-h100", 4, 256 * units.MiB, 16},
		{"a100-quad", 2, 64 * units.MiB, 4}, {"a100-quad", 2, 128 * units.MiB, 8},
	} {
		m, err := New(load(t, c.machine, topology.Options{GPUs: c.gpus}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.sendChannels(c.size); got != c.channels {
			t.Errorf("%d GPUs of %s, %v: %v channels, want %v", c.gpus, c.machine, c.size, got, c.channels)
		}
	}
}

// An all-to-all of few GPUs goes at the rate of its channels to a peer where these do not fill its links (series
// aic-b200_sxm-2.29.2-alltoall-2), one of many at that of its links.
func TestFewPeersBoundAllToAll(t *testing.T) {
	for gpus, bound := range map[int]bool{2: true, 8: false} {
		r := runtime(t, load(t, "dgx-b200", topology.Options{GPUs: gpus}), "b200")
		w, err := r.work(Ask{Kind: collective.AllToAll, Size: units.GiB}, choice{algorithm: "p2p", protocol: "simple"})
		if err != nil {
			t.Fatal(err)
		}
		if channels := float64(gpus-1) * r.model.toPeer(manyChunks, false); (w.Line == channels) != bound || w.Line > channels {
			t.Errorf("%d GPUs: %v GB/s by %s, channels to peers carry %v", gpus, w.Line/1e9, w.Limit, channels/1e9)
		}
	}
}
