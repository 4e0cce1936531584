package cost

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/topology"
	"railyard/model/units"
)

func TestShippedMachinesRoundTrip(t *testing.T) {
	for _, name := range Names() {
		m, err := GetMachine(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range m.Parts() {
			if part.Source == "" || part.Date == "" || part.Kind == "" || m.Name != name {
				t.Errorf("%s: name %q, %+v", name, m.Name, part)
			}
		}
		var buf bytes.Buffer
		if err := Encode(&buf, m); err != nil {
			t.Fatal(err)
		}
		back, err := Parse(name, buf.Bytes())
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, buf.String())
		}
		if name == Ideal.Name || name == Line.Name { // their parts have the names of what they are
			back = back.WithOwn(m.own)
		}
		if d := cmp.Diff(m, back, cmp.AllowUnexported(Machine{})); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if data, err := shipped.ReadFile("machines/" + name + ".yaml"); err == nil && string(data) != buf.String() {
			t.Errorf("%s: the shipped file is not as it would be written:\n%s", name, cmp.Diff(string(data), buf.String()))
		}
	}
	if _, err := GetMachine("h2000"); err == nil || !strings.Contains(err.Error(), "must be one of") {
		t.Errorf("%v", err)
	}
}

// own is what plans cost as a file says.
func own(text string) (*Profile, error) {
	m, err := Parse("bad.yaml", []byte(text))
	if err != nil {
		return nil, err
	}
	return m.Measured(), nil
}

const example = `
schema: railyard.profile/v1
name: x
source: test
date: "2026-11-21"
latencies: true
launch: 3us
min_size: 1K
max_size: 1G
curves:
  - medium: nvlink
    protocol: any
    segments:
      - {from: 0B, alpha: 1us, rate: 10GB/s}
      - {from: 64K, alpha: 2us, efficiency: 0.5}
  - medium: any
    protocol: ll
    segments:
      - {from: 0B, alpha: 500ns}
`

func TestTransferTakesTheMostSpecificCurve(t *testing.T) {
	p, err := own(example)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		medium   topology.Medium
		protocol string
		bytes    units.Bytes
		want     Transfer
	}{
		{topology.NVLink, "ll", 100, Transfer{Alpha: units.Microsecond, Cap: 10 * units.GBps, Efficiency: 1}},
		{topology.NVLink, "simple", 64*units.KiB - 1, Transfer{Alpha: units.Microsecond, Cap: 10 * units.GBps, Efficiency: 1}},
		{topology.NVLink, "simple", 64 * units.KiB, Transfer{Alpha: 2 * units.Microsecond, Cap: 0, Efficiency: 0.5}},
		{topology.PCIe, "ll", 100, Transfer{Alpha: 500 * units.Nanosecond, Cap: 0, Efficiency: 1}},
		{topology.PCIe, "simple", 100, Transfer{Alpha: 0, Cap: 0, Efficiency: 1}},
	} {
		if got := p.Transfer(c.medium, c.protocol, c.bytes); got != c.want {
			t.Errorf("%v %s %v: %+v, want %+v", c.medium, c.protocol, c.bytes, got, c.want)
		}
	}
	if w := p.Warnings(2*units.GiB, 8); len(w) != 1 || !strings.Contains(w[0], "extrapolated: profile x was fitted up to 1GiB") {
		t.Errorf("%q", w)
	}
	if p.Warnings(units.MiB, 8) != nil || len(p.Warnings(1, 8)) != 1 {
		t.Error("warnings inside or below the range")
	}
	p.MaxGPUs = 4
	if p.Warnings(units.MiB, 4) != nil || len(p.Warnings(1, 5)) != 2 {
		t.Error("warnings of more GPUs than it was fitted on")
	}
}

// TestSmoothCurves: between two sizes α and the time of a byte change evenly with the factor.
func TestSmoothCurves(t *testing.T) {
	p, err := own(strings.Replace(example, "    protocol: any\n", "    protocol: any\n    smooth: true\n    peer: 50ns\n    launch: 3us\n",
		1))
	if err != nil {
		t.Fatal(err)
	}
	p.Curves[0].Segments[0] = Segment{From: units.KiB, Alpha: units.Microsecond, Efficiency: 0.25}
	for _, c := range []struct {
		bytes units.Bytes
		alpha float64
		share float64
	}{{1, 1, 0.25}, {units.KiB, 1, 0.25}, {8 * units.KiB, 1.5, 1. / 3}, {64 * units.KiB, 2, 0.5}, {units.GiB, 2, 0.5}} {
		x := p.Transfer(topology.NVLink, "simple", c.bytes)
		if math.Abs(x.Alpha.Microseconds()-c.alpha) > 1e-6 || math.Abs(x.Efficiency-c.share) > 1e-9 || x.Peer != 50*units.Nanosecond ||
			x.Launch != 3*units.Microsecond {
			t.Errorf("%v: %+v", c.bytes, x)
		}
	}
	for _, name := range []string{Flag, Request} {
		if x := p.Transfer(topology.NVLink, name, 0); x.Alpha != 0 || p.Covers(topology.NVLink, name) {
			t.Errorf("a %s costs what messages of any protocol do: %+v", name, x)
		}
	}
}

func TestBadProfilesAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ from, to, want string }{
		"unknown key": {"latencies", "latency", `bad.yaml:6: machine: unknown key "latency"`},
		"no source":   {"source: test", "source: ''", `"source" is empty`},
		"schema":      {"profile/v1", "profile/v2", "is not known"},
		"another": {"schema: railyard.profile/v1", "schema: railyard.topology/v1\nclasses: {}",
			`schema "railyard.topology/v1" is not known to this version: it reads railyard.machine/v1`},
		"order":      {"from: 64K", "from: 0", "must be larger than the one before"},
		"efficiency": {"efficiency: 0.5", "efficiency: 1.5", `efficiency must be a number from 0 to 1, not "1.5"`},
		"rate":       {"10GB/s", "fast", "is not a rate"},
		"mechanism": {"curves:", "gpu: x\nmethods:\n  - {collective: all_reduce, gpus: 2, algorithm: direct, mechanism: pigeon}\ncurves:",
			`mechanism must be one of`},
		"no gpu": {"curves:", "methods:\n  - {collective: all_reduce, gpus: 2, algorithm: direct, mechanism: pull}\ncurves:",
			"methods without gpu"},
		"negative": {"alpha: 2us", "alpha: -2us", "must not be negative"},
		"medium":   {"medium: any", "medium: ''", `"medium" is empty`},
	} {
		_, err := own(strings.Replace(example, c.from, c.to, 1))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "bad.yaml") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestWindowAndMessagesOneWay: a profile's window comes back, and messages one way have no curve but their
// own.
func TestWindowAndMessagesOneWay(t *testing.T) {
	m, err := Parse("x", []byte(example+"window: 24B\n"))
	if err != nil {
		t.Fatal(err)
	}
	p := m.Measured()
	if again := written(t, m); again.Measured().Window != 24 {
		t.Errorf("%v, %v", again, err)
	}
	if one := OneWay("ll"); p.Covers(topology.NVLink, one) {
		t.Errorf("%s is covered by a curve of all protocols", one)
	}
	p.Curves = append(p.Curves, Curve{Medium: "nvlink", Protocol: OneWay("ll"), Segments: []Segment{{Alpha: 7}}})
	if !p.Covers(topology.NVLink, OneWay("ll")) || p.Covers(topology.NVLink, OneWay("ll128")) ||
		p.Transfer(topology.NVLink, OneWay("ll"), 0).Alpha != 7 {
		t.Error("the curve of messages one way is not found")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("f", data)
		if err != nil {
			return
		}
		var buf bytes.Buffer
		if err := Encode(&buf, p); err != nil {
			t.Fatal(err)
		}
	})
}

func TestMethods(t *testing.T) {
	p := &Fastest{Methods: []Method{{Collective: "all_reduce", GPUs: 2, UpTo: 1000, Algorithm: "a"},
		{Collective: "all_reduce", GPUs: 2, Algorithm: "b"}, {Collective: "broadcast", GPUs: 2, UpTo: 10, Algorithm: "c"}}}
	for _, c := range []struct {
		collective string
		gpus       int
		size       units.Bytes
		want       string
	}{{"all_reduce", 2, 1000, "a"}, {"all_reduce", 2, 1001, "b"}, {"all_reduce", 4, 1, ""}, {"broadcast", 2, 10, "c"},
		{"broadcast", 2, 11, ""}} {
		got := ""
		if m := p.Method(c.collective, c.gpus, c.size); m != nil {
			got = m.Algorithm
		}
		if got != c.want {
			t.Errorf("%s on %d GPUs, %v: %q, want %q", c.collective, c.gpus, c.size, got, c.want)
		}
	}
}

