package load

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "railyard/internal/long"
	"railyard/model/health"
	"railyard/model/topology"
	"railyard/topologies"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// sample is a state of so many seconds after noon.
func sample(seconds float64, fill func(s *health.State)) Sample {
	s := Sample{At: noon.Add(time.Duration(seconds * 1e9)), State: &health.State{}}
	fill(s.State)
	return s
}

func link(s *health.State, name string, sent, received float64) *health.Part {
	p := s.Part(health.NVLink, name)
	s.Say(p, "sent", sent, "")
	s.Say(p, "received", received, "")
	return p
}

func between(t *testing.T, a, b Sample) *Measurement {
	t.Helper()
	m, err := Between(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func machine(t *testing.T, name string, o topology.Options) *topology.Topology {
	t.Helper()
	x, err := topology.Load(topologies.Source, name, o)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestWraps: whatever a counter of 32 bits shows, what it counted comes out, as long as it is read before it has gone half round; one that
// does not wrap and ran backwards was cleared.
func TestWraps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const wraps = 1 << 32
		before := rapid.Uint64Range(0, 1<<40).Draw(t, "before")
		by := rapid.Uint64Range(0, wraps/2-1).Draw(t, "by")
		f := health.Fact{Wraps: wraps}
		if got, cleared := counterIncrease(f, float64(before%wraps), float64((before+by)%wraps)); got != float64(by) || cleared {
			t.Fatalf("%v, %v after %d more", got, cleared, by)
		}
		after := rapid.Uint64Range(0, 1<<40).Draw(t, "after")
		want, runsBack := float64(after)-float64(before), after < before
		if runsBack {
			want = float64(after)
		}
		if got, cleared := counterIncrease(health.Fact{}, float64(before), float64(after)); got != want || cleared != runsBack {
			t.Fatalf("%v, %v from %d to %d", got, cleared, before, after)
		}
	})
}

// TestRates: bytes a second are differences over the time between; errors are those that came; what was cleared, came or went is said.
func TestRates(t *testing.T) {
	a := sample(0, func(s *health.State) {
		s.Say(link(s, "0/0", 1e9, 5e9), "replays", 7.0, "")
		link(s, "0/1", 8e9, 0)
		s.Say(s.GPU(0), "bus", "0000:01:00.0", "")
		s.Say(s.GPU(1), "host_sent", 1.0, "")
		link(s, "1/0", 1, 1)
		s.Say(s.Part(health.NIC, "mlx5_0"), "link_downed", 1.0, "")
		s.Say(link(s, "0/2", 1, 1), "up", true, "")
		s.Say(s.Part(health.NIC, "mlx5_2"), "rate", 400.0, "")
	})
	b := sample(2, func(s *health.State) {
		p := link(s, "0/0", 21e9, 6e9)
		s.Say(p, "replays", 10.0, "")
		s.Say(p, "rate", 25.0, "")
		link(s, "0/1", 3e9, 0)
		s.Say(s.GPU(0), "bus", "0000:01:00.0", "")
		s.Say(s.Part(health.NIC, "mlx5_1"), "sent", 1.0, "")
		s.Say(link(s, "0/2", 1, 1), "up", false, "")
		s.Say(s.Part(health.NIC, "mlx5_2"), "rate", 200.0, "")
	})
	m := between(t, a, b)
	if len(m.Ports) != 3 || m.Took != 2*time.Second {
		t.Fatalf("%+v", m)
	}
	p := m.Ports[0]
	if p.Sent != 10e9 || p.Received != 0.5e9 || p.Line != 25e9 || p.Load() != 0.4 || !slices.Equal(p.Errors, []Errors{{"replays", 3}}) {
		t.Errorf("%+v", p)
	}
	if m.Ports[1].Sent != 1.5e9 { // cleared: it sent 3 GB at least
		t.Errorf("%+v", m.Ports[1])
	}
	want := []string{"GPU 1 is gone", "GPU 0 link 1: sent ran backwards, from 8000000000 to 3000000000",
		"GPU 0 link 2: up was true, is false (the link is active)", "mlx5_1 came", "mlx5_2: rate was 400, is 200", "mlx5_0 is gone"}
	for i, w := range want {
		if i >= len(m.Notes) || !strings.HasPrefix(m.Notes[i], w) {
			t.Errorf("note %d: %q, want %s", i, m.Notes, w)
			break
		}
	}
	if len(m.Notes) != len(want) {
		t.Errorf("%q", m.Notes) // nothing of the links of a GPU that is gone
	}
	if _, err := Between(b, b); err == nil {
		t.Error("no error from two samples of one moment")
	}
}

