package amdsmi

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	_ "railyard/internal/long" // accepts -long
	"railyard/interop/interoptest"
	"railyard/model/health"
	"railyard/model/survey"
	"railyard/model/topology"
)

var day = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)

func text(t testing.TB, file string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func product(t testing.TB, name string) survey.Product {
	t.Helper()
	if name == "" {
		return survey.Product{}
	}
	p, err := survey.ProductNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// imported is the topology that outputs become, with its text.
func imported(t testing.TB, m *Machine, p survey.Product) (*topology.Topology, string) {
	t.Helper()
	n, err := m.Node(p)
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

// TestImports: how each pair is joined holds in the topology that outputs become.
func TestImports(t *testing.T) {
	for _, c := range []struct {
		file, gpu, profile string
		cpus               int
		says               []string
	}{
		{"mi300x-8.txt", "mi300x", "mi300x", 1, []string{"which processor each GPU is near is not said", "xgmi3"}},
		{"mi210-8.txt", "mi210", "mi250x", 2, []string{"one each is assumed", "xgmi2"}},
		{"pcie-4.txt", "", "", 4, []string{"GPUs are drawn at their processor"}},
		{"rx7900-2.txt", "", "", 1, []string{"p2p: false"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			data := text(t, c.file)
			if !Begins([]byte(data)) || !Is([]byte(data)) {
				t.Error("is not known for what it is")
			}
			m, err := Read(strings.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			x, text := imported(t, m, product(t, c.gpu))
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			cpus := 0
			for _, d := range x.Devices() {
				if d.Kind == topology.CPU {
					cpus++
				}
			}
			if cpus != c.cpus || x.Profile() != c.profile {
				t.Errorf("%d processors, profile %q\n%s", cpus, x.Profile(), text)
			}
			sameCells(t, m, x)
		})
	}
}

func sameCells(t *testing.T, m *Machine, x *topology.Topology) {
	t.Helper()
	r := topology.NewRouter(x)
	for i := range m.GPUs {
		for j, c := range m.Cells[i] {
			if i == j {
				continue
			}
			route, err := r.Route(i, j)
			if err != nil {
				t.Fatal(err)
			}
			want := topology.PHB
			switch {
			case c.Kind == XGMI:
				want = topology.Direct
			case c.Off:
				want = topology.HostStaged
			case c.Hops > 2:
				want = topology.SYS
			}
			if route.Kind != want || want == topology.Direct && route.Links != m.Links(i, j) {
				t.Errorf("GPU %d to %d: %v ×%d, want %v of %+v", i, j, route.Kind, route.Links, want, c)
			}
		}
	}
}

// TestLinks: rates tell how many links join two GPUs, and that none does; where there are no rates, weights tell the latter.
func TestLinks(t *testing.T) {
	for _, c := range []struct {
		rates, weight string
		want          int
	}{{"50000-200000", "15", 4}, {"50000-50000", "15", 1}, {"0-0", "15", 1}, {"0-0", "30", 0}, {"0-0", "0", 1}, {"0-50000", "15", 1}} {
		r := strings.NewReplacer("50000-50000", c.rates, " 15 ", " "+c.weight+" ", " 15\n", " "+c.weight+"\n")
		m, err := Read(strings.NewReader(r.Replace(text(t, "mi300x-8.txt"))))
		if err != nil || m.Links(0, 7) != c.want || m.Direct(3, 1) != (c.want > 0) {
			t.Errorf("%+v: %v, %v", c, m, err)
		}
	}
	for _, wrong := range []string{"1-50000", "7-5", "x-1", "5"} { // more links than GPUs have, and no rates
		_, err := Read(strings.NewReader(strings.Replace(text(t, "mi300x-8.txt"), "50000-50000", wrong, 1)))
		if err == nil || !strings.Contains(err.Error(), "is no cell of NUMA BW") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	one := strings.Replace(strings.Replace(text(t, "mi300x-8.txt"), "50000-50000", "0-0", 1), "\n0000:22:00.0 50000-50000", "\n0000:22:00.0 0-0", 1)
	m, err := Read(strings.NewReader(one))
	if err != nil || m.Links(0, 1) != 0 || m.Links(0, 2) != 1 {
		t.Errorf("%v, %v", m, err)
	}
	x, written := imported(t, m, product(t, "mi300x"))
	if n := len(x.Out(x.Ranks()[0])); n != 7 || !strings.Contains(written, "gpu0 and gpu1 reach each other over other GPUs") { // six and PCIe
		t.Errorf("%d links of gpu0\n%s", n, written)
	}
}

// TestHealth: what the outputs say are facts, and no others.
func TestHealth(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"mi300x-8.txt", "bus=0000:0c:00.0 peers_reached=7 xgmi_up=7"},
		{"mi210-8.txt", "numa=0"},
		{"rx7900-2.txt", "bus=0000:03:00.0 peers_reached=0"},
		{"static-mi300a.txt", "bus=0000:01:00.0 memory=1.01116280832e+11 numa=0 pcie_gen_device=5 pcie_width_max=16 power_limit=550 " +
			"product=AMD Instinct MI300A"},
		{"concise.txt", "power_limit=650 product=MI300X"},
	} {
		var s health.State
		if err := ReadHealth(&s, "f", []byte(text(t, c.file))); err != nil {
			t.Fatal(err)
		}
		var got []string
		p := s.GPU(0)
		for _, f := range p.Facts() {
			v, _ := p.Fact(f)
			got = append(got, f+"="+fmt.Sprint(v.Is))
		}
		if text := strings.Join(got, " "); text != c.want || len(s.Notes) > 0 {
			t.Errorf("%s: %s, want %s; %q", c.file, text, c.want, s.Notes)
		}
	}
}

// valid are two outputs in one file.
const valid = "$ amd-smi topology\nWEIGHT TABLE:\n             0000:03:00.0 0000:0c:00.0\n0000:03:00.0 0            15\n0000:0c:00.0 15           0\n" +
	"LINK TYPE TABLE:\n             0000:03:00.0 0000:0c:00.0\n0000:03:00.0 SELF         XGMI\n0000:0c:00.0 XGMI         SELF\n" +
	"DMA TABLE:\n             0000:03:00.0 0000:0c:00.0\n0000:03:00.0 SELF         T\n\n" +
	"GPU: 0\n    ASIC:\n        DEVICE_ID: 0x74a1\n    BUS:\n        BDF: 0000:03:00.0\n        MAX_PCIE_WIDTH: 16\n    NUMA:\n        NODE: 0\n" +
	"GPU[1]\t\t: (Topology) Numa Node: 1\n"

var broken = []interoptest.Mistake{
	{"15\n0000:0c", "x\n0000:0c", `line 4: 0000:03:00.0 to 0000:0c:00.0: "x" is no cell of WEIGHT`},
	{"15           0\n", "30           0\n", "0000:0c:00.0 to 0000:03:00.0: XGMI, weight 30, hops 0, but XGMI, 15, 0 the other way"},
	{"0000:0c:00.0 XGMI         SELF\n", "", "LINK TYPE: rows are missing: the text is cut off"},
	{"SELF         XGMI\n", "SELF         XGMI         XGMI\n", "has 3 cells, but there are 2 columns"},
	{"0000:03:00.0 0            15", "0000:0c:00.0 0            15", "line 4: unexpected row 0000:0c:00.0"},
	{"0000:03:00.0 0            15", "0000:03:00.0 15           15", "0000:03:00.0 to itself: , weight 15"},
	{"LINK TYPE TABLE:\n             0000:03:00.0 0000:0c:00.0", "LINK TYPE TABLE:\n             0000:03:00.0 0000:0d:00.0",
		"line 7: GPU 1 is 0000:0c:00.0 and 0000:0d:00.0"},
	{"LINK TYPE TABLE:", "WEIGHT TABLE:", "line 6: WEIGHT a second time"},
	{"BDF: 0000:03:00.0", "BDF: 0000:04:00.0", `line 18: BUS/BDF: "0000:04:00.0" is not understood, or not what was said before`},
	{"GPU: 0", "GPU: 2", "3 GPUs, but matrices of 2"},
	{"GPU: 0", "GPU: 999", "line 14: GPU 999: more than a machine has"},
	{"NODE: 0", "NODE: x", `line 21: NUMA/NODE: "x"`},
	{"MAX_PCIE_WIDTH: 16", "MAX_PCIE_WIDTH: N/A", ""},
	{valid, "no output\n", "no GPU: this is no output of rocm-smi"},
}

func TestMistakes(t *testing.T) {
	if m, err := Read(strings.NewReader(valid)); err != nil || m.GPUs[0].NUMA != 0 || m.GPUs[1].NUMA != -1 {
		t.Errorf("%+v, %v", m, err)
	}
	interoptest.Mistakes(t, valid, broken, func(r io.Reader) error {
		_, err := Read(r)
		return err
	})
	m, err := Read(strings.NewReader(text(t, "mi300x-8.txt")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Node(survey.Product{}); err == nil || !strings.Contains(err.Error(), "--how gpu=mi300x") {
		t.Error(err)
	}
	both := text(t, "mi300x-8.txt") + "GPU: 0\n    ASIC:\n        TARGET_GRAPHICS_VERSION: gfx942\n"
	if m, err = Read(strings.NewReader(both)); err != nil || m.GPUs[0].Arch != "gfx942" {
		t.Errorf("%v, %v", m, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, file := range []string{"mi300x-8.txt", "mi210-8.txt", "pcie-4.txt", "rx7900-2.txt", "static-mi300a.txt", "concise.txt"} {
		f.Add([]byte(text(f, file)))
	}
	interoptest.Fuzz(f, valid, broken, func(t *testing.T, r io.Reader) {
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		var s health.State
		if err := ReadHealth(&s, "f", data); err != nil {
			return
		}
		m, err := Read(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		n, err := m.Node(product(t, "mi300x"))
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
