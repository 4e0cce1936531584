// Package ibstat reads what ibstat, or ibstatus (infiniband-diags), says of a machine's adapters.
package ibstat

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"railyard/interop/foreign"
	"railyard/model/health"

	"railyard/internal/lazy"
)

// facts are what is read, by ibstat's words.
var facts = map[string]string{"CA type": "type", "Firmware version": "firmware", "State": "state", "Physical state": "physical",
	"Rate": "rate", "Link layer": "layer"}

// status are ibstatus's words for them.
var status = map[string]string{"state": "State", "phys state": "Physical state", "rate": "Rate", "link_layer": "Link layer"}

// port begins a port of ibstatus, whose adapter has a port line for each.
var port = lazy.Regexp(`^Infiniband device '([^']*)' port \d+ status:$`)

// Is reports whether a file is what either writes.
func Is(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	for bytes.HasPrefix(data, []byte("ibwarn: ")) { // where it was asked to say what it does
		_, rest, _ := bytes.Cut(data, []byte("\n"))
		data = bytes.TrimLeft(rest, " \t\r\n")
	}
	return bytes.HasPrefix(data, []byte("CA '")) || bytes.HasPrefix(data, []byte("Infiniband device '"))
}

// Read reads it. Of an adapter with several ports the first counts that is active, else the first.
func Read(s *health.State, file string, data []byte) error {
	r := &reader{state: s, file: file}
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if m := port().FindStringSubmatch(line); m != nil {
			if r.nic == nil || r.nic.Name != m[1] {
				r.begin(i+1, m[1])
			}
			r.ports++
			continue
		}
		switch name, quoted := strings.CutPrefix(line, "CA '"); {
		case quoted:
			r.begin(i+1, strings.TrimSuffix(name, "'"))
		case strings.HasPrefix(line, "Port ") && strings.HasSuffix(line, ":"):
			r.ports++
		default:
			key, value, _ := strings.Cut(line, ":")
			value = strings.TrimSpace(value)
			if of := status[key]; of != "" {
				if _, word, numbered := strings.Cut(value, ": "); numbered { // 4: ACTIVE, 5: LinkUp
					value = word
				}
				if key, value = of, strings.TrimSpace(value); key == "State" {
					value = value[:min(len(value), 1)] + strings.ToLower(value[min(len(value), 1):])
				}
			}
			r.value(i+1, key, value)
		}
	}
	return r.Err()
}

// reader reads a file.
type reader struct {
	foreign.Mistakes
	state *health.State
	file  string
	nic   *health.Part
	ports int  // of the adapter so far
	down  bool // its ports so far are not active
}

// maxName bounds how adapters are called.
const maxName = 64

func (r *reader) begin(line int, name string) {
	if name == "" || len(name) > maxName {
		r.Add(line, "%.70q is no adapter's name", name)
		r.nic = nil
		return
	}
	r.nic, r.ports, r.down = r.state.Part(health.NIC, name), 0, true
}

func (r *reader) value(line int, key, text string) {
	fact, ok := facts[key]
	if r.nic == nil || !ok {
		return
	}
	if key == "State" && r.ports > 1 && r.down && text == "Active" {
		for _, of := range []string{"state", "physical", "rate", "layer"} {
			r.nic.Remove(of)
		}
		r.ports = 1
	}
	if r.ports > 1 {
		return
	}
	from := fmt.Sprintf("%s:%d", r.file, line)
	if fact != "rate" {
		r.down = r.down && !(key == "State" && text == "Active")
		r.state.Say(r.nic, fact, text, from)
		return
	}
	number, _, _ := strings.Cut(text, " ")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n < 0 || n > 1e6 {
		r.Add(line, "rate %.40q is no number of Gb/s", text)
		return
	}
	r.state.Say(r.nic, fact, n, from)
}