// TestWrapsUnseen: where a counter of 32 bits could have gone round unseen, that is said; not where it shows more than 32 bits, nor where
// samples are close enough.
func TestWrapsUnseen(t *testing.T) {
	for _, c := range []struct {
		sent, seconds float64
		said          bool
	}{{1e9, 1, true}, {1e9, 0.02, false}, {5e9, 1, false}, {0, 1, false}} {
		fill := func(sent float64) func(s *health.State) {
			return func(s *health.State) {
				s.Say(s.GPU(0), "host_sent", sent, "")
				s.Say(s.GPU(0), "pcie_rate", 63.0, "")
			}
		}
		m := between(t, sample(0, fill(0)), sample(c.seconds, fill(c.sent)))
		if said := len(m.Notes) == 1 && strings.Contains(m.Notes[0], "sample every 34ms"); said != c.said || len(m.Notes) > 1 {
			t.Errorf("%+v: %q", c, m.Notes)
		}
	}
}

// busy is a machine whose GPUs each have NVLinks to the ends that are given, and carry so many bytes a second on the port that is hot.
func busy(t *testing.T, ends [][]string, hot string) *Measurement {
	fill := func(carry float64) func(s *health.State) {
		return func(s *health.State) {
			for g := range ends {
				s.Say(s.GPU(g), "bus", bus(g), "")
				for port, to := range ends[g] {
					name := s.GPU(g).Name + "/" + string(rune('0'+port))
					sent := 0.0
					if name == hot {
						sent = carry
					}
					p := link(s, name, sent, 0)
					s.Say(p, "rate", 25.781, "") // of signals
					if to != "" {
						s.Say(p, "to", to, "")
					}
				}
			}
		}
	}
	return between(t, sample(0, fill(0)), sample(1, fill(20e9)))
}

func bus(gpu int) string { return "0000:0" + string(rune('1'+gpu)) + ":00.0" }

// TestHotLinks: a hot port is found again on the link that it stands for, and on no other: by the GPU or the switch at its end, and where
// that is not known, spread over the GPU's links.
func TestHotLinks(t *testing.T) {
	mesh := machine(t, "dgx1-v100", topology.Options{})
	ends := make([][]string, 8) // as the topology has them, in its order
	for r, d := range mesh.Ranks() {
		for _, l := range mesh.Out(d) {
			if x := mesh.Links()[l]; mesh.Class(l).Medium == topology.NVLink {
				for range x.Count {
					ends[r] = append(ends[r], bus(mesh.RankOf(x.To)))
				}
			}
		}
	}
	check := func(name string, topo *topology.Topology, m *Measurement, want map[string]float64) {
		t.Helper()
		m, links, err := m.On(topo, 0)
		if err != nil {
			t.Fatal(err)
		}
		if line := float64(topo.Rate(links[0].ID)) / float64(topo.Links()[links[0].ID].Count); m.Ports[0].Line != line {
			t.Errorf("%s: the line rate of a port is %g, of its link %g", name, m.Ports[0].Line, line)
		}
		for _, l := range links {
			if math.Abs(l.Carry-want[l.Name]) > 1 {
				t.Errorf("%s: %s carries %g, want %g", name, l.Name, l.Carry, want[l.Name])
			}
			delete(want, l.Name)
		}
		for l, carry := range want {
			if carry > 0 {
				t.Errorf("%s: %s does not stand there", name, l)
			}
		}
	}
	first := mesh.LinkName(mesh.Out(mesh.Ranks()[3])[0])
	check("mesh", mesh, busy(t, ends, "3/0"), map[string]float64{first: 20e9})

	h100 := machine(t, "dgx-h100", topology.Options{})
	switches := [][]string{{"s3", "s1"}, {"s0", "s2"}}
	check("switches", h100, busy(t, switches, "1/1"), map[string]float64{"gpu1->nvswitch2": 20e9})
	hidden := map[string]float64{}
	for _, l := range h100.Out(h100.Ranks()[1]) {
		if h100.Class(l).Medium == topology.NVLink {
			hidden[h100.LinkName(l)] = 20e9 * float64(h100.Links()[l].Count) / 18
		}
	}
	if len(hidden) != 4 {
		t.Fatal(hidden)
	}
	check("hidden switches", h100, busy(t, [][]string{{"", ""}, {"", ""}}, "1/1"), hidden)
	if _, _, err := busy(t, switches, "1/1").On(h100, 1); err == nil {
		t.Error("no error from a node that is not there")
	}
}

