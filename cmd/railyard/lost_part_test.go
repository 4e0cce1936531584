package main

import (
	"railyard/capacity/step"
	"strings"
	"testing"
)

// A lost part stops the job where GPUs are lost or parted; whatever else is wrong is an error.
func TestOnlyLostGPUsStopTheJob(t *testing.T) {
	f := trainingFlags{Topo: topoFlags{Name: "dgx-h100", Nodes: 2}, Workload: "gpt-2-1.5b", Runtime: "nccl"}
	p, w, err := f.load()
	if err != nil {
		t.Fatal(err)
	}
	l, err := step.ParseLayout("dp16 zero1 mb1 gb16 full")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := step.Run(p, w, l, step.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, nic := range strings.Fields("nic0 nic1 nic2 nic3 nic4 nic5 nic6 nic7") {
		all = append(all, "nic:node1/"+nic)
	}
	for name, c := range map[string]struct {
		fail    []string
		profile string
		runs    bool
		wrong   string
	}{
		"a NIC":           {fail: all[:1], runs: true},
		"all NICs":        {fail: all},
		"a GPU":           {fail: []string{"gpu:node1/gpu0"}},
		"all nodes":       {fail: []string{"node:node0", "node:node1"}},
		"no such part":    {fail: []string{"nic:node7/nic0"}, wrong: "node7/nic0"},
		"no such machine": {fail: all[:1], profile: "nowhere", wrong: "nowhere"},
	} {
		left := f.Topo
		left.Fail = c.fail
		f.Profile.Name = c.profile
		kept, err := f.onWhatIsLeft(left, whole)
		if (kept != nil) != c.runs || c.runs && kept.Time < whole.Time || (err != nil) != (c.wrong != "") || err != nil &&
			!strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: runs %v, %v", name, kept != nil, err)
		}
		if _, err := left.load(); c.profile == "" && (err != nil && unlessUnreachable(err) != nil) != (c.wrong != "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
