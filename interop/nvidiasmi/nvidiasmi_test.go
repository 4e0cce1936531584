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
		x, _ := a.GPU(0).Known(fact)
		y, ok := b.GPU(0).Known(fact)
		if !ok || x.Is != y.Is && !f.Moves {
			t.Errorf("%s: %v in XML, %v in text", fact, x.Is, y.Is)
		}
	}
	p := a.GPU(0)
	if p.Text("product") != "NVIDIA H200" || p.Text("bus") != "0000:00:06.0" || p.Number("pcie_width") != 16 || p.Number("memory") != 143771<<20 ||
		!p.Yes("ecc") || p.Yes("rows_failed") || p.Number("power_limit") != 700 || a.Host().Text("driver") != "580.159.04" {
		t.Errorf("%v", p.Facts())
	}
	if v, _ := p.Known("pcie_width"); v.From != "h200-580.xml:93" {
		t.Errorf("from %s", v.From)
	}
}

// TestMistakesHaveLines: what is wrong is said with its line.
func TestMistakesHaveLines(t *testing.T) {
	for text, want := range map[string]string{
		"<nvidia_smi_log>\n<gpu id=\"00000000:1B:00.0\">\n<pci><pci_gpu_link_info><link_widths><current_link_width>wide</current_link_width>" +
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
	})
}
