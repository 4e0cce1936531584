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
		{"mi300x-8.txt", "bus=0000:0c:00.0 links_up=7 peers_reached=7"},
		{"mi210-8.txt", "numa=0"},
		{"rx7900-2.txt", "bus=0000:03:00.0 peers_reached=0"},
		{"static-mi300a.txt", "bus=0000:01:00.0 memory=1.01116280832e+11 numa=0 pcie_gen_device=5 pcie_width_max=16 power_limit=550 " +
			"product=AMD Instinct MI300A"},
		{"concise.txt", "power_limit=650 product=MI300X"},
		{"metric-mi300x.txt", "clock=2102 clock_max=2102 ecc_uncorrected=0 memory=2.06141652992e+11 memory_used=2.96747008e+08 pcie_gen=5 " +
			"pcie_replays=0 pcie_width=16 throttle_thermal=false utilization=100"},
		{"metric.json", "bus=0000:05:00.0 ecc_uncorrected=0 memory=2.06141652992e+11 pcie_gen=5 pcie_gen_device=5 pcie_replays=3 " +
			"pcie_width=16 pcie_width_max=16 product=MI300X-O throttle_thermal=true utilization=100"},
		{"xgmi-3.txt", "bus=0000:05:00.0 links_up=3"},
		{"xgmi-3.json", "bus=0000:05:00.0 links_up=3"},
	} {
		var s health.State
		data := []byte(text(t, c.file))
		if !Is(data) || Begins(data) && (HasLinks(data) || HasMetrics(data)) {
			t.Errorf("%s is not known for what it is", c.file)
		}
		if err := ReadHealth(&s, "f", data); err != nil {
			t.Fatal(err)
		}
		var got []string
		p := s.GPU(0)
		for _, f := range p.Facts() {
			v, _ := p.Fact(f)
			got = append(got, f+"="+fmt.Sprint(v.Is))
		}
		if _, counted := s.Host().Fact("gpus"); counted == (strings.HasPrefix(c.file, "xgmi") || c.file == "metric-mi300x.txt") {
			t.Errorf("%s: the number of GPUs is known: %v", c.file, counted)
		}
		if text := strings.Join(got, " "); text != c.want || len(s.Notes) > 0 {
			t.Errorf("%s: %s, want %s; %q", c.file, text, c.want, s.Notes)
		}
	}
}

// TestLinksDown: of links that are down, or of which the driver does not tell, none is up.
func TestLinksDown(t *testing.T) {
	for _, c := range []struct{ cell, want string }{{"U/U", "links_up=3"}, {"U/D", "links_up=2"}, {"X", "links_up=1"}, {"N/A", "links_up=1"}} {
		for _, file := range []string{"xgmi-3.txt", "xgmi-3.json"} {
			var s health.State
			if err := ReadHealth(&s, "f", []byte(strings.ReplaceAll(text(t, file), "U/U", c.cell))); err != nil {
				t.Fatal(err)
			}
			if v, _ := s.GPU(0).Fact("links_up"); fmt.Sprint("links_up=", v.Is) != c.want {
				t.Errorf("%s, %s: %v", file, c.cell, v.Is)
			}
		}
	}
	unsaid := strings.NewReplacer("U/U", "N/A", " U ", " N/A ", " D ", " N/A ", " U\n", " N/A\n", " D\n", " N/A\n")
	unknown := unsaid.Replace(text(t, "xgmi-3.txt"))
	var s health.State
	if err := ReadHealth(&s, "f", []byte(unknown)); err != nil {
		t.Fatal(err)
	}
	if v, known := s.GPU(0).Fact("links_up"); known {
		t.Errorf("where nothing is known: %v", v.Is)
	}
}

// TestJSON: matrices say the same in each format of JSON as in text.
func TestJSON(t *testing.T) {
	for _, file := range []string{"mi300x-8.txt", "mi210-8.txt"} {
		m, err := Read(strings.NewReader(text(t, file)))
		if err != nil {
			t.Fatal(err)
		}
		for name, written := range map[string]string{"links": m.asLinks(), "rows": m.asRows(), "pairs": m.asPairs()} {
			if !Begins([]byte(written)) || !Is([]byte(written)) {
				t.Errorf("%s, %s: is not known for what it is", file, name)
			}
			back, err := Read(strings.NewReader(written))
			if err != nil {
				t.Fatalf("%s, %s: %v\n%s", file, name, err, written)
			}
			for i := range m.Cells {
				for j, want := range m.Cells[i] {
					if name == "pairs" { // without rates
						want.Slow, want.Fast = 0, 0
					}
					if got := back.Cells[i][j]; i != j && got != want {
						t.Errorf("%s, %s, %d to %d: %+v, want %+v", file, name, i, j, got, want)
					}
				}
			}
			if name == "links" && back.GPUs[3].Bus != m.GPUs[3].Bus {
				t.Errorf("%s: %s instead of %s", file, back.GPUs[3].Bus, m.GPUs[3].Bus)
			}
		}
	}
}

