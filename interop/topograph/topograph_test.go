package topograph

import (
	"io"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/interop/interoptest"
	"railyard/model/survey"
)

const valid = `switches:
  S1:
    labels: {zone: a}
    switches: [S2, S3]
  S3:
blocks:
- switch: S2
  nodes: ["I[21-22]", "I25"]
  annotations: {accelerator.topology.test/domain: nvl2}
- switch: S3
  nodes: ["I[34-36]"]
`

var broken = []interoptest.Mistake{
	{"switches: [S2, S3]", "children: [S2, S3]", "unknown key \"children\""},
	{"- switch: S3", "- leaf: S3", "block: \"switch\" is missing"},
	{`"I[34-36]"`, `"I[34-"`, `"I[34-"`},
	{`"I[34-36]"`, `"I[34-35]", I21`, "node I21 is below two switches"},
	{"labels: {zone: a}", "name: S9", "switch S1 calls itself S9"},
	{"switches: [S2, S3]", "switches: [S1]", "form a ring"},
	{"switches: [S2, S3]", "switches: [[]]", "must be a list of names"},
}

func network(r io.Reader) (*survey.Network, error) {
	m, err := Read(r)
	if err != nil {
		return nil, err
	}
	return m.Network(&survey.Network{Name: "x", Source: "a test"}, 1)
}

// TestRead: a leaf of which nothing is said, and one that is only named, hold their nodes.
func TestRead(t *testing.T) {
	n, err := network(strings.NewReader(valid))
	if err != nil || len(n.Leaves) != 2 || n.Leaves[0][2] != "I25" || len(n.Levels) != 2 ||
		!strings.Contains(strings.Join(n.Notes, " "), "share NVSwitches") {
		t.Errorf("%+v %v", n, err)
	}
	interoptest.Mistakes(t, valid, broken, func(r io.Reader) error { _, err := network(r); return err })
}

func FuzzRead(f *testing.F) {
	interoptest.Fuzz(f, valid, broken, func(t *testing.T, r io.Reader) {
		if n, err := network(r); err == nil {
			interoptest.Topology(t, n)
		}
	})
}
