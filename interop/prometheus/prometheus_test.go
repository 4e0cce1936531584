package prometheus

import (
	"strings"
	"testing"

	_ "railyard/internal/long"
	"railyard/model/health"
)

// page is of node_exporter 1.8 on a node with an InfiniBand adapter and a network card, shortened.
const page = `# HELP node_infiniband_port_data_received_bytes_total Number of data octets received on all links
# TYPE node_infiniband_port_data_received_bytes_total counter
node_infiniband_port_data_received_bytes_total{device="mlx5_0",port="1"} 1.8527668e+07
# HELP node_infiniband_port_data_transmitted_bytes_total Number of data octets transmitted on all links
# TYPE node_infiniband_port_data_transmitted_bytes_total counter
node_infiniband_port_data_transmitted_bytes_total{device="mlx5_0",port="1"} 1.493376e+07
# HELP node_infiniband_rate_bytes_per_second Maximum signal transfer rate
# TYPE node_infiniband_rate_bytes_per_second gauge
node_infiniband_rate_bytes_per_second{device="mlx5_0",port="1"} 5e+10
# HELP node_infiniband_symbol_error_total Number of minor link errors detected on one or more physical lanes.
# TYPE node_infiniband_symbol_error_total counter
node_infiniband_symbol_error_total{device="mlx5_0",port="1"} 2
# HELP node_network_speed_bytes Network device property: speed_bytes
# TYPE node_network_speed_bytes gauge
node_network_speed_bytes{device="eth0"} 1.25e+09
node_network_speed_bytes{device="veth1"} -125000
# HELP node_network_transmit_bytes_total Network device statistic transmit_bytes.
# TYPE node_network_transmit_bytes_total counter
node_network_transmit_bytes_total{device="eth0"} 77
node_network_transmit_bytes_total{device="veth1"} 78
# HELP node_time_seconds System time in seconds since epoch (1970).
# TYPE node_time_seconds gauge
node_time_seconds 1.7639e+09
`

// TestNodeExporter: its InfiniBand counters are read, and its cards where it has none, those whose rate is known.
func TestNodeExporter(t *testing.T) {
	if !Is([]byte(page)) {
		t.Error("it is not known")
	}
	var s health.State
	if err := Read(&s, "a.prom", []byte(page)); err != nil {
		t.Fatal(err)
	}
	p := s.Part(health.NIC, "mlx5_0")
	for fact, want := range map[string]float64{"sent": 14933760, "received": 18527668, "rate": 400, "symbol_errors": 2} {
		if got := p.Number(fact); got != want {
			t.Errorf("%s: %v, want %v", fact, got, want)
		}
	}
	if s.Host().Number("sampled") != 1.7639e9 || len(s.Parts(health.NIC)) != 1 {
		t.Errorf("%v", s.Parts(health.NIC))
	}
	s = health.State{} // a page of both: node_exporter's comes first
	both := "railyard_nic_symbol_errors_total{device=\"mlx5_0\"} 3\n" + page
	if err := Read(&s, "a.prom", []byte(both)); err != nil || s.Part(health.NIC, "mlx5_0").Number("symbol_errors") != 2 {
		t.Errorf("%v, %v", s.Parts(health.NIC)[0], err)
	}
	s = health.State{}
	if err := Read(&s, "a.prom", []byte(page[strings.Index(page, "# HELP node_network_speed"):])); err != nil {
		t.Fatal(err)
	}
	if list := s.Parts(health.NIC); len(list) != 1 || list[0].Name != "eth0" || list[0].Number("sent") != 77 ||
		list[0].Number("rate") != 10 {
		t.Errorf("%v", list)
	}
}

// TestHostile: what is no such page, or has values that no counter has, is an error.
func TestHostile(t *testing.T) {
	for text, want := range map[string]string{
		"railyard_gpu_pcie_replays_total{gpu=\"0\"} x\n":   "line 1",
		"railyard_gpu_pcie_replays_total{gpu=\"0\"} NaN\n": "no value of a counter",
		"railyard_gpu_pcie_replays_total{gpu=\"0\"} -1\n":  "no value of a counter",
		"railyard_gpu_pcie_replays_total 1\n":              `has no label "gpu"`,
	} {
		var s health.State
		if err := Read(&s, "a.prom", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzRead: whatever a page holds, it is read or refused.
func FuzzRead(f *testing.F) {
	f.Add([]byte(page))
	f.Add([]byte("# TYPE railyard_nvlink_sent_bytes_total counter\nrailyard_nvlink_sent_bytes_total{gpu=\"0\",port=\"1\"} 1\n"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		var s health.State
		_ = Read(&s, "a.prom", data)
	})
}
