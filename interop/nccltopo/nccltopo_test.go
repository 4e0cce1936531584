package nccltopo

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	_ "railyard/internal/long" // accepts -long
	"railyard/interop/interoptest"
	"railyard/model/health"
	"railyard/model/survey"
	"railyard/model/topology"
)

var day = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

// imported is the topology that a file becomes, with its text.
func imported(t *testing.T, file string) (*topology.Topology, string) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	b := written(t, s)
	x, err := topology.Parse(file, b.Bytes(), nil, topology.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return x, b.String()
}

// written is the topology file of a system, as import writes it.
func written(t *testing.T, s *System) *bytes.Buffer {
	hosts, err := s.Hosts()
	if err != nil {
		t.Fatal(err)
	}
	b := new(bytes.Buffer)
	if len(hosts) == 1 {
		err = hosts[0].Write(b, day)
	} else {
		err = (&survey.Rack{Name: "imported", Source: hosts[0].Source, Hosts: hosts}).Write(b, day)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// kinds are how the first GPU reaches the others.
func kinds(t *testing.T, x *topology.Topology) (out []string) {
	r := topology.NewRouter(x)
	for b := 1; b < x.NumRanks(); b++ {
		route, err := r.Route(0, b)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%v %d %.4g", route.Kind, route.Links, route.Rate.GBps()))
	}
	return out
}

func TestDumps(t *testing.T) {
	for _, c := range []struct {
		file, profile string
		devices       map[topology.Kind]int
		from0         []string
		says          []string
	}{
		{"h200-4-virtual.xml", "h200", map[topology.Kind]int{topology.GPU: 4, topology.NVSwitch: 1, topology.CPU: 1, topology.NIC: 1},
			[]string{"NVS 18 450", "NVS 18 450", "NVS 18 450"},
			[]string{"not visible", "pcie5x16", "x16 is assumed", "eth0", "kind: gpu, ports: 18"}},
		{"dgx-a100.xml", "a100", map[topology.Kind]int{topology.GPU: 8, topology.NVSwitch: 6, topology.PCIeSwitch: 12, topology.CPU: 5,
			topology.NIC: 10}, []string{"NVS 12 300", "NVS 12 300", "NVS 12 300", "NVS 12 300", "NVS 12 300", "NVS 12 300", "NVS 12 300"},
			[]string{"xgmi_socket", "class net200", "further port"}},
		{"h100-8-virtual.xml", "h100", map[topology.Kind]int{topology.GPU: 8, topology.NVSwitch: 4, topology.PCIeSwitch: 8, topology.CPU: 2,
			topology.NIC: 8}, []string{"NVS 18 450", "NVS 18 450", "NVS 18 450", "NVS 18 450", "NVS 18 450", "NVS 18 450", "NVS 18 450"},
			[]string{"upi16", "x16 is assumed", "class net200"}},
		{"gb200-2-trays.xml", "gb200", map[topology.Kind]int{topology.GPU: 8, topology.NVSwitch: 18, topology.CPU: 4, topology.NIC: 8},
			[]string{"NVS 18 900", "NVS 18 900", "NVS 18 900", "NVS 18 900", "NVS 18 900", "NVS 18 900", "NVS 18 900"},
			[]string{"nvlink_c2c", "template: type0, name: \"host[0-1]\"", "planes: 18, group: 2", "clink"}},
		{"dgx1-v100.xml", "v100", map[topology.Kind]int{topology.GPU: 8, topology.PCIeSwitch: 4, topology.CPU: 2, topology.NIC: 4},
			[]string{"NVL 1 25", "NVL 1 25", "NVL 2 50", "NVL 2 50", "SYS 1 15.75", "SYS 1 15.75", "SYS 1 15.75"},
			[]string{"qpi", "pcie3x16"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			x, text := imported(t, c.file)
			count := map[topology.Kind]int{}
			for _, d := range x.Devices() {
				count[d.Kind]++
			}
			if diff := cmp.Diff(c.devices, count); diff != "" {
				t.Errorf("devices (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.from0, kinds(t, x)); diff != "" {
				t.Errorf("GPU 0 (-want +got)\n%s", diff)
			}
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if x.Profile() != c.profile {
				t.Errorf("profile %q", x.Profile())
			}
		})
	}
}

const valid = `<system version="1">
  <cpu host_hash="0x1" numaid="0" affinity="ff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="85">
    <pci busid="0000:03:00.0" class="0x060400" vendor="0x10b5" device="0x8764" link_speed="8 GT/s" link_width="16">
      <pci busid="0000:06:00.0" class="0x030200" vendor="0x10de" device="0x1db5" link_speed="8 GT/s" link_width="16">
        <gpu dev="0" sm="70" rank="0" gdr="1">
          <nvlink target="0000:07:00.0" count="2" tclass="0x030200"/>
        </gpu>
      </pci>
      <pci busid="0000:07:00.0" class="0x030200" vendor="0x10de" device="0x1db5" link_speed="8 GT/s" link_width="16">
        <gpu dev="1" sm="70" rank="1" gdr="1">
          <nvlink target="0000:06:00.0" count="2" tclass="0x030200"/>
        </gpu>
      </pci>
    </pci>
    <nic>
      <net name="eth0" dev="0" speed="10000" port="0" guid="0x0" gdr="0"/>
    </nic>
  </cpu>
</system>
`

var broken = []interoptest.Mistake{
	{`version="1"`, `version="3"`, "NCCL writes 1, RCCL 2"},
	{`numaid="0"`, `numaid="many"`, "line 2: cpu: numaid=\"many\" is not a number"},
	{`busid="0000:06:00.0"`, `busid="gpu0"`, "line 4: pci: busid \"gpu0\" is not a PCI address"},
	{`busid="0000:07:00.0"`, `busid="0000:06:00.0"`, "line 9: pci: 0000:06:00.0 twice"},
	{`dev="1"`, `dev="0"`, "line 10: gpu: dev 0 twice"},
	{`count="2"`, `count="65"`, "line 6: nvlink: count=65 is out of range"},
	{`target="0000:07:00.0"`, `target="there"`, "line 6: nvlink: target \"there\" is not a PCI address"},
	{`<nic>`, `<card>`, "line 15: unexpected element card"},
	{`    <nic>`, `<gpu dev="3" sm="70"/><nic>`, "unexpected element gpu"},
	{`</system>`, ``, "line"},
	{valid, `<graphs version="1"/>`, "unexpected element graphs"},
	{valid, strings.Repeat(`<pci busid="0000:00:00.0">`, 100), "line 1"},
}

// TestRCCL: AMD's GPUs are known by their architecture, as a name or as the number of earlier versions, and joined by Infinity Fabric;
// one whose links are not known to this version is said to be such.
func TestRCCL(t *testing.T) {
	amd := strings.NewReplacer(`version="1"`, `version="2"`, "nvlink", "xgmi", `"0x030200"`, `"0x120000"`, `vendor="0x10de"`, `vendor="0x1002"`,
		`sm="70"`, `sm="304" gcn="gfx942" arch="38911"`, "0x1db5", "0x74a1").Replace(valid)
	for _, c := range []struct{ gcn, class, profile, from0 string }{
		{"gfx942", "xgmi3", "mi300x", "NVL 2 128"}, {"910", "xgmi2", "mi250x", "NVL 2 100"}, {"908", "xgmi1", "", "NVL 2 92"},
		{"gfx950", "xgmi4", "mi300x", "NVL 2 153.6"},
	} {
		s, err := Read(strings.NewReader(strings.ReplaceAll(amd, "gfx942", c.gcn)))
		if err != nil {
			t.Fatal(err)
		}
		text := written(t, s).String()
		x, err := topology.Parse("amd", []byte(text), nil, topology.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := kinds(t, x); !strings.Contains(text, c.class+": {medium: xgmi") || x.Profile() != c.profile || got[0] != c.from0 {
			t.Errorf("%s: %v, profile %q\n%s", c.gcn, got, x.Profile(), text)
		}
	}
	s, err := Read(strings.NewReader(strings.ReplaceAll(amd, "gfx942", "gfx1100")))
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Node(); err != nil || n.Write(io.Discard, day) == nil {
		t.Errorf("links of gfx1100 are known: %v", err)
	}
}

// TestProcessors: masks as NCCL writes them, the highest part first.
func TestProcessors(t *testing.T) {
	for mask, want := range map[string]string{"ffff": "0-15", "0000ffff,00000000,f": "0-3,64-79", "": "", "x": "", "80000001": "0,31"} {
		if got := processors(mask); got != want {
			t.Errorf("%q: %q, want %q", mask, got, want)
		}
	}
}

func TestBrokenFiles(t *testing.T) {
	interoptest.Mistakes(t, valid, append(broken, interoptest.Mistake{valid, "<!-- by hand -->\n" + valid, ""}), func(r io.Reader) error {
		_, err := Read(r)
		return err
	})
}

// TestHosts: hosts of one NVLink domain are in the order of their ranks, with numbers of their own; one that differs has a type of its
// own, and hosts that share no switches are no rack.
func TestHosts(t *testing.T) {
	data, err := os.ReadFile("testdata/gb200-2-trays.xml")
	if err != nil {
		t.Fatal(err)
	}
	try := func(old, new string) (*survey.Rack, *System) {
		s, err := Read(strings.NewReader(strings.ReplaceAll(string(data), old, new)))
		if err != nil {
			t.Fatal(err)
		}
		hosts, err := s.Hosts()
		if err != nil {
			t.Fatal(err)
		}
		return &survey.Rack{Name: "rack", Source: "a test", Hosts: hosts}, s
	}
	r, s := try("mlx5_0\" dev=\"0\" latency=\"0.000000\" speed=\"400000\" port=\"1\" guid=\"0x5", "mlx5_9\" dev=\"7\" guid=\"0x5")
	if len(r.Hosts) != 2 || r.Hosts[0].Adapters[0].Name != "mlx5_0" || r.Hosts[1].Adapters[3].Name != "mlx5_9" {
		t.Errorf("%+v", r.Hosts)
	}
	if _, err := s.Node(); err == nil || !strings.Contains(err.Error(), "it is of 2 hosts") {
		t.Errorf("a machine of two hosts: %v", err)
	}
	r, _ = try(`link_speed="32.0 GT/s PCIe" link_width="16">`+"\n      <nic>\n        <net name=\"mlx5_3\" dev=\"3\" latency=\"0.000000\" "+
		`speed="400000" port="1" guid="0x8"`,
		`link_speed="16.0 GT/s PCIe" link_width="8">`+"\n      <nic>\n        <net name=\"mlx5_3\" dev=\"3\"")
	var b bytes.Buffer
	if err := r.Write(&b, day); err != nil || !strings.Contains(b.String(), `{template: type1, name: "host[1]"}`) {
		t.Errorf("a host that differs: %v\n%s", err, b.String())
	}
	if x, err := topology.Parse("rack.yaml", b.Bytes(), nil, topology.Options{}); err != nil || x.NumNodes() != 2 {
		t.Errorf("%v", err)
	}
	r, _ = try(`target="fffffff:ff:ff.0"`, `target="0000:f3:00.0"`)
	if err := r.Write(&b, day); err == nil || !strings.Contains(err.Error(), "share no NVSwitches") {
		t.Errorf("hosts apart: %v", err)
	}
}

// TestOneSocketAdapter: an adapter without a PCI address, which each process has put under its own processor, is one; a GPU without
// NVLinks beside others that have some has none.
func TestOneSocketAdapter(t *testing.T) {
	nic := "    <nic>\n      <net name=\"eth0\" dev=\"0\" speed=\"10000\" port=\"0\" guid=\"0x0\" gdr=\"0\"/>\n    </nic>\n"
	second := "  <cpu host_hash=\"0x1\" numaid=\"1\" affinity=\"ff00\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"85\">\n" + nic +
		"  </cpu>\n</system>"
	text := strings.Replace(strings.Replace(valid, "</system>", second, 1), `<nvlink target="0000:06:00.0" count="2" tclass="0x030200"/>`, "", 1)
	s, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	n, err := s.Node()
	if err != nil || len(n.Adapters) != 1 {
		t.Fatalf("%+v, %v", n, err)
	}
	var state health.State
	state.SayNode(n, "test")
	for gpu, want := range []float64{2, 0} {
		if up, known := state.GPU(gpu).Fact("links_up"); !known || up.Is != want {
			t.Errorf("GPU %d has %v NVLinks (%v), want %v", gpu, up.Is, known, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	interoptest.Fuzz(f, valid, broken, func(t *testing.T, r io.Reader) {
		s, err := Read(r)
		if err != nil {
			return
		}
		hosts, err := s.Hosts()
		if err != nil {
			return
		}
		var b bytes.Buffer
		write := (&survey.Rack{Name: "rack", Source: "a test", Hosts: hosts}).Write
		if len(hosts) == 1 {
			write = hosts[0].Write
		}
		if err := write(&b, day); err != nil {
			return
		}
		if _, err := topology.Parse("imported.yaml", b.Bytes(), nil, topology.Options{}); err != nil {
			t.Errorf("%v\n%s", err, b.String())
		}
	})
}

// byHand is what clouds write for their machines (Azure's and AWS's files, 2026-11): PCI devices by class alone, which NCCL looks into there.
const byHand = `<!-- two GPUs and an adapter -->
<system version="1">
  <cpu numaid="0" affinity="ffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="ffff:ff:01.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16" vendor="0x0000" device="0x0000">
      <pci busid="0001:00:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"/>
      <pci busid="0002:00:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"/>
      <pci busid="0101:00:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16"/>
    </pci>
  </cpu>
</system>
`

// TestByHand: adapters are drawn by their class; GPUs have the model that is named, and where none is, notes say once what is missing.
func TestByHand(t *testing.T) {
	s, err := Read(strings.NewReader(byHand))
	if err != nil {
		t.Fatal(err)
	}
	text := written(t, s).String()
	for _, want := range []string{"# no gpu element at 0001:00:00.0, 0002:00:00.0:", "# the models of the GPUs at 0001:00:00.0, 0002:00:00.0",
		"rates of 1 adapter are not said", "kind: nic"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	h100, err := survey.ProductNamed("h100")
	if err != nil || !s.Take(h100) {
		t.Fatalf("GPUs are not named: %v", err)
	}
	if text := written(t, s).String(); !strings.Contains(text, "model: h100") || strings.Contains(text, "models of the GPUs") {
		t.Errorf("GPUs of a model:\n%s", text)
	}
	if s.Take(h100) {
		t.Error("GPUs are named twice")
	}
}
