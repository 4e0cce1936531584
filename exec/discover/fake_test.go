package discover

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"railyard/model/health"
	"railyard/model/survey"
	"railyard/model/topology"
	"railyard/model/units"
)

// fake is a library that shows the GPUs of a topology, with the sysfs tree to match.
type fake struct {
	driver string
	gpus   []survey.GPU
	root   string
	err    error
}

func (f *fake) Driver() string              { return f.driver }
func (f *fake) GPUs() ([]survey.GPU, error) { return f.gpus, f.err }
func (f *fake) Count(*health.State) error   { return f.err }
func (f *fake) Recount(*health.State) error { return f.err }
func (f *fake) Health(*health.State)        {}
func (f *fake) Close()                      {}

// filler makes a fake from a topology of one node.
type filler struct {
	t    *topology.Topology
	tb   testing.TB
	root string
	bus  map[topology.DeviceID]string // PCI addresses
	dir  map[topology.DeviceID]string // directories below sys/devices of bridges
	next int                          // bus numbers used
}

// newFake shows a topology of one node as NVML and sysfs would.
func newFake(tb testing.TB, t *topology.Topology) *fake {
	f := &filler{t: t, tb: tb, root: tb.TempDir(), bus: map[topology.DeviceID]string{}, dir: map[topology.DeviceID]string{}}
	f.processors()
	for d := range t.Devices() {
		f.place(topology.DeviceID(d))
	}
	for i, d := range f.kind(topology.NIC) {
		f.adapter(i, d)
	}
	out := &fake{driver: "580.0", root: f.root}
	for rank := range t.Ranks() {
		out.gpus = append(out.gpus, f.gpu(rank))
	}
	return out
}

func (f *filler) kind(k topology.Kind) (out []topology.DeviceID) {
	for d, dev := range f.t.Devices() {
		if dev.Kind == k {
			out = append(out, topology.DeviceID(d))
		}
	}
	return out
}

func (f *filler) write(path, text string) {
	path = filepath.Join(f.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
		f.tb.Fatal(err)
	}
}

func (f *filler) symlink(to, path string) {
	path = filepath.Join(f.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.tb.Fatal(err)
	}
	rel, err := filepath.Rel(filepath.Dir(path), filepath.Join(f.root, to))
	if err != nil {
		f.tb.Fatal(err)
	}
	if err := os.Symlink(rel, path); err != nil {
		f.tb.Fatal(err)
	}
}

