package discover

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"railyard/model/health"
	"railyard/model/load"
	"railyard/model/survey"
	"railyard/model/topology"
	"railyard/model/units"
)

// nvmlName is where facts of the driver's library come from.
const nvmlName = "NVML"

// Health adds to what is known of a machine what the driver's library and the system below root say. Without a library, nil, it is
// what the system says alone: no GPUs are seen, unless it is the build that has none.
func Health(s *health.State, l Library, root string) error {
	t, host, gpus := tree{root}, s.Host(), 0
	if l != nil {
		list, err := l.GPUs()
		if err != nil {
			return err
		}
		gpus = len(list)
		s.Say(host, "driver", l.Driver(), nvmlName)
		for i := range list {
			s.Say(s.GPU(i), "product", list[i].Name, nvmlName)
			s.Say(s.GPU(i), "bus", list[i].Bus, nvmlName)
		}
		l.Health(s)
		if gpus > 0 {
			n, err := node(l, t)
			if err != nil {
				return err
			}
			s.AddPaths(n, "sysfs")
		}
	}
	if l != nil || asks {
		s.Say(host, "gpus", float64(gpus), nvmlName)
	}
	t.host(s)
	t.devices(s)
	t.bindings(s)
	for _, a := range t.adapters() {
		t.port(s, a)
	}
	return nil
}

// Load adds which share of its line rate each NVLink and each adapter's port carries while they are watched; that nothing counts is noted.
func Load(s *health.State, l Library, root string, during time.Duration) error {
	c := NewCounters(l, root, during, 0)
	before, err := c.Next(context.Background())
	if err != nil { // of machines without adapters and NVLink, and drivers without counters
		s.Note("which links are hot is not known: %v", err)
		return nil
	}
	after, err := c.Next(context.Background())
	if err != nil {
		return err
	}
	m, err := load.Between(before, after)
	if err != nil {
		return err
	}
	for _, p := range m.Ports {
		if _, known := health.FactOf(p.Part.Kind, "load"); known && p.Line > 0 {
			s.Say(s.Part(p.Part.Kind, p.Part.Name), "load", p.Load(), "counters")
		}
	}
	return nil
}

// host is what the kernel says of the machine.
func (t tree) host(s *health.State) {
	if flags := t.text("proc/cpuinfo"); flags != "" {
		s.Say(s.Host(), "virtual", strings.Contains(flags, " hypervisor"), "/proc/cpuinfo")
	}
	if n := t.number(-1, "proc/sys/kernel/numa_balancing"); n >= 0 && len(t.names("sys/devices/system/node")) > 0 {
		s.Say(s.Host(), "numa_balancing", n > 0 && t.sockets().count > 1, "/proc/sys/kernel/numa_balancing")
	}
	_, err := os.Stat(filepath.Join(t.root, "sys/module/nvidia_peermem"))
	_, old := os.Stat(filepath.Join(t.root, "sys/module/nv_peer_mem"))
	if _, noModules := os.Stat(filepath.Join(t.root, "sys/module")); noModules == nil {
		s.Say(s.Host(), "peermem", err == nil || old == nil, "/sys/module")
	}
	if size := shmSize(filepath.Join(t.root, "dev/shm")); size > 0 {
		s.Say(s.Host(), "shm", float64(size), "/dev/shm")
	}
}

// bindings are how many processors there are, those near GPUs, and those that the processes on GPUs may use, where this process may see
// them.
func (t tree) bindings(s *health.State) {
	if list, err := units.ParseRanges(t.text("sys/devices/system/cpu/online"), topology.MaxProcessors); err == nil && len(list) > 0 {
		s.Say(s.Host(), "processors", float64(len(list)), "/sys/devices/system/cpu/online")
	}
	for _, p := range s.Parts(health.GPU) {
		dir := "sys/bus/pci/devices/" + p.Text("bus")
		if near := t.text(dir, "local_cpulist"); near != "" {
			s.Say(p, "cpus", near, dir)
		}
		for _, pid := range strings.Fields(p.Text("processes")) {
			if !strings.Contains(t.text("proc", pid, "maps"), "libcuda.so") {
				continue // in a container numbers are those of other processes
			}
			for line := range strings.Lines(t.text("proc", pid, "status")) {
				if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
					s.Say(s.Part(health.Process, pid), "cpus", strings.TrimSpace(list), "/proc/"+pid+"/status")
				}
			}
		}
	}
}

const nvidia = "0x10de"

