package survey

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"railyard/model/topology"
	"railyard/model/units"
)

// Write describes the node as a topology file. The same node and date give the same bytes. What is
// assumed or left out stands in comments at the top.
func (n *Node) Write(w io.Writer, date time.Time) error {
	m, err := draw(n)
	if err != nil {
		return err
	}
	f := &file{machine: m, date: date.Format(time.DateOnly)}
	f.head()
	f.constants(m)
	f.parts()
	_, err = io.WriteString(w, f.b.String())
	return err
}

// file writes a machine.
type file struct {
	*machine
	b      strings.Builder
	date   string
	indent string // before each line
	bare   bool   // without remarks on parts, so that equal machines read the same
}

// line writes a line. Names that others gave may hold what YAML does not, such as broken UTF-8 and control characters.
func (f *file) line(format string, args ...any) {
	f.b.WriteString(strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, f.indent+fmt.Sprintf(format+"\n", args...)))
}

// comment is a text as a comment of one line: names that others gave may hold line ends.
func comment(text string) string { return "# " + strings.Join(strings.Fields(text), " ") }

func (f *file) head() {
	for _, n := range f.notes {
		f.line("%s", comment(n))
	}
	first := &f.GPUs[0]
	f.line("schema: %s\nname: %s", topology.Schema, f.Name)
	f.line("description: %q", fmt.Sprintf("%d × %s", len(f.GPUs), first.Name))
	f.line("source: %q\ndate: %s", f.Source, f.date)
	if p := profile(first, slices.ContainsFunc(first.Ports, func(p Port) bool { return p.Up })); p != "" {
		f.line("profile: %s", p)
	}
}

// constants are the classes and models of machines.
func (f *file) constants(of ...*machine) {
	f.line("classes:")
	seen := map[string]bool{}
	for _, m := range of {
		for _, c := range m.classes {
			if !seen[c.Name] {
				f.line("  %s: {medium: %v, rate: %s, latency: %v, source: %q, date: %s}", c.Name, c.Medium, exactRate(c.Rate), c.Latency,
					c.Source, c.Date)
			}
			seen[c.Name] = true
		}
	}
	f.line("models:")
	clear(seen)
	for _, m := range of {
		for i, d := range m.devices {
			if d.model == "" || seen[d.model] {
				continue
			}
			seen[d.model] = true
			switch d.kind {
			case topology.GPU:
				f.gpuModel(d.model, &m.GPUs[i], most(of, d.model))
			case topology.NVSwitch:
				f.switchModel(d.model)
			}
		}
	}
}

// most are the most ports that any GPU of a model has: some may have lost links.
func most(machines []*machine, model string) (ports int) {
	for _, m := range machines {
		for i := range m.GPUs {
			if modelName(m.GPUs[i].Name) == model {
				ports = max(ports, len(m.GPUs[i].Ports))
			}
		}
	}
	return ports
}

func (f *file) gpuModel(name string, g *GPU, ports int) {
	more := ""
	if ports > 0 {
		more = fmt.Sprintf("ports: %d, ", ports)
	}
	if g.Memory > 0 {
		more += fmt.Sprintf("memory: %d, ", int64(g.Memory))
	}
	f.line("  %s: {kind: gpu, %ssource: %q, date: %s}", name, more,
		fmt.Sprintf("%s: %s, %s", f.By, g.Name, cmp.Or(g.Arch, fmt.Sprintf("compute capability %d.%d", g.Major, g.Minor))), f.date)
}

// switchModel: NVSwitches of Hopper and later add up and copy in the switch (SHARP);
// whether a virtual machine that hides them may use that is not known.
func (f *file) switchModel(name string) {
	more := ""
	if f.GPUs[0].Major >= 9 && name != hiddenModel {
		more = "reduction: true, multicast: true, "
	}
	source := "NVSwitch of the GPUs' generation; from the third on with SHARP (Hot Chips 34)"
	if name == hiddenModel {
		source = "all NVSwitches of the machine"
	}
	f.line("  %s: {kind: nvswitch, %ssource: %q, date: %s}", name, more, source, read)
}

func (f *file) parts() {
	f.line("devices:")
	for i := 0; i < len(f.devices); {
		j := i + 1
		for j < len(f.devices) && sameLine(f.devices[i], f.devices[j]) {
			j++
		}
		f.group(f.devices[i:j])
		i = j
	}
	f.line("links:")
	for i := 0; i < len(f.links); {
		j := i + 1
		for j < len(f.links) && f.together(f.links[i], f.links[j]) {
			j++
		}
		f.rule(f.links[i:j])
		i = j
	}
}

// sameLine reports whether devices share a line.
func sameLine(a, b part) bool {
	return a.kind == b.kind && a.model == b.model && a.noP2P == b.noP2P && a.root == b.root && a.cpus == b.cpus &&
		a.serves == "" && b.serves == ""
}

func (f *file) group(list []part) {
	var notes []string
	for _, d := range list {
		if d.note != "" && !f.bare {
			notes = append(notes, d.note)
		}
	}
	p := list[0]
	more := ""
	if p.model != "" {
		more += ", model: " + p.model
	}
	if p.noP2P {
		more += ", p2p: false"
	}
	if p.root != "" {
		more += fmt.Sprintf(", root: %q", p.root)
	}
	if p.cpus != "" {
		more += fmt.Sprintf(", cpus: %q", p.cpus)
	}
	if p.serves != "" {
		more += fmt.Sprintf(", serves: %q", p.serves)
	}
	remark := ""
	if len(notes) > 0 {
		remark = "   " + comment(strings.Join(notes, " "))
	}
	f.line("  - {id: %q, kind: %v%s}%s", ids(list), p.kind, more, remark)
}

// together reports whether links share a line: to the same device, equally many, from
// devices of one kind.
func (f *file) together(a, b link) bool {
	return a.to == b.to && a.class == b.class && a.count == b.count && f.devices[a.from].kind == f.devices[b.from].kind
}

func (f *file) rule(list []link) {
	from := make([]part, len(list))
	for i, l := range list {
		from[i] = f.devices[l.from]
	}
	l := list[0]
	count := ""
	if l.count > 1 {
		count = fmt.Sprintf(", count: %d", l.count)
	}
	f.line("  - {from: %q, to: %s, class: %s%s}", ids(from), f.devices[l.to].id, l.class, count)
}

// ids writes ids of one kind as a pattern, gpu[0-3,6].
func ids(list []part) string {
	stem := strings.TrimRight(list[0].id, "0123456789")
	numbers := make([]int, len(list))
	for i, p := range list {
		numbers[i], _ = strconv.Atoi(p.id[len(stem):])
	}
	return span(stem, numbers)
}

// span writes ascending numbers as a pattern.
func span(stem string, numbers []int) string {
	if len(numbers) == 1 {
		return stem + strconv.Itoa(numbers[0])
	}
	return stem + "[" + units.Ranges(numbers, ",") + "]"
}

// exactRate writes a rate without rounding.
func exactRate(r units.Rate) string {
	return strconv.FormatFloat(float64(r)/1e9, 'f', -1, 64) + "GB/s"
}
