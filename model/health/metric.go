package health

import "strings"

// baseUnits are units of facts in metrics, whose units are base units (https://prometheus.io/docs/practices/naming), and what a value is
// multiplied by. Counts have none.
var baseUnits = map[string]struct {
	name  string
	scale float64
}{"": {"", 1}, "bytes": {"bytes", 1}, "s": {"timestamp_seconds", 1}, "%": {"ratio", 0.01}, "share": {"ratio", 1}, "W": {"watts", 1},
	"MHz": {"hertz", 1e6}, "GB/s": {"bytes_per_second", 1e9}, "Gb/s": {"bytes_per_second", 1e9 / 8}, "lanes": {"lanes", 1},
	"generation": {"generation", 1}}

// Metric is what a fact is called as a Prometheus metric, railyard_nvlink_sent_bytes_total, and the factor that makes its value one in
// base units. A text is no metric, nor a counter that goes round sooner than anybody asks for it: ok is false.
func (f Fact) Metric() (name string, scale float64, ok bool) {
	unit, known := baseUnits[f.Unit]
	if f.Type == Text || f.Wraps > 0 || !known {
		return "", 0, false
	}
	words := []string{"railyard", string(f.Of), f.Name}
	if unit.name != "" {
		words = append(words, unit.name)
	}
	if f.Counter {
		words = append(words, "total")
	}
	return strings.Join(words, "_"), unit.scale, true
}

// Labels are the names of the labels that tell parts of a kind apart in metrics.
func (k Kind) Labels() []string {
	return map[Kind][]string{GPU: {"gpu"}, NVLink: {"gpu", "port"}, NIC: {"device"}, Path: {"gpu", "device"}, PCI: {"address"},
		Variable: {"name"}, Process: {"pid"}, Graph: {"name"}}[k]
}

// LabelValues are a part's values of the labels of its kind, "" where its name lacks one.
func (p *Part) LabelValues() []string {
	labels := p.Kind.Labels()
	if len(labels) == 0 {
		return nil
	}
	values := strings.SplitN(p.Name, "/", len(labels))
	return append(values, make([]string, len(labels)-len(values))...)
}
