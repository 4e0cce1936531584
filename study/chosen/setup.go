package chosen

import (
	"fmt"
	"slices"
	"strings"

	"railyard/model/observed"
	"railyard/model/units"
	"railyard/report"
)

// setup notes what NCCL has set up for a communicator; those that are alike are counted.
func (j *judge) setup(c *observed.Comm, expected *int) {
	rings, trees := rings(c), trees(c)
	row := report.DoctorSetup{Count: 1, Ranks: c.Ranks, Nodes: c.Nodes, Network: c.Network, Channels: c.Channels, NVLS: c.NVLSChannels,
		Connections: connections(c), Rings: rings.list(cut), Trees: trees.list(cut), Expected: expected}
	whole := row // which is what is compared: orders that begin alike need not be
	whole.Rings, whole.Trees, whole.Expected = rings.list(strings.Clone), trees.list(strings.Clone), nil
	if i := slices.Index(j.setups, whole); i >= 0 {
		j.found.Setups[i].Count++
		return
	}
	j.setups, j.found.Setups = append(j.setups, whole), append(j.found.Setups, row)
}

// tally counts texts and lists them in the order in which they came.
type tally struct {
	texts []string
	times map[string]int
}

func (t *tally) add(text string) {
	if t.times == nil {
		t.times = map[string]int{}
	}
	if t.times[text] == 0 {
		t.texts = append(t.texts, text)
	}
	t.times[text]++
}

// list is each text, as it is shown, behind how often it came.
func (t tally) list(show func(string) string) string {
	var out []string
	for _, text := range t.texts {
		out = append(out, fmt.Sprintf("%d %s", t.times[text], show(text)))
	}
	return strings.Join(out, ", ")
}

// connections are the connections of a communicator by their transports.
func connections(c *observed.Comm) string {
	var t tally
	for i := range c.Connections {
		text := c.Connections[i].Transport()
		if c.Connections[i].GPUDirect() {
			text += "/GDRDMA"
		}
		t.add(text)
	}
	slices.Sort(t.texts)
	return t.list(strings.Clone)
}

// longest is how much of an order of ranks is shown.
const longest = 40

func cut(text string) string {
	if len(text) > longest {
		return text[:longest-len(" …")] + " …"
	}
	return text
}

// rings are the orders of ranks.
func rings(c *observed.Comm) (t tally) {
	for _, ring := range c.Rings {
		t.add("× " + units.Ranges(ring, " "))
	}
	return t
}

// trees are a rank each with those below it in brackets, of the channels whose roots' logs are there.
func trees(c *observed.Comm) (t tally) {
	below := map[int]map[int][]int{} // by channel and rank
	for _, b := range c.Trees {
		if below[b.Channel] == nil {
			below[b.Channel] = map[int][]int{}
		}
		below[b.Channel][b.Rank] = b.Down
	}
	for _, root := range c.Trees {
		if root.Up < 0 {
			var b strings.Builder
			tree(&b, below[root.Channel], root.Rank)
			t.add("× " + b.String())
		}
	}
	return t
}

// tree writes a rank and those below it. It takes each rank out of the map where it comes, so that a log in which one is below itself
// ends too.
func tree(b *strings.Builder, below map[int][]int, rank int) {
	fmt.Fprint(b, rank)
	down := below[rank]
	delete(below, rank)
	for i, d := range down {
		b.WriteString(map[bool]string{true: " (", false: " "}[i == 0])
		tree(b, below, d)
	}
	if len(down) > 0 {
		b.WriteString(")")
	}
}
