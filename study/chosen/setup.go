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
	row := report.DoctorSetup{Count: 1, Ranks: c.Ranks, Nodes: c.Nodes, Network: c.Network, Channels: c.Channels, NVLS: c.NVLSChannels,
		Ways: ways(c), Rings: rings(c), Trees: trees(c)}
	alike := func(r report.DoctorSetup) bool {
		r.Count, r.Expected = 1, nil
		return r == row
	}
	if i := slices.IndexFunc(j.found.Setups, alike); i >= 0 {
		j.found.Setups[i].Count++
		return
	}
	row.Expected = expected
	j.found.Setups = append(j.found.Setups, row)
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

// list is each text behind how often it came.
func (t *tally) list() string {
	var out []string
	for _, text := range t.texts {
		out = append(out, fmt.Sprintf("%d %s", t.times[text], text))
	}
	return strings.Join(out, ", ")
}

// ways are the connections of a communicator by their transports.
func ways(c *observed.Comm) string {
	var t tally
	for i := range c.Ways {
		text := c.Ways[i].Transport()
		if c.Ways[i].GPUDirect() {
			text += "/GDRDMA"
		}
		t.add(text)
	}
	slices.Sort(t.texts)
	return t.list()
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
func rings(c *observed.Comm) string {
	var t tally
	for _, ring := range c.Rings {
		t.add("× " + cut(units.Ranges(ring, " ")))
	}
	return t.list()
}

// trees are a rank each with those below it in brackets, of the channels whose roots' logs are there.
func trees(c *observed.Comm) string {
	below := map[int]map[int][]int{} // by channel and rank
	for _, b := range c.Trees {
		if below[b.Channel] == nil {
			below[b.Channel] = map[int][]int{}
		}
		below[b.Channel][b.Rank] = b.Down
	}
	var t tally
	for _, root := range c.Trees {
		if root.Up < 0 {
			var b strings.Builder
			tree(&b, below[root.Channel], root.Rank)
			t.add("× " + cut(b.String()))
		}
	}
	return t.list()
}

// tree writes a rank and those below it until enough is written to be shown. It takes each rank out of the map where it comes, so that a
// log in which one is below itself ends too.
func tree(b *strings.Builder, below map[int][]int, rank int) {
	if b.Len() > longest {
		return
	}
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
