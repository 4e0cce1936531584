package ibstat

import (
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/health"
)

// TestPorts: of an adapter with two ports, the one that is active counts.
func TestPorts(t *testing.T) {
	text := "CA 'mlx5_0'\n\tCA type: MT4129\n\tNumber of ports: 2\n\tFirmware version: 28.39.1002\n" +
		"\tPort 1:\n\t\tState: Down\n\t\tPhysical state: Polling\n\t\tRate: 10\n\t\tLink layer: InfiniBand\n" +
		"\tPort 2:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tLink layer: InfiniBand\n" +
		"CA 'mlx5_1'\n\tCA type: MT4125\n\tPort 1:\n\t\tState: Down\n\t\tPhysical state: Disabled\n\t\tRate: 40\n\t\tLink layer: Ethernet\n"
	s := new(health.State)
	if err := Read(s, "f", []byte(text)); err != nil || !Is([]byte(text)) {
		t.Fatal(err)
	}
	a, b := s.Part(health.NIC, "mlx5_0"), s.Part(health.NIC, "mlx5_1")
	if a.Text("state") != "Active" || a.Number("rate") != 400 || a.Text("physical") != "LinkUp" || a.Text("type") != "MT4129" ||
		b.Text("state") != "Down" || b.Number("rate") != 40 || b.Text("layer") != "Ethernet" {
		t.Errorf("%v %v", a.Text("state"), b.Text("state"))
	}
	if v, _ := a.Fact("rate"); v.From != "f:13" {
		t.Errorf("from %s", v.From)
	}
}

// TestStatus: ibstatus says the same of ports, in its own words.
func TestStatus(t *testing.T) {
	text := "Infiniband device 'mlx5_0' port 1 status:\n\tdefault gid:\t fe80::1\n\tbase lid:\t 0x0\n\tstate:\t\t 1: DOWN\n\tphys state:\t " +
		"3: Disabled\n\trate:\t\t 10 Gb/sec (4X SDR)\n\tlink_layer:\t Ethernet\n\n" +
		"Infiniband device 'mlx5_0' port 2 status:\n\tstate:\t\t 4: ACTIVE\n\tphys state:\t 5: LinkUp\n\trate:\t\t 400 Gb/sec (4X NDR)\n" +
		"\tlink_layer:\t InfiniBand\n\nInfiniband device 'mlx5_1' port 1 status:\n\tstate:\t\t 1: DOWN\n\trate:\t\t 40 Gb/sec (4X QDR)\n"
	s := new(health.State)
	if err := Read(s, "f", []byte(text)); err != nil || !Is([]byte(text)) {
		t.Fatal(err)
	}
	a, b := s.Part(health.NIC, "mlx5_0"), s.Part(health.NIC, "mlx5_1")
	if a.Text("state") != "Active" || a.Number("rate") != 400 || a.Text("physical") != "LinkUp" || a.Text("layer") != "InfiniBand" ||
		b.Text("state") != "Down" || b.Number("rate") != 40 {
		t.Errorf("%v %v %v", a.Text("state"), a.Number("rate"), b.Text("state"))
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"CA 'mlx5_0'\n\tRate: fast\n":                 `line 2: rate "fast" is no number of Gb/s`,
		"CA '" + strings.Repeat("x", 100) + "'\nPort": "line 1: ",
	} {
		if err := Read(new(health.State), "f", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("CA 'mlx5_0'\n\tPort 1:\n\t\tState: Active\n\t\tRate: 400\n"))
	f.Add([]byte("Infiniband device 'mlx5_0' port 1 status:\n\tstate:\t 4: ACTIVE\n\trate:\t 100 Gb/sec (4X EDR)\n"))
	f.Fuzz(func(_ *testing.T, data []byte) { _ = Read(new(health.State), "f", data) })
}

// What rdma-core writes of what it does stands before the adapters, as linux-rdma/rdma-core#847 shows.
func TestWarningsBeforeAdapters(t *testing.T) {
	const text = "ibwarn: [168988] umad_init: umad_init\nibwarn: [168988] umad_get_ca: ca_name mlx4_0\nCA 'mlx4_0'\n\tCA type: MT4099\n"
	s := &health.State{}
	if err := Read(s, "f", []byte(text)); err != nil || !Is([]byte(text)) || !s.Has(health.NIC, "mlx4_0") {
		t.Errorf("%v %+v", err, s)
	}
}
