package health

import (
	"testing"

	_ "railyard/internal/long" // accepts -long
)

// The first source is believed; that another one differs is said, once, unless the fact changes while the machine works.
func TestSourcesThatDiffer(t *testing.T) {
	var s State
	p := s.GPU(0)
	for range 2 {
		s.Say(p, "pcie_width", 16.0, "a:1")
		s.Say(p, "pcie_width", 8.0, "b:2")
		s.Say(p, "clock", 345.0, "a:3")
		s.Say(p, "clock", 1980.0, "b:3")
	}
	if p.Number("pcie_width") != 16 || len(s.Notes) != 1 ||
		s.Notes[0] != "GPU 0: pcie_width is 16 in a:1 and 8 in b:2: the first is believed" {
		t.Errorf("%v, %q", p.Number("pcie_width"), s.Notes)
	}
}

// TestTwoMachines: sources that differ in what no two machines have alike are said to be of two, once for two files.
func TestTwoMachines(t *testing.T) {
	var s State
	for gpu, uuids := range map[int][2]string{0: {"GPU-1", "GPU-7"}, 1: {"GPU-2", "GPU-8"}} {
		s.Say(s.GPU(gpu), "uuid", uuids[0], "a.xml:1")
		s.Say(s.GPU(gpu), "uuid", uuids[1], "b.txt:2")
	}
	if len(s.Notes) != 1 ||
		s.Notes[0] != "a.xml and b.txt are of two machines, by the uuid of their GPUs: give what one machine says alone" {
		t.Errorf("%q", s.Notes)
	}
}

func TestPartsAreInTheOrderOfTheirNumbers(t *testing.T) {
	var s State
	for _, name := range []string{"10/2", "2/17", "2/9", "10/10", "0/0"} {
		s.Part(NVLink, name)
	}
	want := []string{"0/0", "2/9", "2/17", "10/2", "10/10"}
	for i, p := range s.Parts(NVLink) {
		if p.Name != want[i] {
			t.Errorf("%d: %s, want %s", i, p.Name, want[i])
		}
	}
}

func TestWrongFactsPanic(t *testing.T) {
	var s State
	for name, say := range map[string]func(){
		"unknown": func() { s.Say(s.GPU(0), "colour", "red", "x") },
		"type":    func() { s.Say(s.GPU(0), "clock", "fast", "x") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			say()
		}()
	}
}
