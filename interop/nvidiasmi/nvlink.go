package nvidiasmi

import (
	"slices"
	"strconv"
	"strings"

	"railyard/internal/lazy"
	"railyard/model/health"
)

var (
	gpuLine  = lazy.Regexp(`^GPU (\d+): (?:.*\(UUID: (GPU-[^)]+)\))?`)
	linkLine = lazy.Regexp(`^\s*Link (\d+): (.+)$`)
)

// counters are what `nvidia-smi nvlink -e` counts, by its words.
var counters = map[string]string{"Replay Errors": "replays", "Recovery Errors": "recoveries", "CRC Errors": "crc_errors",
	"CRC FLIT Errors": "crc_errors", "CRC Data Errors": "crc_errors", dataSent: "sent", dataReceived: "received"}

// What `nvidia-smi nvlink -gt d` counts, in KiB of payload.
const dataSent, dataReceived = "Data Tx", "Data Rx"

// maxLinks bounds how many NVLinks a GPU may have.
const maxLinks = 64

// IsRates reports whether a file is what `nvidia-smi nvlink -s` writes.
func IsRates(data []byte) bool {
	text := second(data)
	return text != "" && !strings.Contains(text, "Error") && !strings.Contains(text, "Data")
}

// IsTraffic reports whether a file is what `nvidia-smi nvlink -gt d` writes.
func IsTraffic(data []byte) bool {
	text := second(data)
	return strings.HasPrefix(text, dataSent+": ") || strings.HasPrefix(text, dataReceived+": ")
}

// IsErrors reports whether a file is what `nvidia-smi nvlink -e` writes.
func IsErrors(data []byte) bool { return strings.Contains(second(data), "Error") }

// second is what is said of the first link, behind the first GPU's line.
func second(data []byte) string {
	lines := strings.Split(string(data[:min(len(data), 4096)]), "\n")
	lines = lines[max(slices.IndexFunc(lines, gpuLine().MatchString), 0):] // behind what a shell may have printed
	if len(lines) < 2 || !gpuLine().MatchString(lines[0]) {
		return ""
	}
	m := linkLine().FindStringSubmatch(strings.TrimRight(lines[1], " \r"))
	if m == nil {
		return ""
	}
	return m[2]
}

// ReadNVLink reads what `nvidia-smi nvlink -s` (rates, or <inactive>), `-e` (errors) and `-gt d` (bytes) write.
func ReadNVLink(s *health.State, file string, data []byte) error {
	r := &report{state: s, file: file}
	gpu, links := -1, map[int]map[int]bool{} // whether each is up
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimRight(line, " \r")
		if m := gpuLine().FindStringSubmatch(line); m != nil {
			if gpu, _ = strconv.Atoi(m[1]); gpu >= maxGPUs {
				r.Add(i+1, "GPU %s: there are %d at most", m[1], maxGPUs)
				return r.Err()
			}
			if m[2] != "" {
				s.Say(s.GPU(gpu), "uuid", m[2], r.at(i+1))
			}
			continue
		}
		m := linkLine().FindStringSubmatch(line)
		if m == nil {
			continue
		}
		link, _ := strconv.Atoi(m[1])
		if gpu < 0 || link >= maxLinks {
			r.Add(i+1, "link %s of no GPU that is known", m[1])
			return r.Err()
		}
		if up, isState := r.link(i+1, s.Part(health.NVLink, health.LinkName(gpu, link)), m[2]); isState {
			if links[gpu] == nil {
				links[gpu] = map[int]bool{}
			}
			links[gpu][link] = up
		}
	}
	for gpu, list := range links {
		up := 0
		for _, is := range list {
			if is {
				up++
			}
		}
		s.Say(s.GPU(gpu), "links", float64(len(list)), file)
		s.Say(s.GPU(gpu), "links_up", float64(up), file)
	}
	if gpu < 0 {
		r.Add(0, "it names no GPU")
	}
	return r.Err()
}

// link reads what is said of a link: its rate, <inactive>, or a counter.
func (r *report) link(line int, p *health.Part, text string) (up, isState bool) {
	if strings.Trim(text, "<>") == "inactive" {
		r.state.Say(p, "up", false, r.at(line))
		return false, true
	}
	if rate, ok := strings.CutSuffix(text, " GB/s"); ok {
		n, err := strconv.ParseFloat(rate, 64)
		if err != nil || n <= 0 || n > 1e6 {
			r.Add(line, "%.40q is no rate", text)
			return false, false
		}
		r.state.Say(p, "up", true, r.at(line))
		r.state.Say(p, "rate", n, r.at(line))
		return true, true
	}
	name, value, _ := strings.Cut(text, ": ")
	fact, known := counters[name]
	if !known {
		return false, false // counters of which no rule speaks
	}
	value, kib := strings.CutSuffix(strings.TrimSpace(value), " KiB")
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || n < 0 || n > 1e18 {
		r.Add(line, "%s: %.40q is not a number", name, value)
		return false, false
	}
	if kib {
		n *= 1024
	}
	if old, had := p.Fact(fact); had && strings.HasPrefix(name, "CRC ") && name != "CRC Errors" {
		n += old.Is.(float64)
	}
	r.state.Set(p, fact, n, r.at(line))
	return false, false
}
