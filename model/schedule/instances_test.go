package schedule

import "testing"

// TestInstances: schedules stay right with each channel three times over.
func TestInstances(t *testing.T) {
	for _, c := range append(hierarchies(), everyGenerator(8)...) {
		many := c.s.Instances(3)
		if got, want := len(many.Channels), 3*len(c.s.Channels); got != want {
			t.Errorf("%s: %d channels, want %d", c.name, got, want)
		}
		if err := Check(many, nil); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
