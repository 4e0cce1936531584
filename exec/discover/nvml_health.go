//go:build cgo && linux

package discover

import (
	"strconv"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"railyard/model/health"
	"railyard/model/survey"
)

// Health implements Library. What a GPU or a driver does not know stays unknown.
func (l *library) Health(s *health.State) {
	for i, d := range l.devices {
		v := vitals{l, d, s, s.GPU(i)}
		v.host()
		v.clocks()
		v.memory()
		v.modes()
		v.links(i)
		v.processes()
	}
}

// vitals asks about a GPU.
type vitals struct {
	*library
	d     nvml.Device
	state *health.State
	part  *health.Part
}

func (v *vitals) say(fact string, is any, ret nvml.Return) {
	if ret == nvml.SUCCESS {
		v.state.Say(v.part, fact, is, nvmlName)
	}
}

// number says a number that NVML has in another unit.
func number64[T int | uint32 | uint64](v *vitals, fact string, scale float64, n T, ret nvml.Return) {
	v.say(fact, float64(n)*scale, ret)
}

// host is the way to the host.
func (v *vitals) host() {
	gen, ret := v.d.GetCurrPcieLinkGeneration()
	number64(v, "pcie_gen", 1, gen, ret)
	gen, ret = v.d.GetMaxPcieLinkGeneration()
	number64(v, "pcie_gen_max", 1, gen, ret)
	if v.has("nvmlDeviceGetGpuMaxPcieLinkGeneration") {
		gen, ret = v.d.GetGpuMaxPcieLinkGeneration()
		number64(v, "pcie_gen_device", 1, gen, ret)
	}
	width, ret := v.d.GetCurrPcieLinkWidth()
	number64(v, "pcie_width", 1, width, ret)
	width, ret = v.d.GetMaxPcieLinkWidth()
	number64(v, "pcie_width_max", 1, width, ret)
	replays, ret := v.d.GetPcieReplayCounter()
	number64(v, "pcie_replays", 1, replays, ret)
	sent, ret := v.d.GetPcieThroughput(nvml.PCIE_UTIL_TX_BYTES) // KB/s
	number64(v, "pcie_sent", 1e-6, sent, ret)
	received, ret := v.d.GetPcieThroughput(nvml.PCIE_UTIL_RX_BYTES)
	number64(v, "pcie_received", 1e-6, received, ret)
}

// processes are those that compute on it.
func (v *vitals) processes() {
	list, ret := v.d.GetComputeRunningProcesses()
	var pids []string
	for _, p := range list {
		pids = append(pids, strconv.FormatUint(uint64(p.Pid), 10))
	}
	v.say("processes", strings.Join(pids, " "), ret)
}

// reasons are why clocks are low, by NVML's bits (nvmlClocksEventReasons in nvml.h).
var reasons = []struct {
	fact string
	bits uint64
}{
	{"throttle_hardware", 0x8}, {"throttle_thermal", nvml.ClocksEventReasonSwThermalSlowdown | 0x40}, {"throttle_brake", 0x80},
	{"throttle_usual", nvml.ClocksEventReasonGpuIdle | nvml.ClocksEventReasonSwPowerCap | nvml.ClocksEventReasonSyncBoost},
}

// busy is what moves while it works.
func (v *vitals) busy() {
	why, ret := uint64(0), nvml.ERROR_FUNCTION_NOT_FOUND
	switch {
	case v.has("nvmlDeviceGetCurrentClocksEventReasons"):
		why, ret = v.d.GetCurrentClocksEventReasons()
	case v.has("nvmlDeviceGetCurrentClocksThrottleReasons"):
		why, ret = v.d.GetCurrentClocksThrottleReasons()
	}
	for _, r := range reasons {
		v.say(r.fact, why&r.bits != 0, ret)
	}
	clock, ret := v.d.GetClockInfo(nvml.CLOCK_SM)
	number64(v, "clock", 1, clock, ret)
	busy, ret := v.d.GetUtilizationRates()
	number64(v, "utilization", 1, busy.Gpu, ret)
}