// devices are the PCI devices: how many GPUs there are, lanes of GPUs and bridges, access control where this process may read it.
func (t tree) devices(s *health.State) {
	gpus := 0
	for _, bus := range t.names("sys/bus/pci/devices") {
		dir := "sys/bus/pci/devices/" + bus
		class := t.text(dir, "class")
		isGPU := t.text(dir, "vendor") == nvidia && (strings.HasPrefix(class, "0x0302") || strings.HasPrefix(class, "0x0300"))
		isBridge := strings.HasPrefix(class, "0x0604")
		if !isGPU && !isBridge {
			continue
		}
		p := s.Part(health.PCI, bus)
		s.Say(p, "bridge", isBridge, dir)
		s.Say(p, "numa", float64(t.number(-1, dir, "numa_node")), dir)
		if isGPU {
			gpus++
			t.slot(s, p, bus)
			continue // its lanes the library knows
		}
		above := len(t.path(bus)) > 1
		s.Say(p, "device", map[bool]string{true: "PCI bridge: Switch", false: "PCI bridge: Root Port"}[above], dir)
		if on, known := accessControl(filepath.Join(t.root, dir, "config")); known {
			s.Say(p, "acs", on, dir+"/config")
		}
	}
	s.Say(s.Host(), "gpus_on_pci", float64(gpus), "/sys/bus/pci")
}

// slot says what the port above a device can: that of its slot, or of a switch.
func (t tree) slot(s *health.State, p *health.Part, bus string) {
	path := t.path(bus)
	if len(path) < 2 {
		return
	}
	dir := "sys/bus/pci/devices/" + path[len(path)-2]
	if n := t.number(0, dir, "max_link_width"); n > 0 {
		s.Say(p, "pcie_width_slot", float64(n), dir)
	}
	if gen := generation(t.text(dir, "max_link_speed")); gen > 0 {
		s.Say(p, "pcie_gen_slot", float64(gen), dir)
	}
}

// accessControl reads whether a bridge redirects requests of peers: the extended capability ACS (id 13) of the PCIe specification,
// its control register's bits SrcValid, ReqRedir and CmpltRedir. Only root sees it.
func accessControl(file string) (on, known bool) {
	const extended, id, control, redirects = 0x100, 13, 6, 1 | 4 | 8
	config, err := os.ReadFile(file)
	if err != nil || len(config) <= extended {
		return false, false
	}
	for at, steps := extended, 0; at >= extended && at+8 <= len(config) && steps < len(config)/4; steps++ {
		header := binary.LittleEndian.Uint32(config[at:])
		if header&0xffff == id {
			return binary.LittleEndian.Uint16(config[at+control:])&redirects != 0, true
		}
		at = int(header >> 20)
	}
	return false, true
}

// port is an adapter's first port.
func (t tree) port(s *health.State, a survey.Adapter) {
	p := s.Part(health.NIC, a.Name)
	dir := "sys/bus/pci/devices/" + a.Bus
	s.Say(p, "bus", a.Bus, dir)
	s.Say(p, "numa", float64(t.number(-1, dir, "numa_node")), dir)
	if n := t.number(0, dir, "current_link_width"); n > 0 {
		s.Say(p, "pcie_width", float64(n), dir)
	}
	if n := t.number(0, dir, "max_link_width"); n > 0 {
		s.Say(p, "pcie_width_max", float64(n), dir)
	}
	if gen := generation(t.text(dir, "current_link_speed")); gen > 0 {
		s.Say(p, "pcie_gen", float64(gen), dir)
	}
	t.slot(s, p, a.Bus)
	if a.Rate > 0 {
		s.Say(p, "rate", float64(a.Rate)*8/1e9, dir)
	}
	rdma := "sys/class/infiniband/" + a.Name
	ports := t.names(rdma, "ports")
	if len(ports) == 0 {
		return
	}
	t.say(s, p, map[string]string{"layer": rdma + "/ports/" + ports[0] + "/link_layer", "type": rdma + "/hca_type",
		"firmware": rdma + "/fw_ver"})
	t.count(s, p, a)
}

// portState adds the state of an adapter's port, which is in a directory.
func (t tree) portState(s *health.State, p *health.Part, port string) {
	t.say(s, p, map[string]string{"state": port + "/state", "physical": port + "/phys_state"})
}

// say adds facts that are texts in files.
func (t tree) say(s *health.State, p *health.Part, files map[string]string) {
	for fact, file := range files {
		text := t.text(file)
		if number, word, ok := strings.Cut(text, ": "); ok && len(number) < 3 { // "4: ACTIVE"
			text = word
		}
		if i := slices.IndexFunc(portWords, func(w string) bool { return strings.EqualFold(w, text) }); i >= 0 {
			text = portWords[i]
		}
		if text != "" {
			s.Say(p, fact, text, file)
		}
	}
}

// portWords are states of ports as ibstat writes them.
var portWords = []string{"Active", "Down", "Init", "Armed", "LinkUp", "Polling", "Disabled"}
