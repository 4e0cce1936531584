package nvidiasmi

import (
	"os"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
	"railyard/model/health"
)

func read(t *testing.T, file string) *health.State {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	s := new(health.State)
	read := ReadXML
	if IsText(data) {
		read = ReadText
	} else if !IsXML(data) {
		t.Fatalf("%s: of neither kind", file)
	}
	if err := read(s, file, data); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestXMLAndTextSayTheSame: dumps of one H200, driver 580.159.04, taken one after the other.
func TestXMLAndTextSayTheSame(t *testing.T) {
	a, b := read(t, "h200-580.xml"), read(t, "h200-580.txt")
	for _, fact := range a.GPU(0).Facts() {
		f, _ := health.FactOf(health.GPU, fact)
		x, _ := a.GPU(0).Fact(fact)
		y, ok := b.GPU(0).Fact(fact)
		if !ok || x.Is != y.Is && !f.Moves {
			t.Errorf("%s: %v in XML, %v in text", fact, x.Is, y.Is)
		}
	}
	p := a.GPU(0)
	if p.Text("product") != "NVIDIA H200" || p.Text("bus") != "0000:00:06.0" || p.Number("pcie_width") != 16 ||
		p.Number("memory") != 143771<<20 ||
		p.Yes("throttle_hardware") || !p.Yes("throttle_usual") ||
		!p.Yes("ecc") || p.Yes("rows_failed") || p.Number("power_limit") != 700 || a.Host().Text("driver") != "580.159.04" {
		t.Errorf("%v", p.Facts())
	}
	if v, _ := p.Fact("pcie_width"); v.From != "h200-580.xml:93" {
		t.Errorf("from %s", v.From)
	}
}

// TestProcesses: those that compute on each GPU; what draws does not.
func TestProcesses(t *testing.T) {
	one := func(pid, kind string) string {
		return "<process_info><pid>" + pid + "</pid><type>" + kind + "</type><used_memory>5 MiB</used_memory></process_info>"
	}
	text := "<nvidia_smi_log><gpu id=\"00000000:18:00.0\"><processes>" + one("812", "G") + one("4711", "C") + one("4712", "M+C") +
		"</processes></gpu><gpu id=\"00000000:19:00.0\"><processes>" + one("4713", "C") + "</processes></gpu></nvidia_smi_log>"
	s := new(health.State)
	if err := ReadXML(s, "f", []byte(text)); err != nil {
		t.Fatal(err)
	}
	if got := s.GPU(0).Text("processes") + ", " + s.GPU(1).Text("processes"); got != "4711 4712, 4713" {
		t.Error(got)
	}
}

// TestMistakesHaveLines: what is wrong is said with its line.
func TestMistakesHaveLines(t *testing.T) {
	for text, want := range map[string]string{
		"<nvidia_smi_log>\n<gpu " +
			"id=\"00000000:1B:00.0\">\n<pci><pci_gpu_link_info><link_widths><current_link_width>wide</current_link_width>" +
			"</link_widths></pci_gpu_link_info></pci></gpu></nvidia_smi_log>": `line 3: pcie_width: "wide" is not a number`,
		"<nvidia_smi_log>\n<gpu id=\"here\"></gpu></nvidia_smi_log>": `line 2: "here" is not a PCI address`,
		"<nvidia_smi_log>\n<gpu id=\"":                               "line 2: XML syntax error",
		"<nvidia_smi_log></nvidia_smi_log>":                          "it names no GPU",
		"<nvidia_smi_log>" + strings.Repeat("<x>", 40):               "line 1: elements nest deeper than 32",
	} {
		if err := ReadXML(new(health.State), "f", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestNVLink: rates and errors, in the form of the drivers 535 (leptonai/gpud, an A100) and 450.
func TestNVLink(t *testing.T) {
	rates := "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0)\n\t Link 0: 25 GB/s\n\t Link 1: <inactive>\nGPU 1: NVIDIA A100-SXM4-80GB " +
		"(UUID: GPU-1)\n" +
		"\t Link 0: 25 GB/s\n\t Link 1: 25 GB/s\n"
	errors := "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0)\n\t Link 0: Replay Errors: 3\n\t Link 0: Recovery Errors: 1\n\t Link 0: CRC " +
		"FLIT Errors: 2\n" +
		"\t Link 0: CRC Data Errors: 5\n\t Link 0: Effective BER: 15e-254\n"
	s := new(health.State)
	if !IsRates([]byte("root@a:~# nvidia-smi nvlink -s\n" + rates)) {
		t.Error("what a shell prints before it hides it")
	}
	if !IsRates([]byte(rates)) || IsErrors([]byte(rates)) || !IsErrors([]byte(errors)) || IsRates([]byte(errors)) {
		t.Error("one is taken for the other")
	}
	for _, text := range []string{rates, errors} {
		if err := ReadNVLink(s, "f", []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	link := s.Part(health.NVLink, "0/0")
	if s.GPU(0).Number("links_up") != 1 || s.GPU(0).Number("links") != 2 || s.GPU(1).Number("links_up") != 2 || link.Number("rate") != 25 ||
		link.Number("replays") != 3 || link.Number("recoveries") != 1 || link.Number("crc_errors") != 7 ||
		s.Part(health.NVLink, "0/1").Yes("up") {
		t.Errorf("%v", link.Facts())
	}
	for text, want := range map[string]string{
		"GPU 0: x\n Link 0: fast GB/s\n":           "line 2: ",
		"Link 0: 25 GB/s\n":                        "line 1: link 0 of no GPU",
		"GPU 0: x\n Link 900: 25 GB/s\n":           "line 2: ",
		"GPU 0: x\n Link 0: Replay Errors: many\n": "line 2: Replay Errors: ",
		"GPU 99999: x\n":                           "line 1: GPU 99999",
	} {
		if err := ReadNVLink(new(health.State), "f", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, file := range []string{"h200-580.xml", "h200-580.txt"} {
		data, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[:4000])
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		_ = ReadXML(new(health.State), "f", data)
		_ = ReadText(new(health.State), "f", data)
		_ = ReadNVLink(new(health.State), "f", data)
	})
}
