package discover

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"railyard/internal/golden"
	_ "railyard/internal/long" // accepts -long
	"railyard/model/health"
	"railyard/model/survey"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/topologies"
)

var someDay = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// shippedNode is a shipped topology.
func shippedNode(t *testing.T, name string) *topology.Topology {
	t.Helper()
	x, err := topology.Load(topologies.Source, name, topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// describe runs the discovery and reads its file back.
func describe(t *testing.T, f *fake) (string, *topology.Topology) {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f, f.root, someDay); err != nil {
		t.Fatal(err)
	}
	x, err := topology.Parse("discovered.yaml", b.Bytes(), nil, topology.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return b.String(), x
}

// graph lists the links with what they are, sorted: of sockets not the rate, which is assumed, and no memory, of which
// systems tell nothing.
func graph(x *topology.Topology) []string {
	var out []string
	for i, l := range x.Links() {
		c := x.Class(topology.LinkID(i))
		switch c.Medium {
		case topology.MemBus:
		case topology.Socket:
			out = append(out, fmt.Sprintf("%s %v ×%d", x.LinkName(topology.LinkID(i)), c.Medium, l.Count))
		default:
			out = append(out, fmt.Sprintf("%s %v %.3g %v ×%d", x.LinkName(topology.LinkID(i)), c.Medium, float64(c.Rate), c.Latency,
				l.Count))
		}
	}
	slices.Sort(out)
	return out
}

// notNVML are the shipped topologies of one node that NVML knows nothing of.
var notNVML = map[string]string{"host": "has no GPUs", "mi250x-node": "AMD", "mi300x-node": "AMD", "mi325x-node": "AMD",
	"mi355x-node": "AMD",
	"dgx-spark":   "GPU and CPU are one chip", "gh200": "Grace Hopper, whose links and adapters sysfs does not tell",
	"gh200-quad": "the same"}

// TestShippedNodesComeBack: a machine that is built as a shipped topology of one node
// says is described as that topology, device by device and link by link.
func TestShippedNodesComeBack(t *testing.T) {
	tested := 0
	for _, name := range topologies.Names() {
		want := shippedNode(t, name)
		if notNVML[name] != "" || want.NumNodes() > 1 {
			continue
		}
		tested++
		t.Run(name, func(t *testing.T) {
			_, got := describe(t, newFake(t, want))
			if diff := cmp.Diff(graph(want), graph(got)); diff != "" {
				t.Errorf("(-shipped +discovered)\n%s", diff)
			}
			if got.NumRanks() != want.NumRanks() {
				t.Errorf("%d ranks, want %d", got.NumRanks(), want.NumRanks())
			}
			sameRoots(t, want, got)
		})
	}
	if tested < 13 {
		t.Errorf("only %d shipped nodes were tested", tested)
	}
}

// sameRoots: what stands at one host bridge of a CPU by the shipped file does so in the discovered one, and where that says nothing, each
// device stands at its own: those are the machines that newFake makes.
func sameRoots(t *testing.T, want, got *topology.Topology) {
	t.Helper()
	var seen []topology.DeviceID
	for d := range got.Devices() {
		a := topology.DeviceID(d)
		if got.Root(a) == "" {
			continue
		}
		for _, b := range seen {
			x, y := want.Root(named(want, got.DeviceName(a))), want.Root(named(want, got.DeviceName(b)))
			one := x != "" && x == y && socket(got, a) == socket(got, b)
			if (got.Root(a) == got.Root(b)) != one {
				t.Errorf("%s at %s, %s at %s", got.DeviceName(a), got.Root(a), got.DeviceName(b), got.Root(b))
			}
		}
		seen = append(seen, a)
	}
}

// socket is the first CPU that a device is linked to.
func socket(x *topology.Topology, d topology.DeviceID) topology.DeviceID {
	for _, l := range x.Out(d) {
		if to := x.Links()[l].To; x.Devices()[to].Kind == topology.CPU {
			return to
		}
	}
	return -1
}

func named(x *topology.Topology, name string) topology.DeviceID {
	for d := range x.Devices() {
		if x.DeviceName(topology.DeviceID(d)) == name {
			return topology.DeviceID(d)
		}
	}
	return 0
}

func TestFileIsReadable(t *testing.T) {
	text, _ := describe(t, newFake(t, shippedNode(t, "dgx-h100")))
	golden.Equal(t, "dgx-h100.yaml", []byte(text))
}

// TestVirtualMachine is what the measured four H200 show: switches, PCIe switches and
// lane widths are hidden, NUMA nodes are not told.
func TestVirtualMachine(t *testing.T) {
	f := newFake(t, shippedNode(t, "hgx-h200-4"))
	for i := range f.gpus {
		f.gpus[i].Bus = fmt.Sprintf("0000:00:%02x.0", 6+i)
		f.gpus[i].PCIe = survey.Lanes{Generation: 5}
		for p := range f.gpus[i].Ports {
			f.gpus[i].Ports[p] = survey.Port{Up: true, End: survey.EndSwitch, Raw: 26562e6}
		}
	}
	text, got := describe(t, f)
	golden.Equal(t, "virtual.yaml", []byte(text))
	r, err := topology.NewRouter(got).Route(0, 3)
	if err != nil || r.Kind != topology.Switched || r.Links != 18 || r.Rate != 450e9 {
		t.Errorf("route %+v, %v", r, err)
	}
	if got.Profile() != "h200" {
		t.Errorf("profile %q", got.Profile())
	}
}

// TestDownAndSlowPorts: a port that is down is not drawn, a slow one has its own class.
func TestDownAndSlowPorts(t *testing.T) {
	f := newFake(t, shippedNode(t, "dgx-h100"))
	f.gpus[3].Ports[0] = survey.Port{}
	f.gpus[4].Ports[0].Raw = 13e9
	_, got := describe(t, f)
	count := map[string]int{}
	for _, l := range got.Out(got.Ranks()[3]) {
		count[got.Class(l).Name] += int(got.Links()[l].Count)
	}
	if count["nvlink4"] != 17 {
		t.Errorf("gpu3 has %v", count)
	}
	clear(count)
	for _, l := range got.Out(got.Ranks()[4]) {
		count[got.Class(l).Name] += int(got.Links()[l].Count)
	}
	if count["nvlink4"] != 17 || count["nvlink4_13000MB"] != 1 {
		t.Errorf("gpu4 has %v", count)
	}
}

// TestHiddenGPUs: links to GPUs outside this machine are named, not drawn.
func TestHiddenGPUs(t *testing.T) {
	f := newFake(t, shippedNode(t, "dgx1-v100"))
	f.gpus = f.gpus[:4]
	for i := range f.gpus {
		f.gpus[i].Peers = f.gpus[i].Peers[:4]
	}
	text, got := describe(t, f)
	if !strings.Contains(text, "is not visible in this machine") || got.NumRanks() != 4 {
		t.Errorf("%d ranks in\n%s", got.NumRanks(), text)
	}
}

// TestNoPeerAccess: where the driver forbids PCIe peer-to-peer below a CPU, the file
// says so.
func TestNoPeerAccess(t *testing.T) {
	f := newFake(t, shippedNode(t, "minsky"))
	for i := range f.gpus {
		f.gpus[i].Ports, f.gpus[i].Peers = nil, make([]survey.Peer, 4)
		f.gpus[i].PCIe = survey.Lanes{Generation: 3, Width: 16}
	}
	_, got := describe(t, f)
	if r, err := topology.NewRouter(got).Route(0, 1); err != nil || r.Kind != topology.HostStaged {
		t.Errorf("route %+v, %v", r, err)
	}
}

func TestErrors(t *testing.T) {
	var b bytes.Buffer
	for _, c := range []struct {
		f    *fake
		want string
	}{
		{&fake{driver: "1"}, "shows no GPU"},
		{&fake{err: errors.New("lost")}, "lost"},
		{&fake{gpus: []survey.GPU{{Major: 99, Ports: []survey.Port{{Up: true, End: survey.EndSwitch}}}}}, "not known to this version"},
	} {
		err := Write(&b, c.f, t.TempDir(), someDay)
		if err == nil || !strings.Contains(err.Error(), c.want) || b.Len() > 0 {
			t.Errorf("error %v, want %q; %d bytes written", err, c.want, b.Len())
		}
	}
}

// TestOneSocketAndCards: cards without RDMA count where their rate is known.
func TestOneSocketAndCards(t *testing.T) {
	f := &fake{driver: "1", root: t.TempDir(), gpus: []survey.GPU{{Name: "NVIDIA T4", Bus: "0000:01:00.0", Major: 7, Minor: 5,
		PCIe:   survey.Lanes{Generation: 3, Width: 8},
		Memory: 16 * units.GiB}}}
	w := &filler{tb: t, root: f.root}
	dir := "sys/devices/pci0000:00/0000:00:03.0/virtio1/net/eth0"
	w.write(dir+"/speed", "10000")
	w.symlink("sys/devices/pci0000:00/0000:00:03.0/virtio1", dir+"/device")
	w.symlink(dir, "sys/class/net/eth0")
	w.write("sys/devices/virtual/net/lo/speed", "10000")
	w.symlink("sys/devices/virtual/net/lo", "sys/class/net/lo")
	text, got := describe(t, f)
	golden.Equal(t, "one-card.yaml", []byte(text))
	if nics := strings.Count(text, "kind: nic"); nics != 1 || got.NumRanks() != 1 {
		t.Errorf("%d adapters, %d ranks", nics, got.NumRanks())
	}
}

// TestHealthWithoutALibrary: that no GPU is seen says something of the machine only where this build can ask.
func TestHealthWithoutALibrary(t *testing.T) {
	var s health.State
	if err := Health(&s, nil, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if _, known := s.Host().Fact("gpus"); known != asks {
		t.Errorf("known %v, asks %v", known, asks)
	}
}

// TestHealthHasWays: how far each adapter is from each GPU is said by the names that the system has for them.
func TestHealthHasWays(t *testing.T) {
	f := newFake(t, shippedNode(t, "dgx-h100"))
	var s health.State
	if err := Health(&s, f, f.root); err != nil {
		t.Fatal(err)
	}
	for way, far := range map[string]float64{"5/mlx5_5": 0, "5/mlx5_4": 0, "5/mlx5_7": 2, "5/mlx5_0": 3} {
		if v, ok := s.Fact(health.Path, way, "far"); !ok || v.Is != far {
			t.Errorf("%s: %v, want %v", way, v.Is, far)
		}
	}
}

// TestBindings: the processors near GPUs, and those that their processes may use.
func TestBindings(t *testing.T) {
	f := newFake(t, shippedNode(t, "dgx-h100"))
	write := (&filler{tb: t, root: f.root}).write
	write("sys/bus/pci/devices/"+f.gpus[5].Bus+"/local_cpulist", "48-95")
	write("proc/4716/status", "Name:\tpython\nCpus_allowed:\tfff\nCpus_allowed_list:\t0-11")
	write("proc/4716/maps", "7f00-7f01 r-xp 0 0:0 1 /usr/lib/libcuda.so.580")
	write("proc/4718/status", "Name:\tother\nCpus_allowed_list:\t0-3")
	write("sys/devices/system/cpu/online", "0-191")
	var s health.State
	s.Say(s.GPU(5), "processes", "4716 4717 4718", "test")
	if err := Health(&s, f, f.root); err != nil {
		t.Fatal(err)
	}
	if got := s.GPU(5).Text("cpus") + " " + s.Part(health.Process, "4716").Text("cpus"); got != "48-95 0-11" ||
		s.Has(health.Process, "4717") || s.Has(health.Process, "4718") || s.Host().Number("processors") != 192 {
		t.Error(got)
	}
}