// TestBothEndsCount: what both ends of a link counted is no more than what one did; adapters load their links to the network and to PCIe;
// GPUs that failed have no links, and the others keep their numbers.
func TestBothEndsCount(t *testing.T) {
	two := machine(t, "dgx-h100", topology.Options{Nodes: 2})
	fill := func(x float64) func(s *health.State) {
		return func(s *health.State) {
			for g := range 8 {
				s.Say(s.GPU(g), "host_sent", x*float64(g), "")
			}
			for i := range 8 {
				p := s.Part(health.NIC, "mlx5_"+string(rune('0'+i)))
				s.Say(p, "rate", 400.0, "")
				s.Say(p, "sent", x*float64(10+i), "")
			}
			slow := s.Part(health.NIC, "eno1") // of the management network
			s.Say(slow, "rate", 10.0, "")
			s.Say(slow, "sent", x, "")
		}
	}
	m := between(t, sample(0, fill(0)), sample(1, fill(1e9)))
	m, links, err := m.On(two, 1)
	if err != nil {
		t.Fatal(err)
	}
	carry := map[string]float64{}
	for _, l := range links {
		carry[l.Name] = l.Carry
	}
	nic := two.DeviceName(two.Links()[two.Out(two.Ranks()[8])[0]].From)
	if nic != "node1/gpu0" {
		t.Fatal(nic)
	}
	sum := 0.0
	for name, x := range carry {
		if strings.HasPrefix(name, "node1/nic3->leaf") {
			sum += x
		}
		if strings.HasPrefix(name, "node0/") {
			t.Errorf("%s carries %g: it is another node's", name, x)
		}
	}
	if math.Abs(sum-13e9) > 1 {
		t.Errorf("the fourth adapter sends %g: %v", sum, carry)
	}
	if !slices.ContainsFunc(m.Notes, func(n string) bool { return strings.Contains(n, "9 adapters count") }) {
		t.Errorf("%q", m.Notes)
	}
	faults, err := topology.ParseFault("gpu:gpu3")
	if err != nil {
		t.Fatal(err)
	}
	one, err := machine(t, "dgx-h100", topology.Options{}).Degrade([]topology.Fault{faults})
	if err != nil {
		t.Fatal(err)
	}
	if _, links, err = m.On(one, 0); err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if strings.HasPrefix(l.Name, "gpu4->") && l.Carry != 4e9 || strings.HasPrefix(l.Name, "gpu3->") {
			t.Errorf("%+v", l)
		}
	}

	mesh := machine(t, "dgx1-v100", topology.Options{})
	pair := func(x float64) func(s *health.State) {
		return func(s *health.State) {
			for g := range 2 {
				s.Say(s.GPU(g), "bus", bus(g), "")
				p := link(s, s.GPU(g).Name+"/0", x*float64(1-g), x*float64(g))
				s.Say(p, "to", bus(1-g), "")
			}
		}
	}
	if _, links, err = between(t, sample(0, pair(0)), sample(1, pair(7e9))).On(mesh, 0); err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if want := map[string]float64{"gpu0->gpu1": 7e9}[l.Name]; l.Carry != want {
			t.Errorf("%s carries %g, want %g", l.Name, l.Carry, want)
		}
	}
}