// cellOf is what amd-smi writes of a pair.
func (m *Machine) cellOf(i, j int) (kind, access, rates string) {
	c := m.Cells[i][j]
	kind, access, rates = string(c.Kind), "N/A", "N/A"
	if i == j {
		kind = "SELF"
	}
	if c.On {
		access = "ENABLED"
	}
	if c.Fast > 0 {
		rates = fmt.Sprintf("%d-%d", c.Slow, c.Fast)
	}
	return kind, access, rates
}

// asLinks is amd-smi topology --json of 6.2 and later.
func (m *Machine) asLinks() string {
	var b strings.Builder
	for i := range m.GPUs {
		bus := ""
		if m.GPUs[i].Bus != "" {
			bus = fmt.Sprintf(`, "bdf": %q`, m.GPUs[i].Bus)
		}
		fmt.Fprintf(&b, `%s{"gpu": %d%s, "links": [`, map[bool]string{true: ",\n"}[i > 0], i, bus)
		for j := range m.GPUs {
			kind, access, rates := m.cellOf(i, j)
			fmt.Fprintf(&b, `%s{"gpu": %d, "weight": %d, "link_status": %q, "link_type": %q, "num_hops": %d, "bandwidth": %q}`,
				map[bool]string{true: ", "}[j > 0], j, m.Cells[i][j].Weight, access, kind, m.Cells[i][j].Hops, rates)
		}
		b.WriteString("]}")
	}
	return "[" + b.String() + "]"
}

// asRows is that of versions before.
func (m *Machine) asRows() string {
	var b strings.Builder
	for i := range m.GPUs {
		rows := map[string][]string{}
		for j, c := range m.Cells[i] {
			kind, access, rates := m.cellOf(i, j)
			for name, text := range map[string]string{"link_accessibility": fmt.Sprintf("%q", access), "weight": fmt.Sprint(c.Weight),
				"hops": fmt.Sprint(c.Hops), "link_type": fmt.Sprintf("%q", kind), "numa_bandwidth": fmt.Sprintf("%q", rates)} {
				rows[name] = append(rows[name], fmt.Sprintf(`"gpu_%d": %s`, j, text))
			}
		}
		fmt.Fprintf(&b, `%s{"gpu": %d`, map[bool]string{true: ",\n"}[i > 0], i)
		for name, row := range rows {
			fmt.Fprintf(&b, `, %q: {%s}`, name, strings.Join(row, ", "))
		}
		b.WriteString("}")
	}
	return "[" + b.String() + "]"
}

// asPairs is rocm-smi --showtopo --json.
func (m *Machine) asPairs() string {
	var list []string
	for i := range m.GPUs {
		for j, c := range m.Cells[i][:i] {
			of := fmt.Sprintf("between DRM devices %d and %d", j, i)
			list = append(list, fmt.Sprintf(`"(Topology) Weight %s": "%d"`, of, c.Weight), fmt.Sprintf(`"(Topology) Hops %s": "%d"`, of, c.Hops),
				fmt.Sprintf(`"(Topology) Link type %s": %q`, of, c.Kind))
			if c.On {
				list = append(list, fmt.Sprintf(`"(Topology) Link accessibility %s": "True"`, of))
			}
		}
	}
	return `{"card0": {"(Topology) Numa Node": "0"}, "system": {` + strings.Join(list, ", ") + `}}`
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
	{valid, `[{"gpu": 0, "links": [{"gpu": 1, "weight": -1}]}]`, "gpu 0: to GPU 1: weight: \"-1\" is not understood"},
	{valid, `[{"gpu": 0, "links": [{"weight": 1}]}]`, "gpu 0: a link leads to no GPU"},
	{valid, `[{"gpu": 0, "links": [{"gpu": 1, "num_hops": 2}]}]`, "GPU1 to GPU0: , weight 0, hops 0, but , 0, 2 the other way"},
	{valid, `[{"gpu": 0, "bdf": "x"}]`, `gpu 0: BDF: "x" is not understood`},
	{valid, `[{"gpu": 1e9}]`, "gpu 1e9: GPU 1e9: more than a machine has"},
	{valid, `[{"gpu": 0}`, "behind byte 0: unexpected EOF"},
	{valid, `{"gpu": 0, "pcie": {"width": "x"}}`, `gpu 0: PCIE/WIDTH: "x" is not understood`},
	{valid, `[{"gpu": 0, "link_status": ["SELF", "?"]}]`, `gpu 0: "?" is no state of a link`},
	{valid, `[{"gpu": 0, "link_status": ["SELF", "U"]}, {"gpu": 1, "link_status": ["SELF"]}]`, "gpu 1: states of GPU 1 to 1 GPUs, where"},
	{valid, "XGMI LINK STATUS:\nGPU0 0000:05:00.0 SELF u\n", `line 2: "u" is no state of a link`},
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
	for _, file := range []string{"mi300x-8.txt", "mi210-8.txt", "pcie-4.txt", "rx7900-2.txt", "static-mi300a.txt", "concise.txt",
		"metric-mi300x.txt", "metric.json", "xgmi-3.txt", "xgmi-3.json"} {
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
