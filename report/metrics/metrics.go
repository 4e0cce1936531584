// Package metrics shows what a machine's links carry as metrics for Prometheus. Names follow from facts of model/health
// (railyard_nvlink_sent_bytes_total); the loads of links are gauges besides.
package metrics

import (
	"log"
	"net/http"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"railyard/model/health"
	"railyard/model/load"
)

// Page is a page of metrics. It shows what Set was told last: who reads it causes no sample to be taken.
type Page struct {
	last     atomic.Pointer[shown]
	registry *prometheus.Registry
}

type shown struct {
	measured *load.Measurement
	links    []load.Link
	hot      float64
}

// NewPage makes a page with this process's own metrics, by which one sees what watching costs, and nothing of the machine yet.
func NewPage() *Page {
	p := &Page{registry: prometheus.NewRegistry()}
	p.registry.MustRegister(p, collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewGoCollector())
	return p
}

// Set shows a measurement, the links of a topology that it stands for, and from which load on a link is hot.
func (p *Page) Set(m *load.Measurement, links []load.Link, hot float64) {
	p.last.Store(&shown{m, links, hot})
}

// ServeHTTP implements http.Handler.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	promhttp.HandlerFor(p.registry, promhttp.HandlerOpts{ErrorLog: log.Default()}).ServeHTTP(w, r)
}

// The gauges of loads, by what they are about: a port, as parts of its kind are told apart, or a link of the topology.
var (
	ofPorts    = map[health.Kind]gauges{}
	ofLinks    = newGauges("link", "link", []string{"link", "class"})
	ofInterval = prometheus.NewDesc("railyard_interval_seconds", "Time between the two samples that loads are from.", nil, nil)
)

// gauges are those of one thing.
type gauges struct{ sent, received, load, hot *prometheus.Desc }

func newGauges(of, noun string, labels []string) gauges {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("railyard_"+of+"_"+name, help, labels, nil)
	}
	g := gauges{load: desc("carried_ratio", "Share of its line rate in the last interval, in the busier direction of the "+noun+"."),
		hot: desc("hot", "1 where that share is one from which on the "+noun+" is hot.")}
	if of == "link" {
		g.sent = desc("carried_bytes_per_second", "Bytes a second that the link carried in the last interval.")
		return g
	}
	g.sent = desc("carried_sent_bytes_per_second", "Bytes a second that the "+noun+" sent in the last interval.")
	g.received = desc("carried_received_bytes_per_second", "Bytes a second that the "+noun+" received in the last interval.")
	return g
}

func init() {
	for kind, noun := range map[health.Kind]string{health.GPU: "GPU's PCIe", health.NVLink: "NVLink", health.NIC: "adapter"} {
		ofPorts[kind] = newGauges(string(kind), noun, kind.Labels())
	}
}

// Describe implements prometheus.Collector: it describes nothing, since which facts are known depends on the machine.
func (p *Page) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (p *Page) Collect(out chan<- prometheus.Metric) {
	s := p.last.Load()
	if s == nil {
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for _, kind := range health.Kinds {
		for _, f := range health.FactsOf(kind) {
			collectFact(out, f, s.measured.After.State.Parts(kind))
		}
	}
	for i := range s.measured.Ports {
		port := &s.measured.Ports[i]
		g, known := ofPorts[port.Part.Kind]
		if !known {
			continue // errors of what carries nothing
		}
		labels := port.Part.LabelValues()
		gauge(g.sent, port.Sent, labels...)
		gauge(g.received, port.Received, labels...)
		if port.Line > 0 {
			gauge(g.load, port.Load(), labels...)
			gauge(g.hot, number(port.Load() >= s.hot), labels...)
		}
	}
	for i := range s.links {
		l := &s.links[i]
		gauge(ofLinks.sent, l.Carry, l.Name, l.Class)
		gauge(ofLinks.load, l.Load(), l.Name, l.Class)
		gauge(ofLinks.hot, number(l.Load() >= s.hot), l.Name, l.Class)
	}
	gauge(ofInterval, s.measured.Took.Seconds())
}

// collectFact shows a fact of all parts of which it is known.
func collectFact(out chan<- prometheus.Metric, f health.Fact, parts []*health.Part) {
	name, scale, ok := f.Metric()
	if !ok {
		return
	}
	kind := prometheus.GaugeValue
	if f.Counter {
		kind = prometheus.CounterValue
	}
	d := prometheus.NewDesc(name, f.Of.Plural()+": "+f.Means+".", f.Of.Labels(), nil)
	for _, p := range parts {
		if v, known := p.Fact(f.Name); known {
			out <- prometheus.MustNewConstMetric(d, kind, asNumber(v.Is)*scale, p.LabelValues()...)
		}
	}
}

func asNumber(is any) float64 {
	switch x := is.(type) {
	case float64:
		return x
	case bool:
		return number(x)
	}
	return 0
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
