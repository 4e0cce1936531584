// Package nvidiasmi reads what nvidia-smi says: `nvidia-smi -q`, as text and with -x as XML, of the drivers since 450.
package nvidiasmi

import (
	"fmt"
	"strconv"
	"strings"

	"railyard/interop/foreign"
	"railyard/model/health"
	"railyard/model/units"
)

// maxGPUs bounds how many GPUs a file may have.
const maxGPUs = 64

// entry is where a fact stands in XML and in text; several that stand in one file add up, or are yes where one is. Where sources
// have the same under several names, as drivers changed them, each has an entry.
type entry struct {
	fact      string
	xml, text string
	add       bool
}

// entries are the facts of a GPU. Names of nvsmi_device_v11.dtd to v13.dtd; text of the same drivers.
var entries = []entry{
	{"product", "product_name", "Product Name", false},
	{"uuid", "uuid", "GPU UUID", false},
	{"persistence", "persistence_mode", "Persistence Mode", false},
	{"mig", "mig_mode/current_mig", "MIG Mode/Current", false},
	{"recovery", "gpu_recovery_action", "GPU Recovery Action", false},
	{"reset_required", "gpu_reset_status/reset_required", "GPU Reset Status/Reset Required", false},
	{"pcie_gen", "pci/pci_gpu_link_info/pcie_gen/current_link_gen", "PCI/GPU Link Info/PCIe Generation/Current", false},
	{"pcie_gen_max", "pci/pci_gpu_link_info/pcie_gen/max_link_gen", "PCI/GPU Link Info/PCIe Generation/Max", false},
	{"pcie_gen_device", "pci/pci_gpu_link_info/pcie_gen/max_device_link_gen", "PCI/GPU Link Info/PCIe Generation/Device Max", false},
	{"pcie_width", "pci/pci_gpu_link_info/link_widths/current_link_width", "PCI/GPU Link Info/Link Width/Current", false},
	{"pcie_width_max", "pci/pci_gpu_link_info/link_widths/max_link_width", "PCI/GPU Link Info/Link Width/Max", false},
	{"pcie_replays", "pci/replay_counter", "PCI/Replays Since Reset", false},
	{"throttle_hardware", "clocks_event_reasons/clocks_event_reason_hw_slowdown", "Clocks Event Reasons/HW Slowdown", false},
	{"throttle_hardware", "clocks_throttle_reasons/clocks_throttle_reason_hw_slowdown", "Clocks Throttle Reasons/HW Slowdown", false},
	{"throttle_brake", "clocks_event_reasons/clocks_event_reason_hw_power_brake_slowdown",
		"Clocks Event Reasons/HW Slowdown/HW Power Brake Slowdown", false},
	{"throttle_brake", "clocks_throttle_reasons/clocks_throttle_reason_hw_power_brake_slowdown",
		"Clocks Throttle Reasons/HW Slowdown/HW Power Brake Slowdown", false},
	{"throttle_thermal", "clocks_event_reasons/clocks_event_reason_hw_thermal_slowdown",
		"Clocks Event Reasons/HW Slowdown/HW Thermal Slowdown", true},
	{"throttle_thermal", "clocks_event_reasons/clocks_event_reason_sw_thermal_slowdown", "Clocks Event Reasons/SW Thermal Slowdown", true},
	{"throttle_thermal", "clocks_throttle_reasons/clocks_throttle_reason_hw_thermal_slowdown",
		"Clocks Throttle Reasons/HW Slowdown/HW Thermal Slowdown", true},
	{"throttle_thermal", "clocks_throttle_reasons/clocks_throttle_reason_sw_thermal_slowdown",
		"Clocks Throttle Reasons/SW Thermal Slowdown", true},
	{"throttle_usual", "clocks_event_reasons/clocks_event_reason_gpu_idle", "Clocks Event Reasons/Idle", true},
	{"throttle_usual", "clocks_event_reasons/clocks_event_reason_sw_power_cap", "Clocks Event Reasons/SW Power Cap", true},
	{"throttle_usual", "clocks_event_reasons/clocks_event_reason_sync_boost", "Clocks Event Reasons/Sync Boost", true},
	{"throttle_usual", "clocks_throttle_reasons/clocks_throttle_reason_gpu_idle", "Clocks Throttle Reasons/Idle", true},
	{"throttle_usual", "clocks_throttle_reasons/clocks_throttle_reason_sw_power_cap", "Clocks Throttle Reasons/SW Power Cap", true},
	{"throttle_usual", "clocks_throttle_reasons/clocks_throttle_reason_sync_boost", "Clocks Throttle Reasons/Sync Boost", true},
	{"memory", "fb_memory_usage/total", "FB Memory Usage/Total", false},
	{"memory_used", "fb_memory_usage/used", "FB Memory Usage/Used", false},
	{"utilization", "utilization/gpu_util", "Utilization/Gpu", false},
	{"utilization", "", "Utilization/GPU", false},
	{"ecc", "ecc_mode/current_ecc", "ECC Mode/Current", false},
	{"ecc_uncorrected", "ecc_errors/volatile/sram_uncorrectable", "ECC Errors/Volatile/SRAM Uncorrectable", true},
	{"ecc_uncorrected", "ecc_errors/volatile/sram_uncorrectable_parity", "ECC Errors/Volatile/SRAM Uncorrectable Parity", true},
	{"ecc_uncorrected", "ecc_errors/volatile/sram_uncorrectable_secded", "ECC Errors/Volatile/SRAM Uncorrectable SEC-DED", true},
	{"ecc_uncorrected", "ecc_errors/volatile/dram_uncorrectable", "ECC Errors/Volatile/DRAM Uncorrectable", true},
	{"rows_remapped_uncorrected", "remapped_rows/remapped_row_unc", "Remapped Rows/Uncorrectable Error", false},
	{"rows_pending", "remapped_rows/remapped_row_pending", "Remapped Rows/Pending", false},
	{"rows_failed", "remapped_rows/remapped_row_failure", "Remapped Rows/Remapping Failure Occurred", false},
	{"power_limit", "gpu_power_readings/current_power_limit", "GPU Power Readings/Current Power Limit", false},
	{"power_limit", "power_readings/enforced_power_limit", "Power Readings/Enforced Power Limit", false},
	{"power_limit_default", "gpu_power_readings/default_power_limit", "GPU Power Readings/Default Power Limit", false},
	{"power_limit_default", "power_readings/default_power_limit", "Power Readings/Default Power Limit", false},
	{"clock", "clocks/sm_clock", "Clocks/SM", false},
	{"clock_max", "max_clocks/sm_clock", "Max Clocks/SM", false},
	{"clock_app", "applications_clocks/graphics_clock", "Applications Clocks/Graphics", false},
	{"clock_app_default", "default_applications_clocks/graphics_clock", "Default Applications Clocks/Graphics", false},
	{"pcie_sent", "pci/tx_util", "PCI/Tx Throughput", false},
	{"pcie_received", "pci/rx_util", "PCI/Rx Throughput", false},
	{"fabric", "fabric/state", "Fabric/State", false},
}

