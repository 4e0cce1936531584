package main

import (
	"fmt"
	"railyard/model/measurement"
	"testing"
)

func TestZZ(t *testing.T) {
	v, _ := newValidator()
	c, err := v.leftOut(func(m measurement.Row) string { return fmt.Sprint(m.GPUs) })
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Rows {
		m := r.Measured
		if m.Launch == "graph" && m.Algo != "default" {
			fmt.Printf("Z %s/%s n=%d %d %.1f%% %.2f %.2f\n", m.Algo, m.Proto, m.GPUs, m.Size, 100*r.Error, m.Time.Microseconds(), r.Predicted.Time.Microseconds())
		}
	}
}
