package nvidiasmi

import (
	"bytes"
	"strings"

	"railyard/model/health"
)

// IsText reports whether a file is what `nvidia-smi -q` writes.
func IsText(data []byte) bool {
	return bytes.Contains(data[:min(len(data), 1024)], []byte("NVSMI LOG===="))
}

// ReadText reads what `nvidia-smi -q` writes: "name : value" below headings, in which what stands deeper belongs to what stands above.
func ReadText(s *health.State, file string, data []byte) error {
	r := &report{state: s, file: file}
	var above []heading
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimRight(line, " \r")
		name, value, pair := strings.Cut(line, ": ")
		depth := len(line) - len(strings.TrimLeft(line, " \t"))
		name = strings.TrimSpace(strings.TrimSuffix(name, ":"))
		if name == "" || len(above) > maxDepth {
			continue
		}
		for len(above) > 0 && above[len(above)-1].depth >= depth {
			above = above[:len(above)-1]
		}
		if address, ok := strings.CutPrefix(name, "GPU "); ok && depth == 0 && !pair {
			r.begin(i+1, address)
		}
		above = append(above, heading{depth, name})
		switch value = strings.TrimSpace(value); {
		case !pair:
		case name == "Driver Version" && depth == 0:
			r.host(i+1, "driver", value)
		case name == "CUDA Version" && depth == 0:
			r.host(i+1, "cuda", value)
		case name == "Attached GPUs" && depth == 0:
			r.attached(i+1, value)
		case len(above) > 1:
			if e := byText[pathOf(above[1:])]; e != nil {
				r.value(i+1, e, value)
			}
		}
	}
	return r.end()
}

// heading is a line with others below it.
type heading struct {
	depth int
	name  string
}

func pathOf(list []heading) string {
	names := make([]string, len(list))
	for i, h := range list {
		names[i] = h.name
	}
	return strings.Join(names, "/")
}
