package smitopo

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	_ "railyard/internal/long" // accepts -long
	"railyard/interop/interoptest"
	"railyard/model/survey"
	"railyard/model/topology"
)

var day = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

func read(t *testing.T, file string) *Matrix {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// imported is the topology that a matrix becomes, with its text.
func imported(t *testing.T, m *Matrix, product survey.Product) (*topology.Topology, string) {
	t.Helper()
	n, err := m.Node(product)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := n.Write(&b, day); err != nil {
		t.Fatal(err)
	}
	x, err := topology.Parse("imported.yaml", b.Bytes(), nil, topology.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return x, b.String()
}

func TestRead(t *testing.T) {
	m := read(t, "h100-8.txt")
	if m.GPUs() != 8 || len(m.Devices) != 17 || m.Cells[0][1] != (Cell{NV, 18}) || m.Cells[0][16].Kind != PIX ||
		m.Cells[16][5].Kind != SYS {
		t.Errorf("%+v", m)
	}
	if d := m.Devices[5]; d.CPUs != "80-159" || d.NUMA != "1" || m.Devices[8].Adapter != "mlx5_0" {
		t.Errorf("%+v", d)
	}
	if m := read(t, "dgx2.txt"); m.GPUs() != 16 || m.Devices[16].Adapter != "mlx5_0" || m.Devices[3].CPUs != "0-23,48-71" ||
		m.Devices[3].NUMA != "" {
		t.Errorf("%+v", m.Devices)
	}
}

// TestImports: what the matrix says of GPUs holds in the topology that it becomes.
func TestImports(t *testing.T) {
	for _, c := range []struct {
		file, gpu, profile string
		switches, cpus     int
		says               []string
	}{
		{"h100-8.txt", "", "h100", 8, 3, []string{"assumed to be h100 by their 18 NVLinks", "rates are not said: x16 of generation 5"}},
		{"h100-8.txt", "h200", "h200", 8, 3, []string{"nvswitch0 stands for all"}},
		{"dgx2.txt", "", "v100", 13, 2, []string{"v100 by their 6"}}, // with that of two adapters of one card
		{"dgx1-v100.txt", "", "v100", 4, 2, []string{`kind: pcie_switch, root: "root of GPU0"`}},
		{"rtx3090-2.txt", "rtx3090", "pcie4", 0, 1, []string{"nvlink"}},
		{"t4-4.txt", "", "pcie4", 0, 2, []string{`root: "root of GPU2"`, `root: "root of GPU3"`}}, // GPUs without switches, NODE for each
		{"v100-8.txt", "", "v100", 1, 2, []string{`root: "root of GPU0"`}},
	} {
		t.Run(c.file+c.gpu, func(t *testing.T) {
			m := read(t, c.file)
			var product survey.Product
			if c.gpu != "" {
				var err error
				if product, err = survey.ProductNamed(c.gpu); err != nil {
					t.Fatal(err)
				}
			}
			x, text := imported(t, m, product)
			for _, want := range c.says {
				if want != "nvlink" && !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			count := map[topology.Kind]int{}
			for _, d := range x.Devices() {
				count[d.Kind]++
			}
			if count[topology.PCIeSwitch] != c.switches || count[topology.CPU] != c.cpus || count[topology.NIC] != len(m.Devices)-m.GPUs() {
				t.Errorf("%v\n%s", count, text)
			}
			if x.Profile() != c.profile {
				t.Errorf("profile %q", x.Profile())
			}
			sameCells(t, m, x)
		})
	}
}

// quadrants is a processor of which two GPUs share a host bridge with an adapter, and a third GPU stands at its own.
const quadrants = "\tGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tNUMA Affinity\n" +
	"GPU0\t X \tPHB\tNODE\tPHB\t0-63\t0\nGPU1\tPHB\t X \tNODE\tPHB\t0-63\t0\nGPU2\tNODE\tNODE\t X \tNODE\t0-63\t0\n" +
	"NIC0\tPHB\tPHB\tNODE\t X \n"

// TestQuadrants: of a processor with several host bridges, who shares one and who does not comes back; what says both is left out.
func TestQuadrants(t *testing.T) {
	gpu, err := survey.ProductNamed("l40s")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{quadrants, strings.ReplaceAll(quadrants, "PHB", "NODE"), strings.ReplaceAll(quadrants, "NODE", "PHB")} {
		m, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		x, text := imported(t, m, gpu)
		sameCells(t, m, x)
		if cpu := topology.NewRouter(x).NearestCPUs(x.Ranks()[0]); len(cpu) != 1 || x.Processors(cpu[0]) != "0-63" {
			t.Errorf("%v in %s", cpu, text)
		}
	}
	both := strings.NewReplacer("PHB\t X \tNODE\tPHB", "PHB\t X \tPHB\tPHB", "NODE\tNODE\t X", "NODE\tPHB\t X").Replace(quadrants)
	m, err := Read(strings.NewReader(both))
	if err != nil {
		t.Fatal(err)
	}
	if _, text := imported(t, m, gpu); !strings.Contains(text, "said in two ways") || strings.Contains(text, "root:") {
		t.Errorf("%s", text)
	}
}

// sameCells compares the ways between GPUs and to adapters with the cells.
func sameCells(t *testing.T, m *Matrix, x *topology.Topology) {
	t.Helper()
	r := topology.NewRouter(x)
	for i := range m.GPUs() {
		for j := range m.GPUs() {
			want := m.Cells[i][j]
			route, err := r.Route(i, j)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case i == j:
			case want.Kind == NV:
				if route.Kind > topology.Switched || route.Links != want.Links {
					t.Errorf("GPU %d to %d: %v ×%d, want %v", i, j, route.Kind, route.Links, want)
				}
			case word(route.Kind, r.Bridged(route.Hops)) != want.Kind:
				t.Errorf("GPU %d to %d: %v, want %v", i, j, word(route.Kind, r.Bridged(route.Hops)), want)
			}
		}
		var nics []topology.DeviceID
		for d, dev := range x.Devices() {
			if dev.Kind == topology.NIC {
				nics = append(nics, topology.DeviceID(d))
			}
		}
		for k, d := range nics {
			p, _ := r.PathToNIC(x.Ranks()[i], d)
			if want := m.Cells[i][m.GPUs()+k].Kind; word(p.Kind, p.Bridged) != want {
				t.Errorf("GPU %d to adapter %d: %v, want %v", i, k, word(p.Kind, p.Bridged), want)
			}
		}
	}
}

// word is how the matrix calls a way.
func word(kind topology.RouteKind, bridged bool) Kind {
	if kind == topology.PHB && bridged {
		return NODE
	}
	return Kind(kind.String())
}

const valid = "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n" +
	"GPU0\t X \tNV4\tPIX\t0-7\t0\t\tN/A\nGPU1\tNV4\t X \tSYS\t8-15\t1\t\tN/A\nNIC0\tPIX\tSYS\t X \n\nLegend:\n\n  X    = Self\n\nNIC " +
	"Legend:\n\n" +
	"  NIC0: mlx5_0\n"

var broken = []interoptest.Mistake{
	{"GPU1\tNV4", "GPU1\tNV5", "line 3: GPU1 to GPU0: NV5, but NV4 the other way"},
	{"GPU0\t X ", "GPU0\tPIX", "line 2: GPU0 to GPU0: PIX"},
	{"NV4\tPIX", "NVX\tPIX", "line 2: \"NVX\" is no connection"},
	{"\tPIX\t0-7", "\tNV1\t0-7", "NV1 joins GPUs only"},
	{"GPU1\tNV4", "GPU2\tNV4", "line 3: unexpected row GPU2"},
	{"SYS", "SOC", ""},
	{"NIC0\tPIX\tSYS\t X ", "NIC0\tPIX", "line 4: row NIC0 has fewer cells"},
	{"NIC0\tPIX\tSYS\t X \n", "", "2 rows, but 3 columns"},
	{"GPU1\tNIC0", "GPU0\tNIC0", "two columns are called GPU0"},
	{"GPU1\tNIC0", "NIC0\tGPU1", "line 1: GPU1 comes after an adapter"},
	{"  NIC0: mlx5_0", "  NIC7: mlx5_7", "line 12: the legend names NIC7, which has no column"},
	{"\n\nLegend", "\n```\nLegend", ""},
	{"NV4\tPIX", "OK\tPIX", "\"OK\" is what nvidia-smi topo -p2p prints"},
	{"  X    = Self", "GPU0 GPU1", "line 8: another matrix"},
	{valid, "no topology\n", "no line that begins with GPU0"},
}

func TestBrokenMatrices(t *testing.T) {
	interoptest.Mistakes(t, valid, append(broken, interoptest.Mistake{valid, "# a shell\n" + valid, ""}), func(r io.Reader) error {
		_, err := Read(r)
		return err
	})
}

func FuzzRead(f *testing.F) {
	interoptest.Fuzz(f, valid, broken, func(t *testing.T, r io.Reader) {
		m, err := Read(r)
		if err != nil {
			return
		}
		n, err := m.Node(survey.Product{})
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := n.Write(&b, day); err != nil {
			return
		}
		if _, err := topology.Parse("imported.yaml", b.Bytes(), nil, topology.Options{}); err != nil {
			t.Errorf("%v\n%s", err, b.String())
		}
	})
}
