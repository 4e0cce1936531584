package inspector

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"railyard/internal/lazy"
	"railyard/model/collective"
	"railyard/model/observed"
	"railyard/model/units"
)

// metrics collects pairs of samples: of a collective's bus bandwidth (GB/s, geometric mean) and of its time (µs, mean), with the same
// labels (inspector_prom.cc).
type metrics struct {
	at   map[string]int // by labels
	list []metric
}

type metric struct {
	call         observed.Call
	low, high    float64 // bytes between which the messages lie
	busBW, micro float64
}

var (
	sample    = lazy.Regexp(`^(\w+)\{(.*)\} (\S+)$`)
	label     = lazy.Regexp(`(\w+)="((?:[^"\\]|\\.)*)"`)
	sizeRange = lazy.Regexp(`^(\d+)(?:-(\d+))?(B|KB|MB|GB|TB)$`)
)

func (m *metrics) add(text string, place observed.Place) error {
	s := sample().FindStringSubmatch(text)
	if s == nil {
		return errors.New("neither a line of NCCL's Inspector nor one of its metrics")
	}
	if s[1] != "nccl_bus_bandwidth_gbs" && s[1] != "nccl_collective_exec_time_microseconds" {
		return nil // of messages
	}
	value, err := strconv.ParseFloat(s[3], 64)
	if err != nil || !(value >= 0 && value <= maxTime) {
		return fmt.Errorf("%s: %q is no bandwidth or time", s[1], s[3])
	}
	at, known := m.at[s[2]]
	if !known {
		x, err := parseLabels(s[2])
		if err != nil {
			return err
		}
		x.call.Place = place
		at = len(m.list)
		m.at[s[2]] = at
		m.list = append(m.list, x)
	}
	if s[1] == "nccl_bus_bandwidth_gbs" {
		m.list[at].busBW = value
	} else {
		m.list[at].micro = value
	}
	return nil
}

func parseLabels(text string) (metric, error) {
	labels := map[string]string{}
	for _, l := range label().FindAllStringSubmatch(text, -1) {
		labels[l[1]] = l[2]
	}
	kind, err := collective.Parse(labels["collective"])
	if err != nil {
		return metric{}, err
	}
	ranks, err1 := strconv.Atoi(labels["nranks"])
	nodes, err2 := strconv.Atoi(labels["n_nodes"])
	if err1 != nil || err2 != nil || ranks < 1 || ranks > maxRanks || nodes < 0 || nodes > ranks {
		return metric{}, fmt.Errorf("nranks %q, n_nodes %q", labels["nranks"], labels["n_nodes"])
	}
	x := metric{call: observed.Call{Group: labels["comm_name"], Rank: -1, Ranks: ranks, Nodes: nodes, Kind: kind, Seq: -1, Mean: true,
		Host: labels["node"]}}
	r := sizeRange().FindStringSubmatch(labels["message_size"])
	if r == nil {
		return x, fmt.Errorf("message_size %q: must be such as 4-5GB", labels["message_size"])
	}
	unit := map[string]float64{"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}[r[3]]
	low, _ := strconv.ParseFloat(r[1], 64)
	x.low, x.high = low*unit, (low+1)*unit
	if x.high > maxBytes {
		return x, fmt.Errorf("message_size %q: more than 1 TiB", labels["message_size"])
	}
	return x, nil
}

// calls are those of which the bandwidth is said. The size is what time and bandwidth say together, kept within its range; without a time,
// the least of the range, at which least bandwidth is expected: it is never called slow for want of a size.
func (m *metrics) calls() (out []observed.Call) {
	for i := range m.list {
		x := &m.list[i]
		factor := x.call.Kind.BusFactor(x.call.Ranks)
		if x.busBW == 0 || factor == 0 {
			continue
		}
		c := x.call
		low, high := observed.InTests(c.Kind, units.Bytes(x.low), c.Ranks), observed.InTests(c.Kind, units.Bytes(x.high), c.Ranks)
		bytes := math.Min(math.Max(x.busBW/factor*1e3*x.micro, float64(low)), float64(high))
		if x.micro == 0 {
			x.micro = bytes * factor / x.busBW / 1e3
		}
		if x.micro > 0 && x.micro <= maxTime {
			c.Size, c.Time = units.Bytes(bytes), units.FromMicroseconds(x.micro)
			out = append(out, c)
		}
	}
	return out
}
