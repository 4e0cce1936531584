package mscclpp

import (
	"bytes"
	"io"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/interop/interoptest"
	"railyard/model/collective"
	"railyard/model/schedule"
)

var built = interoptest.Built

func text(t testing.TB, f *File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// proven imports a plan that has no race.
func proven(r io.Reader) (*schedule.Schedule, error) { return Import(r, nil) }

var format = interoptest.Format{
	Ext:    "json",
	Kinds:  []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.AllToAll},
	Import: proven,
	Export: func(s *schedule.Schedule, inPlace bool) ([]byte, error) {
		f, err := Export(s, Options{InPlace: inPlace})
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		err = f.Write(&b)
		return b.Bytes(), err
	},
}

func TestSamples(t *testing.T) { interoptest.Samples(t, format) }

func TestRoundTrip(t *testing.T) { interoptest.RoundTrips(t, format) }