func TestMemory(t *testing.T) {
	const levels = `
schema: railyard.profile/v1
name: x
source: test
date: "2026-11-22"
latencies: false
serial: true
memory:
  - {from: 1MiB, alone: 80GB/s, input_copy: 40GB/s, input_combine: 20GB/s, fresh_copy: 10GB/s, fresh_combine: 5GB/s}
  - {from: 4MiB, alone: 20GB/s, input_copy: 10GB/s, input_combine: 5GB/s, fresh_copy: 10GB/s, fresh_combine: 5GB/s}
`
	m, err := Parse("x", []byte(levels))
	if err != nil {
		t.Fatal(err)
	}
	p := m.Measured()
	for _, c := range []struct {
		buffers              units.Bytes
		alone, input, fresh  units.Rate
		inputCombine, passed units.Rate
	}{
		{1, 80e9, 40e9, 10e9, 20e9, 5e9},
		{units.MiB, 80e9, 40e9, 10e9, 20e9, 5e9},
		{2 * units.MiB, 32e9, 16e9, 10e9, 8e9, 5e9}, // half of the way in the time of a byte
		{4 * units.MiB, 20e9, 10e9, 10e9, 5e9, 5e9},
		{units.GiB, 20e9, 10e9, 10e9, 5e9, 5e9},
	} {
		l, ok := p.Level(c.buffers)
		for i, pair := range [][2]units.Rate{{l.Alone, c.alone}, {l.Pass(false).Copy, c.input}, {l.Pass(true).Copy, c.fresh},
			{l.Input.Combine, c.inputCombine}, {l.Fresh.Combine, c.passed}} {
			if !ok || math.Abs(float64(pair[0]-pair[1])) > 1 {
				t.Errorf("%v: rate %d is %v, want %v", c.buffers, i, pair[0], pair[1])
			}
		}
	}
	if d := cmp.Diff(p, written(t, m).Measured()); d != "" {
		t.Error(d)
	}
	for what, bad := range map[string]string{
		"serial must be true":         strings.Replace(levels, "serial: true", "serial: false", 1),
		"fresh_combine must be given": strings.Replace(levels, ", fresh_combine: 5GB/s", "", 1),
		"leave reduce, copy and sum":  strings.Replace(levels, "memory:", "copy: 1GB/s\nmemory:", 1),
		"larger than the one before":  strings.Replace(levels, "from: 4MiB", "from: 1MiB", 1),
		"alone: -1GB/s must not":      strings.Replace(levels, "alone: 80GB/s", "alone: -1GB/s", 1),
	} {
		if _, err := Parse("x", []byte(bad)); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// written is a machine as it comes back from its file.
func written(t *testing.T, m *Machine) *Machine {
	t.Helper()
	var buf bytes.Buffer
	if err := Encode(&buf, m); err != nil {
		t.Fatal(err)
	}
	back, err := Parse("written", buf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestBeyondWhatAKernelWasFittedOn(t *testing.T) {
	k := Kernel{MinSize: units.KiB, MaxSize: units.MiB}
	for _, c := range []struct {
		size units.Bytes
		want float64
	}{{0, 1024}, {256, 4}, {units.KiB, 1}, {64 * units.KiB, 1}, {units.MiB, 1}, {8 * units.MiB, 8}} {
		if got := k.Beyond(c.size); got != c.want {
			t.Errorf("%v: %g, want %g", c.size, got, c.want)
		}
	}
}

// A kernel is followed beyond its sizes as far as they showed what decides there: one that was fitted on gigabytes
// says nothing of the latency of few bytes, one that was fitted on few bytes nothing of rates.
func TestKernelsAreFollowedAsFarAsTheyReach(t *testing.T) {
	large := Kernel{MinSize: 4 * units.GiB, MaxSize: 16 * units.GiB, Latency: 0.01, Bytes: 0.99}
	small := Kernel{MinSize: 8, MaxSize: units.KiB, Latency: 0.99, Bytes: 0.01}
	old := Kernel{MinSize: units.KiB, MaxSize: units.GiB} // of a file that does not say
	for _, x := range []struct {
		what     string
		got      float64
		min, max float64
	}{
		{"within", large.Reaches(8 * units.GiB), 1, 1},
		{"gigabytes, asked of few bytes", large.Reaches(8), 0, 0.05},
		{"gigabytes, asked of more", large.Reaches(64 * units.GiB), 0.95, 1},
		{"few bytes, asked of fewer", small.Reaches(1), 0.95, 1},
		{"few bytes, asked of gigabytes", small.Reaches(4 * units.GiB), 0, 0.05},
		{"not known, asked of a quarter", old.Reaches(256), 0.5, 0.5},
		{"not known, asked of fourfold", old.Reaches(4 * units.GiB), 0.5, 0.5},
	} {
		if x.got < x.min || x.got > x.max {
			t.Errorf("%s: %v, want %v to %v", x.what, x.got, x.min, x.max)
		}
	}
}