var byXML, byText = index(func(e *entry) string { return e.xml }), index(func(e *entry) string { return e.text })

func index(path func(*entry) string) map[string]*entry {
	out := map[string]*entry{}
	for i := range entries {
		if p := path(&entries[i]); p != "" {
			out[p] = &entries[i]
		}
	}
	return out
}

// report is a file that is read.
type report struct {
	foreign.Mistakes
	state *health.State
	file  string
	gpus  int
	all   float64      // GPUs of the machine, as it says; 0: it does not
	gpu   *health.Part // that is read; nil before the first

	pid      string // of the process that is read
	computes bool
}

func (r *report) at(line int) string { return fmt.Sprintf("%s:%d", r.file, line) }

// begin begins the next GPU, by its address.
func (r *report) begin(line int, address string) {
	if r.gpus++; r.gpus > maxGPUs {
		r.Add(line, "more than %d GPUs", maxGPUs)
		return
	}
	r.gpu = r.state.GPU(r.gpus - 1)
	if bus, err := busOf(address); err != nil {
		r.Add(line, "%v", err)
	} else {
		r.state.Say(r.gpu, "bus", bus, r.at(line))
	}
}

// end tells how many GPUs there were.
func (r *report) end() error {
	if r.gpus == 0 {
		r.Add(0, "it names no GPU")
	}
	if r.all > float64(r.gpus) {
		r.state.Note("%s shows %d of %g GPUs: of one that was asked for (-i), or cut off", r.file, r.gpus, r.all)
	}
	r.state.Say(r.state.Host(), "gpus", max(r.all, float64(r.gpus)), r.file)
	return r.Err()
}

