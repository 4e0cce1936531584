package smitopo

import (
	"os"
	"strings"
	"testing"

	"railyard/model/health"
)

// linksSaid are the NVLinks that a matrix says of each of its GPUs; −1: nothing.
func linksSaid(t *testing.T, text string) (out []float64) {
	t.Helper()
	m, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	s := &health.State{}
	m.Say(s, "topo.txt")
	for i := range m.GPUs() {
		n := -1.
		if v, ok := s.GPU(i).Fact("links_up"); ok {
			n = v.Is.(float64)
		}
		out = append(out, n)
	}
	return out
}

// A GPU that has lost all NVLinks of a fabric has none, as vllm-project/vllm#16336 shows of a B200; one beside bridged ones never had any.
func TestGPUsThatLostTheirNVLinks(t *testing.T) {
	data, err := os.ReadFile("testdata/h100-8.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "GPU3"):
			lines[i] = strings.ReplaceAll(line, "NV18", "NODE")
		case strings.HasPrefix(line, "GPU") && len(fields) > 4 && fields[4] == "NV18":
			fields[4] = "NODE"
			lines[i] = strings.Join(fields, "\t")
		}
	}
	for gpu, n := range linksSaid(t, strings.Join(lines, "\n")) {
		if want := map[bool]float64{true: 0, false: 18}[gpu == 3]; n != want {
			t.Errorf("GPU %d: %g NVLinks, want %g", gpu, n, want)
		}
	}
	for gpu, n := range linksSaid(t, strings.ReplaceAll(string(data), "NV18", "NODE")) {
		if n != 0 {
			t.Errorf("GPU %d of a machine without: %g", gpu, n)
		}
	}
	bridged := "\tGPU0\tGPU1\tGPU2\tCPU Affinity\nGPU0\tX\tNV4\tSYS\t0-3\nGPU1\tNV4\tX\tSYS\t0-3\nGPU2\tSYS\tSYS\tX\t0-3\n"
	if got := linksSaid(t, bridged); got[0] != 4 || got[2] != -1 {
		t.Errorf("beside a bridge: %v", got)
	}
	only := "\tGPU0\tGPU1\tCPU Affinity\nGPU0\tX\tPHB\t0-3\nGPU1\tPHB\tX\t0-3\n" // as topo -mp, whose legend has no NV#
	if got := linksSaid(t, only); got[0] != -1 {
		t.Errorf("without a legend: %v", got)
	}
}
