// Package linux reads what a Linux system says of itself: limits of processes (ulimit -a, /proc/self/limits), memory (/proc/meminfo),
// modules (lsmod, /proc/modules), NVIDIA's driver (/proc/driver/nvidia/version), the kernel's command line, the environment (env) and
// the processors of processes (taskset -pc).
package linux

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"railyard/interop/foreign"
	"railyard/model/health"
	"railyard/model/topology"
	"railyard/model/units"

	"railyard/internal/lazy"
)

// lines visits those of a file that are not empty.
func lines(data []byte, visit func(n int, line string)) {
	for i, line := range strings.Split(string(data), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			visit(i+1, line)
		}
	}
}

// number reads a value that is not below zero, times a scale; "unlimited" is 2⁶³.
func number(text string, scale float64) (float64, error) {
	if text == "unlimited" || text == "infinity" {
		return math.MaxInt64, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || n > 1e18 || math.IsNaN(n) {
		return 0, fmt.Errorf("%.40q is no number", text)
	}
	return n * scale, nil
}

// limit is a line of limits; its value is the last group.
var limits = []struct {
	fact  string
	line  func() *regexp.Regexp
	scale float64
}{
	{"memlock", lazy.Regexp(`^max locked memory\s+\(kbytes, -l\)\s+(\S+)$`), 1024},
	{"memlock", lazy.Regexp(`^Max locked memory\s+(\S+)\s+\S+\s+bytes$`), 1},
	{"open_files", lazy.Regexp(`^open files\s+\(-n\)\s+(\S+)$`), 1},
	{"open_files", lazy.Regexp(`^Max open files\s+(\S+)\s+\S+\s+files$`), 1},
}

// IsLimits reports whether a file is what `ulimit -a` writes, or /proc/self/limits.
func IsLimits(data []byte) bool {
	return bytes.Contains(data, []byte("(kbytes, -l)")) || bytes.HasPrefix(data, []byte("Limit  "))
}

// ReadLimits reads it: soft limits.
func ReadLimits(s *health.State, file string, data []byte) error {
	var m foreign.Mistakes
	lines(data, func(n int, line string) {
		for _, l := range limits {
			found := l.line().FindStringSubmatch(line)
			if found == nil {
				continue
			}
			if v, err := number(found[1], l.scale); err != nil {
				m.Add(n, "%v", err)
			} else {
				s.Say(s.Host(), l.fact, v, fmt.Sprintf("%s:%d", file, n))
			}
		}
	})
	return m.Err()
}

// IsMemory reports whether a file is /proc/meminfo.
func IsMemory(data []byte) bool { return bytes.HasPrefix(data, []byte("MemTotal:")) }

// ReadMemory reads /proc/meminfo.
func ReadMemory(s *health.State, file string, data []byte) error {
	var m foreign.Mistakes
	values, at := map[string]float64{}, map[string]int{}
	lines(data, func(n int, line string) {
		key, rest, _ := strings.Cut(line, ":")
		text, unit, _ := strings.Cut(strings.TrimSpace(rest), " ")
		scale := 1.0
		if unit == "kB" {
			scale = 1024
		}
		v, err := number(text, scale)
		if err != nil {
			m.Add(n, "%.40s: %v", key, err)
		}
		values[key], at[key] = v, n
	})
	say := func(fact, key string, v float64) {
		if at[key] > 0 {
			s.Say(s.Host(), fact, v, fmt.Sprintf("%s:%d", file, at[key]))
		}
	}
	say("memory", "MemTotal", values["MemTotal"])
	say("hugepages", "HugePages_Total", values["HugePages_Total"]*values["Hugepagesize"])
	say("hugepages_free", "HugePages_Free", values["HugePages_Free"]*values["Hugepagesize"])
	return m.Err()
}

var module = lazy.Regexp(`^[A-Za-z0-9_]+ +[0-9]+ +[0-9]+`)

// IsModules reports whether a file is what lsmod writes, or /proc/modules.
func IsModules(data []byte) bool {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	return bytes.HasPrefix(data, []byte("Module ")) && bytes.Contains(first, []byte("Used by")) || module().Match(first)
}

// ReadModules reads it.
func ReadModules(s *health.State, file string, data []byte) error {
	peermem := false
	lines(data, func(_ int, line string) {
		name, _, _ := strings.Cut(line, " ")
		peermem = peermem || name == "nvidia_peermem" || name == "nv_peer_mem" || name == "efa_nv_peermem"
	})
	s.Say(s.Host(), "peermem", peermem, file)
	return nil
}

// IsCommandLine reports whether a file is /proc/cmdline.
func IsCommandLine(data []byte) bool {
	return bytes.Count(bytes.TrimSpace(data), []byte("\n")) == 0 && (bytes.HasPrefix(data, []byte("BOOT_IMAGE=")) ||
		bytes.Contains(data, []byte(" root=")) || bytes.Contains(data, []byte(" console=")))
}

// ReadCommandLine reads it.
func ReadCommandLine(s *health.State, file string, data []byte) error {
	iommu := "off"
	for _, word := range strings.Fields(string(data)) {
		switch word {
		case "intel_iommu=on", "amd_iommu=on", "iommu=force":
			if iommu == "off" {
				iommu = "on"
			}
		case "iommu=pt":
			iommu = "pt"
		}
	}
	s.Say(s.Host(), "iommu", iommu, file)
	return nil
}

var assignment = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*=`)

// IsEnvironment reports whether a file is what env writes.
func IsEnvironment(data []byte) bool {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	return !IsCommandLine(data) && assignment().Match(first) &&
		(len(second) == 0 || assignment().Match(second)) && !bytes.ContainsAny(first, "\x00")
}

// prefixes are those of variables that say how GPUs communicate; no others are kept, as they may be secret.
var prefixes = []string{"NCCL_", "TORCH_NCCL_", "CUDA_", "UCX_", "FI_", "OMP_NUM_THREADS"}

// ReadEnvironment reads it.
func ReadEnvironment(s *health.State, file string, data []byte) error {
	lines(data, func(n int, line string) {
		name, value, ok := strings.Cut(line, "=")
		for _, p := range prefixes {
			if ok && strings.HasPrefix(name, p) && assignment().MatchString(line) {
				s.Say(s.Part(health.Variable, name), "value", value, fmt.Sprintf("%s:%d", file, n))
				break
			}
		}
	})
	return nil
}

var bound = lazy.Regexp(`^pid (\d{1,9})'s current affinity list: ([0-9,-]+)$`)

// IsAffinity reports whether a file is what `taskset -pc` writes.
func IsAffinity(data []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimSpace(data), []byte("\n"))
	return bound().Match(bytes.TrimSpace(first))
}

// ReadAffinity reads it: the processors that processes may use.
func ReadAffinity(s *health.State, file string, data []byte) error {
	var m foreign.Mistakes
	lines(data, func(n int, line string) {
		found := bound().FindStringSubmatch(line)
		if found == nil {
			m.Add(n, "%.40q: want the processors of a process, as taskset -pc writes them", line)
			return
		}
		if _, err := units.ParseRanges(found[2], topology.MaxProcessors); err != nil {
			m.Add(n, "%v", err)
			return
		}
		s.Say(s.Part(health.Process, found[1]), "cpus", found[2], fmt.Sprintf("%s:%d", file, n))
	})
	return m.Err()
}

// IsDriver reports whether a file is /proc/driver/nvidia/version.
func IsDriver(data []byte) bool { return bytes.HasPrefix(data, []byte("NVRM version:")) }

// ReadDriver reads it: whether the kernel modules are the open ones.
func ReadDriver(s *health.State, file string, data []byte) error {
	s.Say(s.Host(), "driver_open", bytes.Contains(data, []byte("Open Kernel Module")), file)
	return nil
}
