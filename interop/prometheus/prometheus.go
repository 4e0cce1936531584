// Package prometheus reads what exporters for Prometheus say of a machine, as facts of model/health: `railyard watch` itself, and
// node_exporter's counters of network adapters. The text is a page of metrics as curl fetches it.
package prometheus

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"railyard/internal/lazy"
	"railyard/model/health"
)

var head = lazy.Regexp(`(?m)^# (HELP|TYPE) (railyard|node)_`)

// Is reports whether a file is such a page.
func Is(data []byte) bool { return head().Match(data) }

// fact is what a metric says, and what its value is divided by.
type fact struct {
	of    health.Kind
	name  string
	scale float64
}

// foreign are node_exporter's metrics, by the label device (https://github.com/prometheus/node_exporter, collectors infiniband, netdev,
// time).
var foreign = map[string]fact{
	"node_time_seconds": {health.Host, "sampled", 1},
	"node_infiniband_port_data_transmitted_bytes_total":     {health.NIC, "sent", 1},
	"node_infiniband_port_data_received_bytes_total":        {health.NIC, "received", 1},
	"node_infiniband_port_discards_transmitted_total":       {health.NIC, "discards", 1},
	"node_infiniband_port_errors_received_total":            {health.NIC, "errors_received", 1},
	"node_infiniband_symbol_error_total":                    {health.NIC, "symbol_errors", 1},
	"node_infiniband_link_error_recovery_total":             {health.NIC, "recoveries", 1},
	"node_infiniband_link_downed_total":                     {health.NIC, "link_downed", 1},
	"node_infiniband_local_link_integrity_errors_total":     {health.NIC, "integrity_errors", 1},
	"node_infiniband_excessive_buffer_overrun_errors_total": {health.NIC, "overruns", 1},
	"node_infiniband_rate_bytes_per_second":                 {health.NIC, "rate", 1e9 / 8},
	"node_network_transmit_bytes_total":                     {health.NIC, "sent", 1},
	"node_network_receive_bytes_total":                      {health.NIC, "received", 1},
	"node_network_transmit_errs_total":                      {health.NIC, "errors_sent", 1},
	"node_network_receive_errs_total":                       {health.NIC, "errors_received", 1},
	"node_network_transmit_drop_total":                      {health.NIC, "discards", 1},
	"node_network_speed_bytes":                              {health.NIC, "rate", 1e9 / 8},
}

// metrics are all that are read, by name: railyard's own by the rule that names them.
func metrics() map[string]fact {
	out := maps.Clone(foreign)
	for _, kind := range health.Kinds {
		for _, f := range health.FactsOf(kind) {
			if name, scale, ok := f.Metric(); ok {
				out[name] = fact{kind, f.Name, scale}
			}
		}
	}
	return out
}

// quoted are lines of metrics whose names are in quotes, as none that are read is. Without a name the parser panics (`{}=`).
var quoted = lazy.Regexp(`(?m)^[ \t]*\{.*$`)

// Read reads a page. Others' metrics are passed over; network cards of node_exporter are read where it knows no InfiniBand device, as
// they would count the same bytes twice, and only those whose rate it knows.
func Read(s *health.State, file string, data []byte) error {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(quoted().ReplaceAll(data, nil)))
	if err != nil {
		return err
	}
	cards := families["node_infiniband_port_data_transmitted_bytes_total"] == nil
	paced := map[string]bool{}
	for _, m := range families["node_network_speed_bytes"].GetMetric() {
		paced[label(m, "device")] = value(m) > 0 && !math.IsInf(value(m), 0)
	}
	all := metrics()
	for _, name := range slices.Sorted(maps.Keys(all)) { // of two that say the same, the first is believed
		f, card := all[name], strings.HasPrefix(name, "node_network_")
		if card && !cards {
			continue
		}
		for _, m := range families[name].GetMetric() {
			if card && !paced[label(m, "device")] {
				continue
			}
			if err := say(s, f, m, file, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// say says a sample's fact.
func say(s *health.State, f fact, m *dto.Metric, file, metric string) error {
	var words []string
	for _, l := range f.of.Labels() {
		words = append(words, label(m, l))
		if words[len(words)-1] == "" {
			return fmt.Errorf("%s has no label %q", metric, l)
		}
	}
	x := value(m) / f.scale
	if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		return fmt.Errorf("%s: %v is no value of a counter or a rate", metric, x)
	}
	var is any = x
	if known, _ := health.FactOf(f.of, f.name); known.Type == health.YesNo {
		is = x != 0
	}
	s.Say(s.Part(f.of, strings.Join(words, "/")), f.name, is, file)
	return nil
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

func value(m *dto.Metric) float64 {
	return m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
}
