package survey

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"railyard/model/topology"
	"railyard/model/units"
)

// Rack is hosts whose GPUs are on the same NVSwitches, which no host sees (multi-node NVLink).
type Rack struct {
	Name, Source string
	Hosts        []*Node
	Notes        []string
}

// Write describes the rack as a topology file: hosts that are equal share a template. The same hosts and date give the same bytes.
func (r *Rack) Write(w io.Writer, date time.Time) error {
	links, class, err := r.links()
	if err != nil {
		return err
	}
	var machines []*machine
	for _, h := range r.Hosts {
		own := *h
		own.GPUs = slices.Clone(h.GPUs)
		for i := range own.GPUs {
			own.GPUs[i].Ports = slices.DeleteFunc(slices.Clone(own.GPUs[i].Ports), shared)
		}
		m, err := draw(&own)
		if err != nil {
			return err
		}
		machines = append(machines, m)
	}
	f := &file{machine: machines[0], date: date.Format(time.DateOnly)}
	f.line("# which NVSwitches there are is not visible: one is drawn for each NVLink of a GPU, and no network for the adapters")
	for _, n := range notesOf(r.Notes, machines) {
		f.line("%s", comment(n))
	}
	f.line("schema: %s\nname: %s", topology.Schema, r.Name)
	f.line("description: %q", fmt.Sprintf("%s of %d × %s", units.Counted(len(r.Hosts), "host"), len(f.GPUs), f.GPUs[0].Name))
	f.line("source: %q\ndate: %s", r.Source, f.date)
	if p := profile(&r.Hosts[0].GPUs[0], true); p != "" {
		f.line("profile: %s", p)
	}
	machines[0].class(class)
	f.constants(machines...)
	model := fmt.Sprintf("nvswitch_sm%d", f.GPUs[0].Major)
	f.switchModel(model)
	f.templates(machines)
	f.line("fabrics:\n  - name: nvlink\n    endpoints: gpu\n    class: %s\n    levels:", class.Name)
	f.line("      - {kind: nvswitch, model: %s, planes: %d, group: %d}", model, links, len(machines))
	_, err = io.WriteString(w, f.b.String())
	return err
}

// shared reports whether a port is at a switch that its host does not see.
func shared(p Port) bool { return p.Up && p.End == EndSwitch && p.Bus == "" }

// links is how many NVLinks of each GPU are at switches that hosts share, the most of any; that others have fewer is noted.
func (r *Rack) links() (most int, class topology.Class, err error) {
	for k, h := range r.Hosts {
		for i := range h.GPUs {
			n := 0
			for _, p := range h.GPUs[i].Ports {
				if shared(p) {
					n++
				}
			}
			if n > most {
				most = n
				if class, err = linkClass(&h.GPUs[i], 0); err != nil {
					return 0, class, err
				}
			}
			if n < most {
				r.Notes = append(r.Notes, fmt.Sprintf("GPU %d of host %d has %d NVLinks, others %d: it is drawn like the others",
					i, k, n, most))
			}
		}
	}
	if most == 0 {
		return 0, class, fmt.Errorf("%d hosts whose GPUs share no NVSwitches: give the file that one host writes alone", len(r.Hosts))
	}
	return most, class, nil
}

// notesOf are the notes of all machines, each once.
func notesOf(notes []string, machines []*machine) []string {
	for _, m := range machines {
		notes = append(notes, m.notes...)
	}
	var out []string
	for _, n := range notes {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// templates are the types of hosts, and which hosts are of each.
func (f *file) templates(machines []*machine) {
	var texts []string
	var of []int // the template of each host
	for _, m := range machines {
		part := &file{machine: m, indent: "    "}
		part.bare = true
		part.parts()
		at := slices.Index(texts, part.b.String())
		if at < 0 {
			at, texts = len(texts), append(texts, part.b.String())
		}
		of = append(of, at)
	}
	f.line("templates:")
	for i, text := range texts {
		f.line("  type%d:\n%s", i, strings.TrimSuffix(text, "\n"))
	}
	f.line("nodes:")
	for from := 0; from < len(of); {
		to := from + 1
		for to < len(of) && of[to] == of[from] {
			to++
		}
		f.line("  - {template: type%d, name: \"host[%s]\"}", of[from], units.Ranges(upTo(from, to), ","))
		from = to
	}
}

func upTo(from, to int) (out []int) {
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}