// TestLoadsOfFullLinks leave something to plan with, and what changed is found.
func TestLoadsOfFullLinks(t *testing.T) {
	mesh := machine(t, "dgx1-v100", topology.Options{})
	list := Background([]Link{{Name: "gpu0->gpu1", Carry: 25.1e9, Rate: 25e9}, {Name: "gpu1->gpu0", Carry: 5e9, Rate: 25e9}})
	full, err := mesh.WithBackground(list)
	if err != nil {
		t.Fatal(err)
	}
	changes := Changes(mesh, full, 0.25)
	if len(changes) != 1 || changes[0].String() != "gpu0->gpu1 0 % → 99 %" {
		t.Errorf("%v", changes)
	}
	if changes = Changes(full, mesh, 0.1); len(changes) != 2 || changes[1].Link != "gpu1->gpu0" {
		t.Errorf("%v", changes)
	}
	if changes = Changes(full, full, 0); len(changes) != 0 {
		t.Errorf("%v", changes)
	}
}

// TestRecording: what was recorded is played as it was, by the monotonic clock; of what was killed the whole samples; what is hostile is an
// error of one line.
func TestRecording(t *testing.T) {
	var b bytes.Buffer
	first := time.Now()
	for i := range 3 {
		s := Sample{At: first.Add(time.Duration(i) * time.Second), State: &health.State{}}
		link(s.State, "0/1", float64(i)*3e9, 1<<53-1)
		s.State.Say(s.State.GPU(0), "throttle_brake", i > 0, "")
		if err := Record(&b, first, s); err != nil {
			t.Fatal(err)
		}
	}
	whole := b.String()
	if !IsRecording([]byte(whole[:64])) {
		t.Error("it is not known as a recording")
	}
	for text, want := range map[string]int{whole: 3, whole[:len(whole)-9]: 2, whole + "\n\n": 3} {
		var list []Sample
		r := Recording(strings.NewReader(text), "r.jsonl")
		for {
			s, err := r.Next(t.Context())
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			list = append(list, s)
		}
		if len(list) != want {
			t.Fatalf("%d samples, want %d", len(list), want)
		}
		m := between(t, list[0], list[1])
		if m.Took != time.Second || m.Ports[0].Sent != 3e9 || m.Ports[0].Received != 0 || !list[1].State.GPU(0).Yes("throttle_brake") {
			t.Errorf("%+v", m)
		}
	}
	at := `"at":"2026-11-23T12:00:00Z"`
	gpu := func(facts string) string {
		return `{"schema":"railyard.samples/v1",` + at + `,"parts":[{"kind":"gpu","name":"0","facts":{` + facts + `}}]}`
	}
	for text, want := range map[string]string{
		`{"schema":"railyard.plan/v1",` + at + `}`: "line 1: its schema is",
		gpu(`"smell":1`):       `no "smell" of "gpu"`,
		gpu(`"host_sent":"x"`): "host_sent of gpu is a number, not x",
		gpu(`"host_sent":[1]`): "is a number",
		"{\n" + whole:          "r.jsonl: line 1",
	} {
		_, err := Recording(strings.NewReader(text), "r.jsonl").Next(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzRecording: whatever a file holds, it is read or refused.
func FuzzRecording(f *testing.F) {
	f.Add(`{"schema":"railyard.samples/v1","at":"2026-11-23T12:00:00Z","parts":[{"kind":"nvlink","name":"0/1","facts":{"sent":1}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		r := Recording(strings.NewReader(text), "r")
		var last Sample
		for range 10 {
			s, err := r.Next(t.Context())
			if err != nil {
				return
			}
			if last.State != nil {
				if m, err := Between(last, s); err == nil {
					m.Busiest()
				}
			}
			last = s
		}
	})
}