// processors writes the sockets: four CPUs and a NUMA node each.
func (f *filler) processors() {
	cpus := f.kind(topology.CPU)
	for i := range cpus {
		f.write(fmt.Sprintf("sys/devices/system/node/node%d/cpulist", i), fmt.Sprintf("%d-%d", 4*i, 4*i+3))
		f.write(fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/physical_package_id", 4*i), strconv.Itoa(i))
	}
	class := ""
	for l := range f.t.Links() {
		if c := f.t.Class(topology.LinkID(l)); c.Medium == topology.Socket {
			class = c.Name
		}
	}
	f.write("proc/cpuinfo", map[string]string{
		"qpi":         "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 79",
		"upi":         "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85",
		"upi16":       "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143",
		"xgmi_socket": "vendor_id\t: AuthenticAMD\ncpu family\t: 25",
		"xbus":        "processor\t: 0\ncpu\t\t: POWER9, altivec supported",
	}[class])
}

// parent is the PCIe switch or CPU that a device hangs on, and the class of the link.
func (f *filler) parent(d topology.DeviceID) (topology.DeviceID, *topology.Class) {
	for _, l := range f.t.Out(d) {
		to, c := f.t.Links()[l].To, f.t.Class(l)
		up := f.t.Devices()[to].Kind
		if c.Medium == topology.PCIe && (up == topology.PCIeSwitch || up == topology.CPU) && f.above(d, up) {
			return to, c
		}
	}
	return -1, nil
}

// above: a PCIe switch hangs on CPUs only.
func (f *filler) above(d topology.DeviceID, up topology.Kind) bool {
	return f.t.Devices()[d].Kind != topology.PCIeSwitch || up == topology.CPU
}

// place writes a PCIe switch, GPU or adapter with the bridges above it.
func (f *filler) place(d topology.DeviceID) string {
	if dir, ok := f.dir[d]; ok {
		return dir
	}
	kind := f.t.Devices()[d].Kind
	if kind != topology.GPU && kind != topology.NIC && kind != topology.PCIeSwitch {
		return ""
	}
	parent, class := f.parent(d)
	socket := f.socket(d)
	number := f.next // host bridges have buses of their own
	if f.t.Root(d) != "" {
		number = 0x80 * socket
	}
	base := fmt.Sprintf("sys/devices/pci0000:%02x", number)
	if parent >= 0 && f.t.Devices()[parent].Kind == topology.PCIeSwitch {
		base = f.bridge(f.place(parent), socket, nil) // a downstream port
	} else {
		base = f.bridge(base, socket, nil) // a root port
	}
	dir := f.bridge(base, socket, class)
	f.dir[d], f.bus[d] = dir, filepath.Base(dir)
	return dir
}

// bridge makes a PCI device below another.
func (f *filler) bridge(below string, socket int, class *topology.Class) string {
	f.next++
	bus := fmt.Sprintf("0000:%02x:00.0", f.next)
	dir := below + "/" + bus
	f.write(dir+"/numa_node", strconv.Itoa(socket))
	if class != nil {
		gen, width := lanesOf(class.Name)
		f.write(dir+"/max_link_speed", []string{1: "2.5 GT/s PCIe", 2: "5.0 GT/s PCIe", 3: "8.0 GT/s PCIe", 4: "16.0 GT/s PCIe",
			5: "32.0 GT/s PCIe", 6: "64.0 GT/s PCIe"}[gen])
		f.write(dir+"/current_link_width", strconv.Itoa(width))
	}
	f.symlink(dir, "sys/bus/pci/devices/"+bus)
	return dir
}

// lanesOf reads pcie5x16.
func lanesOf(class string) (gen, width int) {
	fmt.Sscanf(class, "pcie%dx%d", &gen, &width)
	return gen, width
}

// socket is the CPU above a device, over its switch or its coherent link.
func (f *filler) socket(d topology.DeviceID) int {
	for range 3 {
		next := topology.DeviceID(-1)
		for _, l := range f.t.Out(d) {
			switch to := f.t.Links()[l].To; f.t.Devices()[to].Kind {
			case topology.CPU:
				n, _ := strconv.Atoi(strings.TrimPrefix(f.t.DeviceName(to), "cpu"))
				return n
			case topology.PCIeSwitch:
				next = to
			}
		}
		if d = next; d < 0 {
			return 0
		}
	}
	return 0
}

func (f *filler) adapter(i int, d topology.DeviceID) {
	dir := f.dir[d] + fmt.Sprintf("/infiniband/mlx5_%d", i)
	f.write(dir+"/ports/1/rate", "400 Gb/sec (4X NDR)")
	f.write(dir+"/ports/1/link_layer", "InfiniBand")
	f.symlink(f.dir[d], dir+"/device")
	f.symlink(dir, fmt.Sprintf("sys/class/infiniband/mlx5_%d", i))
}

// gpu is what NVML says about a rank.
func (f *filler) gpu(rank int) survey.GPU {
	d := f.t.Ranks()[rank]
	g := survey.GPU{Name: "NVIDIA " + f.t.Name(), Bus: f.bus[d], Memory: 80 * units.GiB}
	if _, class := f.parent(d); class != nil {
		g.PCIe.Generation, g.PCIe.Width = lanesOf(class.Name)
	}
	g.Major = 6
	for _, l := range f.t.Out(d) {
		to, c := f.t.Links()[l].To, f.t.Class(l)
		if c.Medium != topology.NVLink {
			continue
		}
		g.Major = map[string]int{"nvlink1": 6, "nvlink2": 7, "nvlink3": 8, "nvlink4": 9, "nvlink5": 10}[c.Name]
		if g.Major == 8 && c.Rate < 20e9 { // links of a bridge between workstation boards
			g.Minor = 6
		}
		end := map[topology.Kind]survey.End{topology.GPU: survey.EndGPU, topology.NVSwitch: survey.EndSwitch,
			topology.CPU: survey.EndCPU}[f.t.Devices()[to].Kind]
		bus := f.bus[to]
		if end != survey.EndGPU {
			bus = fmt.Sprintf("0000:f%x:%02x.0", end, to)
		}
		for range f.t.Links()[l].Count {
			g.Ports = append(g.Ports, survey.Port{Up: true, End: end, Bus: bus, Raw: c.Rate * 17 / 16})
		}
	}
	router := topology.NewRouter(f.t)
	for other := range f.t.Ranks() {
		r, err := router.Route(rank, other)
		if err != nil {
			f.tb.Fatal(err)
		}
		g.Peers = append(g.Peers, survey.Peer{NVLink: r.Kind == topology.Direct || r.Kind == topology.Switched,
			PCIe: r.Kind >= topology.PIX &&
				r.Kind <= topology.SYS})
	}
	return g
}
