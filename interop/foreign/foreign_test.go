package foreign

import (
	"bytes"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/collective"
)

func TestReadIsBounded(t *testing.T) {
	if data, err := Read(bytes.NewReader(make([]byte, 1<<20)), 1); err != nil || len(data) != 1<<20 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if _, err := Read(bytes.NewReader(make([]byte, 1<<20+1)), 1); err == nil {
		t.Error("more than 1 MiB")
	}
}

func TestMistakesAreBounded(t *testing.T) {
	var m Mistakes
	if m.Err() != nil {
		t.Error(m.Err())
	}
	for range 100 {
		m.Add(7, "x")
	}
	if n := strings.Count(m.Err().Error(), "line 7: x"); n != maxMistakes {
		t.Errorf("%d mistakes", n)
	}
}

func TestNames(t *testing.T) {
	n := Names{What: "files", List: []Name{{collective.ReduceScatter, "reducescatter"}, {collective.ReduceScatter, "reduce_scatter"},
		{collective.AllGather, "allgather"}}}
	for _, text := range []string{"reducescatter", "reduce_scatter"} {
		if k, err := n.Kind(text); err != nil || k != collective.ReduceScatter {
			t.Errorf("%v %v", k, err)
		}
	}
	if text, err := n.Of(collective.ReduceScatter); err != nil || text != "reducescatter" {
		t.Errorf("%s %v", text, err)
	}
	if _, err := n.Of(collective.Barrier); err == nil ||
		err.Error() != "files have no name for barrier: they hold reduce_scatter, all_gather" {
		t.Error(err)
	}
	if _, err := n.Kind("x"); err == nil || !strings.Contains(err.Error(), "one of reducescatter, reduce_scatter, allgather") {
		t.Error(err)
	}
}
