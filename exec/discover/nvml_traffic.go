//go:build cgo && linux

package discover

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"railyard/model/health"
	"railyard/model/survey"
)

// countedField is a counter of the driver, the fact that it is and its unit.
type countedField struct {
	id    uint32
	fact  string
	scale float64
}

// ofGPU and ofLink are what is counted of a GPU and of each NVLink of its that is up.
var (
	ofGPU = []countedField{{nvml.FI_DEV_PCIE_COUNT_TX_BYTES, "host_sent", 1}, {nvml.FI_DEV_PCIE_COUNT_RX_BYTES, "host_received", 1},
		{nvml.FI_DEV_PCIE_REPLAY_COUNTER, "pcie_replays", 1}}
	ofLink = []countedField{{nvml.FI_DEV_NVLINK_THROUGHPUT_DATA_TX, "sent", 1024}, {nvml.FI_DEV_NVLINK_THROUGHPUT_DATA_RX, "received",
		1024},
		{nvml.FI_DEV_NVLINK_ERROR_DL_REPLAY, "replays", 1}, {nvml.FI_DEV_NVLINK_ERROR_DL_RECOVERY, "recoveries", 1},
		{nvml.FI_DEV_NVLINK_ERROR_DL_CRC, "crc_errors", 1}}
)

// ofPCIe is how many of ofGPU go round soon, which stand first.
const ofPCIe = 2

// counter is a field that is asked for, and whose it is.
type counter struct {
	*countedField
	part string // "0/17"; "" for the GPU itself
}

// counters of a GPU, found out once, and anew when an NVLink came up or went down: how fast they are and where they lead does not move.
type counters struct {
	list   []counter
	fields []nvml.FieldValue
	ports  []survey.Port
	rate   float64 // of its PCIe, GB/s
	bus    string
}

func (l *library) countersOf(g int) (*counters, error) {
	for len(l.counters) < len(l.devices) {
		l.counters = append(l.counters, nil)
	}
	if l.counters[g] != nil {
		return l.counters[g], nil
	}
	var gpu survey.GPU
	if err := l.describe(&gpu, l.devices[g]); err != nil {
		return nil, fmt.Errorf("GPU %d: %w", g, err)
	}
	c := &counters{ports: gpu.Ports, rate: gpu.PCIe.Rate().GBps(), bus: gpu.Bus}
	ask := func(list []countedField, part string, scope int) {
		for i := range list {
			c.list = append(c.list, counter{&list[i], part})
			c.fields = append(c.fields, nvml.FieldValue{FieldId: list[i].id, ScopeId: uint32(scope)})
		}
	}
	ask(ofGPU, "", 0)
	for port, p := range c.ports {
		if p.Up {
			ask(ofLink, health.LinkName(g, port), port)
		}
	}
	l.counters[g] = c
	return c, nil
}

// Count implements Library: one call of the driver for all counters of a GPU. What a GPU or a driver does not count stays unknown, a GPU
// that is lost is noted; that all are is an error.
func (l *library) Count(s *health.State) error { return l.each(s, l.count) }

// Recount implements Library.
func (l *library) Recount(s *health.State) error {
	return l.each(s, func(s *health.State, g int) error {
		c, err := l.countersOf(g)
		if err != nil {
			return err
		}
		return l.read(s, g, c, ofPCIe)
	})
}

// each counts of all GPUs.
func (l *library) each(s *health.State, count func(s *health.State, g int) error) error {
	var lost []error
	for g := range l.devices {
		if err := count(s, g); err != nil {
			lost = append(lost, err)
			s.Note("%v", err)
		}
	}
	if len(lost) == len(l.devices) {
		return errors.Join(lost...)
	}
	return nil
}

// read asks for the first counters of a GPU in one call.
func (l *library) read(s *health.State, g int, c *counters, first int) error {
	if ret := l.devices[g].GetFieldValues(c.fields[:first]); ret != nvml.SUCCESS {
		return failed(fmt.Sprintf("GPU %d: counters", g), ret)
	}
	for i, x := range c.list[:first] {
		part := s.GPU(g)
		if x.part != "" {
			part = s.Part(health.NVLink, x.part)
		}
		if nvml.Return(c.fields[i].NvmlReturn) == nvml.SUCCESS {
			s.Say(part, x.fact, float64(number(c.fields[i]))*x.scale, nvmlName)
		}
	}
	return nil
}

func (l *library) count(s *health.State, g int) error {
	c, err := l.countersOf(g)
	if err != nil {
		return err
	}
	if err := l.read(s, g, c, len(c.fields)); err != nil {
		return err
	}
	s.Say(s.GPU(g), "bus", c.bus, nvmlName)
	if c.rate > 0 {
		s.Say(s.GPU(g), "pcie_rate", c.rate, nvmlName)
	}
	for port, p := range c.ports {
		if state, ret := l.devices[g].GetNvLinkState(port); ret == nvml.SUCCESS && p.Up != (state == nvml.FEATURE_ENABLED) {
			p.Up = !p.Up
			l.counters[g] = nil // found out anew next time: a link that came up counts
		}
		sayPort(s, s.Part(health.NVLink, health.LinkName(g, port)), p)
	}
	v := vitals{l, l.devices[g], s, s.GPU(g)}
	v.busy()
	return nil
}

func sayPort(s *health.State, part *health.Part, p survey.Port) {
	s.Say(part, "up", p.Up, nvmlName)
	if p.Up && p.Raw > 0 {
		s.Say(part, "rate", p.Raw.GBps(), nvmlName)
	}
	if p.Up && p.Bus != "" {
		s.Say(part, "to", p.Bus, nvmlName)
	}
}

// field is a number that the driver knows about a port, 0 where it does not.
func field(d nvml.Device, id uint32, port int) uint64 {
	values := []nvml.FieldValue{{FieldId: id, ScopeId: uint32(port)}}
	if d.GetFieldValues(values) != nvml.SUCCESS || nvml.Return(values[0].NvmlReturn) != nvml.SUCCESS {
		return 0
	}
	return number(values[0])
}

// number is a field's value; unsigned 32-bit ones fill half of the union.
func number(v nvml.FieldValue) uint64 {
	if nvml.ValueType(v.ValueType) == nvml.VALUE_TYPE_UNSIGNED_INT {
		return uint64(binary.NativeEndian.Uint32(v.Value[:]))
	}
	return binary.NativeEndian.Uint64(v.Value[:])
}
