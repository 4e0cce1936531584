package mscclxml

import (
	"bytes"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/interop/interoptest"
	"railyard/model/collective"
	"railyard/model/schedule"
	"railyard/model/topology"
)

var built = interoptest.Built

// format is the dialect with most room.
var format = interoptest.Format{
	Ext: "xml",
	Kinds: []collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.AllToAll,
		collective.Broadcast, collective.Reduce},
	Import: inOne,
	Export: func(s *schedule.Schedule, inPlace bool) ([]byte, error) {
		return exported(s, Options{Dialect: "msccl", InPlace: inPlace})
	},
}

func exported(s *schedule.Schedule, o Options) ([]byte, error) {
	f, err := Export(s, o)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = f.Write(&b)
	return b.Bytes(), err
}

func TestSamples(t *testing.T) {
	f := format
	f.Export = func(s *schedule.Schedule, inPlace bool) ([]byte, error) {
		return exported(s, Options{InPlace: inPlace})
	}
	interoptest.Samples(t, f)
}

// TestRoundTrip has in-place files stand for calls with one buffer and with two.
func TestRoundTrip(t *testing.T) {
	f := format
	f.Export = func(s *schedule.Schedule, inPlace bool) ([]byte, error) {
		data, err := format.Export(s, inPlace)
		if err != nil || !inPlace {
			return data, err
		}
		both, err := inOne(bytes.NewReader(data))
		if err == nil {
			_, err = schedule.InPlace(both)
		}
		return bytes.Replace(data, []byte(`outofplace="1"`), []byte(`outofplace="0"`), 1), err
	}
	interoptest.RoundTrips(t, f)
}

func TestFused(t *testing.T) {
	f, err := Export(built(t, "ring", collective.AllReduce, 4), Options{})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, g := range f.GPUs {
		for _, tb := range g.Blocks {
			for _, s := range tb.Steps {
				count[s.Type]++
			}
		}
	}
	// by rank: 2 partial sums and 1 result passed on, 2 results handed on, 1 taken
	want := map[string]int{"s": 4, "rrs": 8, "rrcs": 4, "rcs": 8, "r": 4}
	for k, n := range want {
		if count[k] != n {
			t.Errorf("%d %s instead of %d (%v)", count[k], k, n, count)
		}
	}
}

func TestRefusals(t *testing.T) {
	ring := built(t, "ring", collective.AllReduce, 8)
	rooted := built(t, "ring", collective.Broadcast, 4)
	rooted.Spec.Root = 2
	many := built(t, "direct", collective.AllToAll, 8)
	for range 8 {
		many.Channels = append(many.Channels, many.Channels[0])
	}
	for _, x := range []struct {
		s    *schedule.Schedule
		o    Options
		want string
	}{
		{ring, Options{Dialect: "cuda"}, "unknown MSCCL dialect"},
		{rooted, Options{}, "--root 0"},
		{built(t, "knomial", collective.Barrier, 4), Options{}, "no name for barrier"},
		{many, Options{}, "rccl allows 64"},
	} {
		if _, err := Export(x.s, x.o); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v instead of %q", err, x.want)
		}
	}
}

// TestSplit has more messages on a connection than a thread block has steps.
func TestSplit(t *testing.T) {
	s := interoptest.On(t, "dgx-h100", topology.Options{Nodes: 5}, "simple_ring", collective.AllReduce)
	f, err := Export(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.Channels < 2 {
		t.Errorf("%d channels", f.Channels)
	}
	interoptest.RoundTrip(t, format, s, false)
}

// TestBands has more peers than an executor's channel serves.
func TestBands(t *testing.T) {
	s := interoptest.On(t, "dgx-h100", topology.Options{Nodes: 5}, "direct", collective.AllToAll)
	f, err := Export(s, Options{Dialect: "executor"})
	if err != nil {
		t.Fatal(err)
	}
	if f.Channels != 2 {
		t.Errorf("%d channels", f.Channels)
	}
	interoptest.RoundTrip(t, format, s, false)
}
