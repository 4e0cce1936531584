// Package lspci reads what `lspci -vv` (pciutils) says of a machine's PCI devices: lanes and speed of their links, access control.
package lspci

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"railyard/interop/foreign"
	"railyard/model/health"
	"railyard/model/survey"

	"railyard/internal/lazy"
)

var (
	device    = lazy.Regexp(`^((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) (.+)$`)
	redirects = lazy.Regexp(`(SrcValid|ReqRedir|CmpltRedir)\+`)
	below     = lazy.Regexp(`\bsecondary=([0-9a-f]{2})\b`)
	link      = lazy.Regexp(`Speed ([0-9.]+)GT/s[^,]*, Width x([0-9]+)`)
)

// maxDevices bounds a machine.
const maxDevices = 1 << 14

// Is reports whether a file is what lspci -vv writes: devices, and below them what is known of them.
func Is(data []byte) bool {
	first, rest, _ := bytes.Cut(bytes.TrimLeft(data, "\r\n"), []byte("\n"))
	return device().Match(bytes.TrimRight(first, "\r")) && len(rest) > 0 && (rest[0] == '\t' || rest[0] == ' ')
}

// Read reads it.
func Read(s *health.State, file string, data []byte) error {
	r := &reader{state: s, file: file, ports: map[string]*health.Part{}}
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimRight(line, " \r")
		if m := device().FindStringSubmatch(line); m != nil {
			if r.devices++; r.devices > maxDevices {
				return foreign.At(i+1, "more than %d devices", maxDevices)
			}
			r.begin(i+1, m[1], m[2])
			continue
		}
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		r.value(i+1, key, strings.TrimSpace(value))
	}
	r.slots()
	return r.Err()
}

// slots says of each device what the port above it can: that of its slot, or of a switch.
func (r *reader) slots() {
	for _, p := range r.state.Parts(health.PCI) {
		port := r.ports[busOf(p.Name)]
		if port == nil {
			continue
		}
		for _, fact := range []string{"pcie_width", "pcie_gen"} {
			if v, ok := port.Fact(fact + "_max"); ok {
				r.state.Say(p, fact+"_slot", v.Is, v.From)
			}
		}
	}
}

// busOf is the bus of an address, 0000:21.
func busOf(address string) string { return address[:strings.LastIndexByte(address, ':')] }

// reader reads a file.
type reader struct {
	foreign.Mistakes
	state   *health.State
	file    string
	devices int
	at      *health.Part
	ports   map[string]*health.Part // by the bus below them
}

func (r *reader) say(line int, fact string, is any) {
	r.state.Say(r.at, fact, is, fmt.Sprintf("%s:%d", r.file, line))
}

func (r *reader) begin(line int, address, what string) {
	if strings.Count(address, ":") == 1 {
		address = "0000:" + address
	}
	r.at = r.state.Part(health.PCI, address)
	r.say(line, "device", what)
	r.say(line, "bridge", strings.HasPrefix(what, "PCI bridge"))
}

func (r *reader) value(line int, key, text string) {
	if r.at == nil {
		return
	}
	switch key {
	case "Bus":
		if m := below().FindStringSubmatch(text); m != nil && m[1] != "00" {
			domain, _, _ := strings.Cut(r.at.Name, ":")
			r.ports[domain+":"+m[1]] = r.at
		}
	case "LnkCap":
		r.link(line, text, "_max")
	case "LnkSta":
		r.link(line, text, "")
	case "NUMA node":
		n, err := strconv.Atoi(text)
		if err != nil || n < -1 || n > 1<<16 {
			r.Add(line, "NUMA node %.40q is no number", text)
			return
		}
		r.say(line, "numa", float64(n))
	case "ACSCtl":
		r.say(line, "acs", redirects().MatchString(text))
	}
}

// link reads "Port #0, Speed 32GT/s, Width x16, …", also with (ok) or (downgraded) behind the values.
func (r *reader) link(line int, text, suffix string) {
	m := link().FindStringSubmatch(text)
	if m == nil {
		return // a link that is not trained says "Speed unknown"
	}
	width, err := strconv.Atoi(m[2])
	speed, _ := strconv.ParseFloat(m[1], 64)
	gen := survey.PCIeGeneration(speed)
	if err != nil || width > 32 || gen == 0 {
		r.Add(line, "%.60q is no PCIe link", text)
		return
	}
	if width > 0 {
		r.say(line, "pcie_gen"+suffix, float64(gen))
		r.say(line, "pcie_width"+suffix, float64(width))
	}
}