func (v *vitals) clocks() {
	v.busy()
	clock, ret := v.d.GetMaxClockInfo(nvml.CLOCK_SM)
	number64(v, "clock_max", 1, clock, ret)
	clock, ret = v.d.GetApplicationsClock(nvml.CLOCK_GRAPHICS)
	number64(v, "clock_app", 1, clock, ret)
	clock, ret = v.d.GetDefaultApplicationsClock(nvml.CLOCK_GRAPHICS)
	number64(v, "clock_app_default", 1, clock, ret)
	watts, ret := v.d.GetEnforcedPowerLimit() // mW
	number64(v, "power_limit", 1e-3, watts, ret)
	watts, ret = v.d.GetPowerManagementDefaultLimit()
	number64(v, "power_limit_default", 1e-3, watts, ret)
}

func (v *vitals) memory() {
	m, ret := v.d.GetMemoryInfo()
	number64(v, "memory", 1, m.Total, ret)
	number64(v, "memory_used", 1, m.Used, ret)
	now, _, ret := v.d.GetEccMode()
	v.say("ecc", now == nvml.FEATURE_ENABLED, ret)
	errors, ret := v.d.GetTotalEccErrors(nvml.MEMORY_ERROR_TYPE_UNCORRECTED, nvml.VOLATILE_ECC)
	number64(v, "ecc_uncorrected", 1, errors, ret)
	if v.has("nvmlDeviceGetRemappedRows") {
		_, uncorrected, pending, failed, ret := v.d.GetRemappedRows()
		number64(v, "rows_remapped_uncorrected", 1, uncorrected, ret)
		v.say("rows_pending", pending, ret)
		v.say("rows_failed", failed, ret)
	}
}

// fabricStates are nvmlGpuFabricState_t in nvidia-smi's words, where there is a fabric.
var fabricStates = map[uint8]string{nvml.GPU_FABRIC_STATE_NOT_STARTED: "Not Started", nvml.GPU_FABRIC_STATE_IN_PROGRESS: "In Progress",
	nvml.GPU_FABRIC_STATE_COMPLETED: "Completed"}

func (v *vitals) modes() {
	persistence, ret := v.d.GetPersistenceMode()
	v.say("persistence", persistence == nvml.FEATURE_ENABLED, ret)
	if v.has("nvmlDeviceGetMigMode") {
		mig, _, ret := v.d.GetMigMode()
		v.say("mig", mig == nvml.DEVICE_MIG_ENABLE, ret)
	}
	if v.has("nvmlDeviceGetGpuFabricInfo") {
		info, ret := v.d.GetGpuFabricInfo()
		if name, ok := fabricStates[uint8(info.State)]; ok {
			v.say("fabric", name, ret)
		}
	}
}

// linkErrors are those of the NVLinks.
var linkErrors = map[string][]nvml.NvLinkErrorCounter{"replays": {nvml.NVLINK_ERROR_DL_REPLAY},
	"recoveries": {nvml.NVLINK_ERROR_DL_RECOVERY},
	"crc_errors": {nvml.NVLINK_ERROR_DL_CRC_FLIT, nvml.NVLINK_ERROR_DL_CRC_DATA}}

// links are the errors of each NVLink that is up.
func (v *vitals) links(gpu int) {
	ports, up := v.ports(v.d), 0
	for i, port := range ports {
		link := vitals{v.library, v.d, v.state, v.state.Part(health.NVLink, health.LinkName(gpu, i))}
		link.say("up", port.Up, nvml.SUCCESS)
		if !port.Up {
			continue
		}
		up++
		link.errors(i, port)
	}
	if len(ports) > 0 {
		v.say("links", float64(len(ports)), nvml.SUCCESS)
		v.say("links_up", float64(up), nvml.SUCCESS)
	}
}

func (v *vitals) errors(port int, p survey.Port) {
	if p.Raw > 0 {
		v.say("rate", p.Raw.GBps(), nvml.SUCCESS)
	}
	for fact, list := range linkErrors {
		sum, known := uint64(0), nvml.SUCCESS
		for _, c := range list {
			n, ret := v.d.GetNvLinkErrorCounter(port, c)
			if sum += n; ret != nvml.SUCCESS {
				known = ret
			}
		}
		number64(v, fact, 1, sum, known)
	}
}
