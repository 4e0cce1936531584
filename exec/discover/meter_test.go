package discover

import (
	"errors"
	"testing"

	"railyard/model/health"
	"railyard/model/units"
)

// late is a library whose counters follow after a few readings.
type late struct {
	fake
	sent, shown units.Bytes
	failing     bool
}

func (l *late) Count(s *health.State) error {
	if l.failing {
		return errors.New("gone")
	}
	l.shown = min(l.sent, l.shown+10)
	s.Say(s.Part(health.NVLink, "0/2"), "sent", 3.0, "")
	s.Say(s.Part(health.NVLink, "1/2"), "sent", float64(l.shown), "")
	return nil
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
		if moved, err := m.Busiest(); err != nil || moved != more {
			t.Errorf("%v, %v after %d bytes", moved, err, more)
		}
	}
	l.failing = true
	if _, err := m.Busiest(); err == nil {
		t.Error("no error from a lost library")
	}
	if _, err := NewMeter(&fake{}); err == nil {
		t.Error("no error from a library that counts no NVLink")
	}
}
