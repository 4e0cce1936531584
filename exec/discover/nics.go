package discover

import (
	"strconv"
	"strings"

	"railyard/model/survey"
	"railyard/model/units"
)

// adapters are the RDMA adapters; where there are none, network cards on PCIe whose
// rate is known. Virtual functions whose adapter is there too are left out.
func (t tree) adapters() []survey.Adapter {
	var out []survey.Adapter
	for _, name := range t.names("sys/class/infiniband") {
		if a, ok := t.adapter("sys/class/infiniband", name); ok {
			a.Layer, a.Rate = t.rdmaPort(name)
			out = append(out, a)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, name := range t.names("sys/class/net") {
		rate := t.rate(name)
		if a, ok := t.adapter("sys/class/net", name); ok && rate > 0 {
			a.Layer, a.Rate = "eth", rate
			out = append(out, a)
		}
	}
	return out
}

func (t tree) adapter(class, name string) (survey.Adapter, bool) {
	path := t.busesBelow(class, name, "device")
	if len(path) == 0 || len(t.busesBelow(class, name, "device/physfn")) > 0 {
		return survey.Adapter{}, false
	}
	return survey.Adapter{Name: name, Bus: path[len(path)-1]}, true
}

// rate is an adapter's line rate as it is now: ports are trained anew. 0: it has none.
func (t tree) rate(name string) units.Rate {
	if _, rate := t.rdmaPort(name); rate > 0 {
		return rate
	}
	return units.Rate(max(t.number(0, "sys/class/net", name, "speed"), 0)) * 1e6 / 8
}

// rdmaPort reads the first port that has a rate, such as "400 Gb/sec (4X NDR)".
func (t tree) rdmaPort(name string) (layer string, rate units.Rate) {
	for _, port := range t.names("sys/class/infiniband", name, "ports") {
		dir := "sys/class/infiniband/" + name + "/ports/" + port
		number, _, _ := strings.Cut(t.text(dir, "rate"), " ")
		gbps, err := strconv.ParseFloat(number, 64)
		if err != nil || gbps <= 0 {
			continue
		}
		layer = "ib"
		if t.text(dir, "link_layer") == "Ethernet" {
			layer = "eth"
		}
		return layer, units.Rate(gbps * 1e9 / 8)
	}
	return "ib", 0
}
