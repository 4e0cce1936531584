package cluster

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

var lists = []struct{ list, want string }{
	{"", ""},
	{"n1", "n1"},
	{"a,b[1],c", "a b1 c"},
	{"n[1-3,07-09]", "n1 n2 n3 n07 n08 n09"},
	{"n[9-11]", "n9 n10 n11"},
	{"n[09-11]", "n09 n10 n11"},
	{"n[1-03]", "n1 n2 n3"},
	{"a[01-02]x[1-2]", "a01x1 a01x2 a02x1 a02x2"},
	{"n[1-2][3-4]", "n13 n14 n23 n24"},
	{"a[1-2],a[2-3]", "a1 a2 a2 a3"},
	{"n[099-101]-ib.x,m", "n099-ib.x n100-ib.x n101-ib.x m"},
}

func TestHostnames(t *testing.T) {
	for _, c := range lists {
		if got, err := Hostnames(c.list); err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, %v", c.list, got, err)
		}
	}
	for _, c := range []struct{ list, want string }{
		{"n[3-1]", "range 3-1 falls"},
		{"n[]", "is no number"},
		{"n[1", "[ without ]"},
		{"n1]", "is in no node's name"},
		{"n[1-2", "[ without ]"},
		{"n[a]", "is no number"},
		{"n[[1]]", "is no number"},
		{"n[+1-2]", "is no number"},
		{"n1,,n2", "a name is missing"},
		{"n 1", "is in no node's name"},
		{"n[0-99999999]", "more than 65536 nodes"},
		{"n[0-999]x[0-999]", "more than 65536 nodes"},
		{strings.Repeat("n[0-65535],", 2) + "x", "more than 65536 nodes"},
		{"n[0-99999999999999999999]", "is no number"},
	} {
		if got, err := Hostnames(c.list); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d nodes, %v; want %q", c.list, len(got), err, c.want)
		}
	}
}

// FuzzHostnames: whatever stands there, names are bounded, none is empty, and none has what a list is written with.
// Where Slurm is installed, its own reading of what both take is the same.
func FuzzHostnames(f *testing.F) {
	for _, c := range lists {
		f.Add(c.list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		got, err := Hostnames(list)
		if err != nil {
			return
		}
		if len(got) > maxNodes {
			t.Fatalf("%d nodes", len(got))
		}
		for _, name := range got {
			if name == "" || strings.ContainsAny(name, "[], ") {
				t.Fatalf("%q of %q", name, list)
			}
		}
	})
}

// TestSlurmAgrees holds lists against scontrol's reading of them. Slurm takes no suffix behind brackets.
func TestSlurmAgrees(t *testing.T) {
	if _, err := exec.LookPath("scontrol"); err != nil {
		t.Skip("no scontrol on this machine (Debian: apt-get install slurm-client)")
	}
	for _, c := range lists {
		if c.list == "" || strings.Contains(c.list, "]-") {
			continue
		}
		out, err := exec.Command("scontrol", "show", "hostnames", c.list).Output()
		if err != nil {
			t.Skipf("scontrol does not work here: %v", err)
		}
		if got, err := Hostnames(c.list); err != nil || !slices.Equal(got, strings.Fields(string(out))) {
			t.Errorf("%s: %v, %v; scontrol: %s", c.list, got, err, out)
		}
	}
}
