package smitopo

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"railyard/interop/interoptest"
	"railyard/model/health"
)

const accessText = "$ nvidia-smi topo -p2p r\n\x1b[4m \tGPU0\tGPU1\tGPU2\t\x1b[0m\n GPU0\tX\tOK\tCNS\t\n GPU1\tOK\tX\tU\t\n GPU2\tCNS\tTNS\tX\n" +
	"\nLegend:\n\n  X    = Self\n  OK   = Status Ok\n"

var brokenAccess = []interoptest.Mistake{
	{" GPU1\tOK\tX\tU\t\n", "", "line 4: GPU2 is not row 2 of a matrix of 3 GPUs"},
	{" GPU2\tCNS\tTNS\tX\n", "", "2 rows of 3 GPUs: the text is cut off"},
	{"OK\tX\tU", "OK\tX", "line 4: GPU1 is not row 2"},
	{"OK\tX\tU", "OK\tU\tX", "line 4: GPU1 is not row 2"},
	{"Legend:", accessText, "line 9: GPU0 is not row 4"},
}

// A GPU reaches those that it says OK of; where something is not known, nothing is said.
func TestReadAccess(t *testing.T) {
	var s health.State
	if err := ReadAccess(&s, "f", []byte(accessText)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range 3 {
		v, known := s.GPU(i).Fact("peers_reached")
		got = append(got, fmt.Sprint(v.Is, known))
	}
	if want := "[1 true <nil> false 0 true]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "f does not say which capability") {
		t.Errorf("%q", s.Notes)
	}
	if !IsAccess([]byte(accessText)) || IsAccess([]byte(valid)) || IsAccess([]byte("GPU0\tX\n")) {
		t.Error("taken for another matrix")
	}
	interoptest.Mistakes(t, accessText, brokenAccess, func(r io.Reader) error { return readAccess(r) })
}

func readAccess(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return ReadAccess(new(health.State), "f", data)
}

func FuzzReadAccess(f *testing.F) {
	interoptest.Fuzz(f, accessText, brokenAccess, func(t *testing.T, r io.Reader) {
		if err := readAccess(r); err != nil && strings.Contains(err.Error(), "\n") {
			t.Error(err)
		}
	})
}
