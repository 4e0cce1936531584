package survey

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"railyard/model/topology"
	"railyard/model/units"
)

// Network is what is known of a network: nodes of one kind below leaves, and levels of switches above.
type Network struct {
	Name, Source string
	Leaves       [][]string // names of the nodes that share leaf switches, in order
	Levels       []Level    // the leaves', and those above them
	Adapters     int        // of each node
	Rails        int        // leaves that a node's adapters are spread over; adapter i is on leaf i mod Rails
	Rate         units.Rate // of a port
	RateSource   string
	Type         string // of the nodes: a shipped topology, or a file; "": only their adapters are known
	Notes        []string
}

// Level is a level of switches.
type Level struct {
	Group   []int // nodes (of the first level) or groups below that are joined, as Groups has them; nil: all
	Count   int   // switches of a group; 0: as many as are needed
	Uplinks int   // of each switch; 0: of the last level
}

// Groups are the sizes of groups as a topology file has them: the last number is also that of those behind it, and the last group may
// be smaller; nil: one group of all.
func Groups(sizes []int) []int {
	n := len(sizes)
	if n < 2 {
		return nil
	}
	out := slices.Clone(sizes[:n-1])
	if last := sizes[n-1]; last > out[n-2] {
		return append(out, last)
	}
	for len(out) > 1 && out[len(out)-1] == out[len(out)-2] {
		out = out[:len(out)-1]
	}
	return out
}

// kinds of the levels, from the leaves on.
var levelKinds = []topology.Kind{topology.Leaf, topology.Spine, topology.Core}

// Write describes the network as a topology file.
func (n *Network) Write(w io.Writer, date time.Time) error {
	if len(n.Levels) > len(levelKinds) {
		return fmt.Errorf("%d levels of switches: a topology file has up to %d", len(n.Levels), len(levelKinds))
	}
	f := &file{machine: &machine{drawing: newDrawing(), Node: &Node{}}, date: date.Format(time.DateOnly)}
	patterns := n.patterns()
	for _, note := range n.Notes {
		f.line("%s", comment(note))
	}
	f.line("schema: %s\nname: %s\nsource: %q\ndate: %s", topology.Schema, n.Name, n.Source, f.date)
	f.line("classes:\n  %s: {medium: network, rate: %s, latency: %v, source: %q, date: %s}", networkName, exactRate(n.Rate), hopNetwork,
		n.RateSource+"; latency: assumption, 0.6us a hop with its share of switch and adapter", f.date)
	n.nodeType(f)
	f.line("nodes:")
	for _, pattern := range patterns {
		f.line("  - {template: node, name: %q}", pattern)
	}
	f.line("fabrics:\n  - name: network\n    endpoints: nic\n    rails: %d\n    class: %s\n    levels:", n.Rails, networkName)
	for i, l := range n.Levels {
		f.line("      - {kind: %v%s}", levelKinds[i], l.fields())
	}
	_, err := io.WriteString(w, f.b.String())
	return err
}

const networkName = "network"

func (l Level) fields() (s string) {
	switch len(l.Group) {
	case 0:
	case 1:
		s = fmt.Sprintf(", group: %d", l.Group[0])
	default:
		s = ", group: " + strings.ReplaceAll(fmt.Sprint(l.Group), " ", ", ")
	}
	for _, x := range []struct {
		key   string
		value int
	}{{"count", l.Count}, {"uplinks", l.Uplinks}} {
		if x.value > 0 {
			s += fmt.Sprintf(", %s: %d", x.key, x.value)
		}
	}
	return s
}

// nodeType is the nodes' type; where it is not known, a GPU for each adapter, which is said.
func (n *Network) nodeType(f *file) {
	if n.Type != "" {
		f.line("templates:\n  node: {use: %q}", n.Type)
		return
	}
	lanes := pcieClass(usual)
	f.line("  %s: {medium: pcie, rate: %s, latency: %v, source: %q, date: %s}", lanes.Name, exactRate(lanes.Rate), lanes.Latency,
		"assumption: "+lanes.Source, f.date)
	numbers := make([]int, n.Adapters)
	for i := range numbers {
		numbers[i] = i
	}
	all := span("", numbers)
	f.line("templates:\n  node:\n    devices:\n      - {id: %q, kind: gpu}\n      - {id: %q, kind: pcie_switch}\n"+
		"      - {id: %q, kind: nic, serves: %q}\n      - {id: cpu0, kind: cpu}\n    links:", "gpu"+all, "plx"+all, "nic"+all, "gpu"+all)
	for _, from := range []string{"gpu", "nic"} {
		f.line("      - {from: %q, to: %q, class: %s, how: each}", from+all, "plx"+all, lanes.Name)
	}
	f.line("      - {from: %q, to: cpu0, class: %s, how: all}", "plx"+all, lanes.Name)
}

// numbered is a name with the last number in it; topology files have ranges there.
var numbered = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_.-]*?)([0-9]{1,8})([A-Za-z_.-]*)$`)

// patterns are names as ranges of a topology file, in their order: node[01-04]-a. Names that it cannot have are changed, which is noted.
func (n *Network) patterns() (out []string) {
	var stem, tail, from, last string
	flush := func() {
		switch {
		case from == last && from != "":
			out = append(out, stem+"["+from+"]"+tail)
		case from != "":
			out = append(out, stem+"["+from+"-"+last+"]"+tail)
		}
	}
	names := slices.Concat(n.Leaves...)
	taken := map[string]bool{}
	for _, name := range names {
		taken[name] = true
	}
	for _, name := range names {
		m := numbered.FindStringSubmatch(n.renamed(name, taken))
		next := ""
		if i, err := strconv.Atoi(last); err == nil {
			next = fmt.Sprintf("%0*d", len(last), i+1)
		}
		if m[1] == stem && m[3] == tail && m[2] == next {
			last = m[2]
			continue
		}
		flush()
		stem, from, last, tail = m[1], m[2], m[2], m[3]
	}
	flush()
	return out
}

// renamed is a name as topology files have it: it begins with a letter and has a number in it. One that is changed is none of those taken,
// of which it is then one.
func (n *Network) renamed(name string, taken map[string]bool) string {
	as := strings.Map(func(r rune) rune {
		if r == '_' || r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if as == "" || as[0] == '.' || as[0] == '-' || as[0] >= '0' && as[0] <= '9' {
		as = "n" + as
	}
	if as == name && numbered.MatchString(as) {
		return as
	}
	stem := as
	for i := 0; taken[as] || !numbered.MatchString(as); i++ {
		as = stem + "-" + strconv.Itoa(i)
	}
	taken[as] = true
	n.note("node %q is called %s", name, as)
	return as
}

func (n *Network) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(n.Notes, text) {
		n.Notes = append(n.Notes, text)
	}
}
