package discover

import (
	"errors"
	"testing"

	"railyard/model/units"
)

// late is a library whose counters follow after a few readings.
type late struct {
	fake
	sent, shown units.Bytes
	failing     bool
}

func (l *late) Traffic() ([]Traffic, error) {
	if l.failing {
		return nil, errors.New("gone")
	}
	l.shown = min(l.sent, l.shown+10)
	return []Traffic{{GPU: 1, Port: 2, Sent: l.shown}}, nil
}

// TestMeterWaitsForCounters: late counters are waited for, readings follow one another.
func TestMeterWaitsForCounters(t *testing.T) {
	l := &late{}
	m, err := NewMeter(l)
	if err != nil {
		t.Fatal(err)
	}
	for _, more := range []units.Bytes{35, 20, 0} {
		l.sent += more
		moved, err := m.Moved()
		if err != nil || len(moved) != 1 || moved[0] != (Traffic{GPU: 1, Port: 2, Sent: more}) {
			t.Errorf("%v, %v after %d bytes", moved, err, more)
		}
	}
	l.failing = true
	if _, err := m.Moved(); err == nil {
		t.Error("no error from a lost library")
	}
}
