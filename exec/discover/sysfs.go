package discover

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"railyard/model/survey"
	"railyard/model/topology"
	"railyard/model/units"
)

// tree is /sys and /proc below a root directory.
type tree struct{ root string }

var busPattern = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]$`)

// text is the content of a file, "" where there is none.
func (t tree) text(path ...string) string {
	data, err := os.ReadFile(filepath.Join(append([]string{t.root}, path...)...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// number is the number that a file holds, or another one where it holds none.
func (t tree) number(otherwise int, path ...string) int {
	n, err := strconv.Atoi(t.text(path...))
	if err != nil {
		return otherwise
	}
	return n
}

// names are the entries of a directory in the order people expect: mlx5_2 before mlx5_10.
func (t tree) names(path ...string) []string {
	entries, err := os.ReadDir(filepath.Join(append([]string{t.root}, path...)...))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	slices.SortFunc(out, survey.Natural)
	return out
}

// busesBelow are the PCI addresses on the way from the host bridge to what a link in
// sysfs points to, outermost first.
func (t tree) busesBelow(link ...string) []string {
	path, err := filepath.EvalSymlinks(filepath.Join(append([]string{t.root}, link...)...))
	if err != nil {
		return nil
	}
	var out []string
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if busPattern.MatchString(part) {
			out = append(out, part)
		}
	}
	return out
}

func (t tree) path(bus string) []string { return t.busesBelow("sys/bus/pci/devices", bus) }

// lanes are a PCI device's: the largest speed, since idle links slow down, and the
// present width.
func (t tree) lanes(bus string) survey.Lanes {
	dir := "sys/bus/pci/devices/" + bus
	return survey.Lanes{Generation: generation(t.text(dir, "max_link_speed")), Width: t.number(0, dir, "current_link_width")}
}

// generation reads "16.0 GT/s PCIe"; 0 where it is something else.
func generation(speed string) int {
	rate, _, _ := strings.Cut(speed, " ")
	gts, _ := strconv.ParseFloat(rate, 64)
	return survey.PCIeGeneration(gts)
}

// switchesAbove are the PCIe switches between a device and its host bridge, nearest
// first, by the addresses of their upstream ports. Below the root port, each switch is
// an upstream and a downstream port.
func switchesAbove(path []string) []string {
	var out []string
	for i := 1; i+1 < len(path)-1; i += 2 {
		out = append([]string{path[i]}, out...)
	}
	return out
}

var bridgePattern = regexp.MustCompile(`/(pci[0-9a-f]{4,8}:[0-9a-f]{2})/`)

// hostBridge is the host bridge above a PCI device, pci0000:16.
func (t tree) hostBridge(bus string) string {
	path, err := filepath.EvalSymlinks(filepath.Join(t.root, "sys/bus/pci/devices", bus))
	if m := bridgePattern.FindStringSubmatch(filepath.ToSlash(path)); err == nil && m != nil {
		return m[1]
	}
	return ""
}

// devices are the addresses of GPUs and adapters.
func devices(n *survey.Node) (out []string) {
	for _, g := range n.GPUs {
		out = append(out, g.Bus)
	}
	for _, a := range n.Adapters {
		out = append(out, a.Bus)
	}
	return out
}

// sockets are the processors with memory of their own.
type sockets struct {
	count  int
	byNUMA map[int]int
	vendor string // as classes.go knows it

	processors []string // of each, as ranges; "" where they are not known
}

func (t tree) sockets() sockets {
	s := sockets{byNUMA: map[int]int{}, vendor: t.vendor()}
	number, cpus := map[int]int{}, map[int][]string{} // ranges by socket
	for _, name := range t.names("sys/devices/system/node") {
		numa, err := strconv.Atoi(strings.TrimPrefix(name, "node"))
		if err != nil {
			continue
		}
		list := t.text("sys/devices/system/node", name, "cpulist")
		first, _, _ := strings.Cut(strings.NewReplacer("-", ",").Replace(list), ",")
		if first == "" {
			continue // memory without processors
		}
		socket := t.number(0, fmt.Sprintf("sys/devices/system/cpu/cpu%s/topology/physical_package_id", first))
		if _, ok := number[socket]; !ok {
			number[socket] = len(number)
		}
		cpus[number[socket]] = append(cpus[number[socket]], list)
		s.byNUMA[numa] = number[socket]
	}
	s.count = max(len(number), 1)
	for socket := range s.count {
		all, err := units.ParseRanges(strings.Join(cpus[socket], ","), topology.MaxProcessors)
		if err != nil {
			all = nil
		}
		slices.Sort(all)
		s.processors = append(s.processors, units.Ranges(all, ","))
	}
	return s
}

// of is the socket that a PCI device belongs to; the first where the machine does not
// say.
func (s sockets) of(t tree, bus string) int {
	return s.byNUMA[t.number(-1, "sys/bus/pci/devices", bus, "numa_node")]
}

// vendor names the processor as model/survey knows it: "GenuineIntel 143", "AuthenticAMD", "POWER9", "ARM 0xd4f".
func (t tree) vendor() string {
	facts := map[string]string{}
	for line := range strings.SplitSeq(t.text("proc/cpuinfo"), "\n") {
		key, value, _ := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if _, ok := facts[key]; !ok {
			facts[key] = value
		}
	}
	switch {
	case facts["vendor_id"] == "GenuineIntel":
		return "GenuineIntel " + facts["model"]
	case facts["vendor_id"] != "":
		return facts["vendor_id"]
	case strings.HasPrefix(facts["cpu"], "POWER"):
		name, _, _ := strings.Cut(facts["cpu"], " ")
		return strings.TrimRight(name, "+NVL,")
	case facts["CPU part"] != "":
		return "ARM " + facts["CPU part"]
	}
	return "unknown"
}