// attached notes how many GPUs the machine has.
func (r *report) attached(line int, text string) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxGPUs {
		r.Add(line, "%.40q attached GPUs: not a number to %d", text, maxGPUs)
		return
	}
	r.all = float64(n)
}

// host notes a fact of the machine.
func (r *report) host(line int, fact, text string) {
	if isKnown(text) {
		r.state.Say(r.state.Host(), fact, text, r.at(line))
	}
}

// value notes a fact of the GPU.
func (r *report) value(line int, e *entry, text string) {
	redacted := e.fact == "uuid" && !strings.HasPrefix(text, "GPU-")
	if r.gpu == nil || !isKnown(text) || redacted {
		return
	}
	fact, _ := health.FactOf(health.GPU, e.fact)
	is, err := parse(fact, text)
	if err != nil {
		r.Add(line, "%s: %v", e.fact, err)
		return
	}
	old, had := r.gpu.Fact(e.fact)
	if !had || !e.add {
		r.state.Say(r.gpu, e.fact, is, r.at(line))
		return
	}
	switch more := is.(type) {
	case float64:
		r.state.Set(r.gpu, e.fact, old.Is.(float64)+more, old.From)
	case bool:
		if more && !old.Is.(bool) {
			r.state.Set(r.gpu, e.fact, true, r.at(line))
		}
	}
}

// unknown are what nvidia-smi writes for what it cannot say.
var unknown = []string{"", "N/A", "[N/A]", "Unknown", "Unknown Error", "[Unknown Error]", "Not Supported", "[Not Supported]",
	"Requested functionality has been deprecated", "None Found", "ERR!"}

func isKnown(text string) bool {
	for _, u := range unknown {
		if text == u {
			return false
		}
	}
	return true
}

var yes = map[string]bool{"Active": true, "Yes": true, "Enabled": true, "On": true, "Not Active": false, "No": false, "Disabled": false,
	"Off": false}

// parse reads a value of a type, in the fact's unit.
func parse(f health.Fact, text string) (any, error) {
	switch f.Type {
	case health.Text:
		return text, nil
	case health.YesNo:
		if is, ok := yes[text]; ok {
			return is, nil
		}
		return nil, fmt.Errorf("%.40q is neither yes nor no", text)
	}
	number, unit, _ := strings.Cut(text, " ")
	n, err := strconv.ParseFloat(strings.TrimSuffix(number, "x"), 64)
	if err != nil || n < 0 || n > 1e18 {
		return nil, fmt.Errorf("%.40q is not a number", text)
	}
	scale, ok := map[string]map[string]float64{"bytes": {"MiB": float64(units.MiB)}, "GB/s": {"KB/s": 1e-6}}[f.Unit][unit]
	switch {
	case ok:
		n *= scale
	case f.Unit == "bytes", f.Unit == "GB/s":
		return nil, fmt.Errorf("%.40q: %q is no unit that is known here", text, unit)
	}
	return n, nil
}

// busOf writes an address such as 00000000:1B:00.0 as sysfs does.
func busOf(address string) (string, error) {
	var domain, bus, device, function int
	if n, err := fmt.Sscanf(address, "%x:%x:%x.%x", &domain, &bus, &device, &function); n != 4 || err != nil || domain > 0xffffff ||
		domain < 0 || bus < 0 || bus > 0xff || device < 0 || device > 0x1f || function < 0 || function > 7 {
		return "", fmt.Errorf("%.40q is not a PCI address", address)
	}
	return fmt.Sprintf("%04x:%02x:%02x.%x", domain, bus, device, function), nil
}
