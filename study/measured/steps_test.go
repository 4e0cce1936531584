package measured_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"railyard/study/measured"
)

// TestPublishedStepsAreReadByName: columns in any order, unknown ones left out, mistakes with their line.
func TestPublishedStepsAreReadByName(t *testing.T) {
	files := fstest.MapFS{
		"a.csv": {Data: []byte("step_s,id,nodes,options,gpus,set\n1.5,x-1,2,--gpus 4,8,a=1;b=2\n")},
		"b.csv": {Data: []byte("step_s,id,nodes\n0,x-1,2\n")},
	}
	rows, err := measured.PublishedSteps(files, "a.csv")
	if err != nil || len(rows) != 1 {
		t.Fatalf("%v %v", rows, err)
	}
	if s := rows[0]; s.Seconds != 1.5 || s.Options.Nodes != 2 || s.Options.GPUs != 4 || len(s.Set) != 2 || s.Series() != "x" {
		t.Errorf("%+v", s)
	}
	if _, err := measured.PublishedSteps(files, "b.csv"); err == nil || !strings.Contains(err.Error(), "b.csv:2") {
		t.Errorf("a step of no time: %v", err)
	}
}
