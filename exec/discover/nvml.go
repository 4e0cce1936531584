//go:build cgo && linux

package discover

import (
	"fmt"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"railyard/model/survey"
	"railyard/model/units"
)

// library asks NVML. Functions newer than NVML's first NVLink drivers are called only
// where the driver has them: an unresolved symbol would end the process.
type library struct {
	nvml     nvml.Interface
	driver   string
	devices  []nvml.Device
	counters []*counters // by GPU, once asked for
}

// asks: this build can ask the driver.
const asks = true

// Open loads libnvidia-ml.so.1. After an error nothing of it may be called.
func Open() (Library, error) {
	l := &library{nvml: nvml.New()}
	switch ret := l.nvml.Init(); ret {
	case nvml.SUCCESS:
	case nvml.ERROR_LIBRARY_NOT_FOUND:
		return nil, fmt.Errorf("libnvidia-ml.so.1 not found: is an NVIDIA driver installed?")
	default:
		return nil, fmt.Errorf("libnvidia-ml.so.1: %v", ret.Error())
	}
	if err := l.find(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func (l *library) find() error {
	var ret nvml.Return
	if l.driver, ret = l.nvml.SystemGetDriverVersion(); ret != nvml.SUCCESS {
		return failed("driver version", ret)
	}
	n, ret := l.nvml.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return failed("number of GPUs", ret)
	}
	if n == 0 {
		return fmt.Errorf("the driver (%s) shows no GPU", l.driver)
	}
	for i := range n {
		d, ret := l.nvml.DeviceGetHandleByIndex(i)
		if ret != nvml.SUCCESS {
			return failed(fmt.Sprintf("GPU %d", i), ret)
		}
		l.devices = append(l.devices, d)
	}
	return nil
}

func failed(what string, ret nvml.Return) error { return fmt.Errorf("NVML: %s: %v", what, ret.Error()) }

func (l *library) has(symbol string) bool { return l.nvml.Extensions().LookupSymbol(symbol) == nil }

// Driver implements Library.
func (l *library) Driver() string { return l.driver }

// Close implements Library.
func (l *library) Close() { l.nvml.Shutdown() }

// GPUs implements Library.
func (l *library) GPUs() ([]survey.GPU, error) {
	out := make([]survey.GPU, len(l.devices))
	for i, d := range l.devices {
		if err := l.describe(&out[i], d); err != nil {
			return nil, fmt.Errorf("GPU %d: %w", i, err)
		}
	}
	return out, nil
}

func (l *library) describe(g *survey.GPU, d nvml.Device) error {
	var ret nvml.Return
	if g.Name, ret = d.GetName(); ret != nvml.SUCCESS {
		return failed("name", ret)
	}
	pci, ret := d.GetPciInfo()
	if ret != nvml.SUCCESS {
		return failed("PCI address", ret)
	}
	g.Bus = busOf(pci)
	if g.Major, g.Minor, ret = d.GetCudaComputeCapability(); ret != nvml.SUCCESS {
		return failed("compute capability", ret)
	}
	if m, ret := d.GetMemoryInfo(); ret == nvml.SUCCESS {
		g.Memory = units.Bytes(m.Total)
	}
	if gen, ret := d.GetMaxPcieLinkGeneration(); ret == nvml.SUCCESS {
		g.PCIe.Generation = gen
	}
	if width, ret := d.GetCurrPcieLinkWidth(); ret == nvml.SUCCESS {
		g.PCIe.Width = width
	}
	if l.has("nvmlDeviceGetC2cModeInfoV") {
		if info, ret := d.GetC2cModeInfoV().V1(); ret == nvml.SUCCESS {
			g.C2C = info.IsC2cEnabled != 0
		}
	}
	g.Ports = l.ports(d)
	g.Peers = l.peers(d)
	return nil
}

// ports asks for each port until there are no more.
func (l *library) ports(d nvml.Device) []survey.Port {
	var out []survey.Port
	for i := range nvml.NVLINK_MAX_LINKS {
		state, ret := d.GetNvLinkState(i)
		if ret != nvml.SUCCESS {
			break
		}
		p := survey.Port{Up: state == nvml.FEATURE_ENABLED}
		if p.Up {
			p.Raw = units.Rate(field(d, nvml.FI_DEV_NVLINK_GET_SPEED, i)) * 1e6
			p.Bus, p.End = l.remote(d, i)
		}
		out = append(out, p)
	}
	return out
}

// remote says what a port leads to. Virtual machines hide switches behind the address
// fffffff:ff:ff.0.
func (l *library) remote(d nvml.Device, port int) (bus string, end survey.End) {
	if pci, ret := d.GetNvLinkRemotePciInfo(port); ret == nvml.SUCCESS {
		bus = busOf(pci)
	}
	hidden := bus == "" || strings.HasPrefix(bus, "fffff")
	if hidden {
		bus, end = "", survey.EndSwitch
	}
	if !l.has("nvmlDeviceGetNvLinkRemoteDeviceType") {
		return bus, end
	}
	kind, ret := d.GetNvLinkRemoteDeviceType(port)
	if ret != nvml.SUCCESS {
		return bus, end
	}
	switch kind {
	case nvml.NVLINK_DEVICE_TYPE_GPU:
		end = survey.EndGPU
	case nvml.NVLINK_DEVICE_TYPE_IBMNPU:
		end = survey.EndCPU
	case nvml.NVLINK_DEVICE_TYPE_SWITCH:
		end = survey.EndSwitch
	}
	return bus, end
}

func (l *library) peers(d nvml.Device) []survey.Peer {
	out := make([]survey.Peer, len(l.devices))
	if !l.has("nvmlDeviceGetP2PStatus") {
		return out
	}
	for i, other := range l.devices {
		if other == d {
			continue
		}
		ok := func(caps nvml.GpuP2PCapsIndex) bool {
			status, ret := d.GetP2PStatus(other, caps)
			return ret == nvml.SUCCESS && status == nvml.P2P_STATUS_OK
		}
		out[i] = survey.Peer{NVLink: ok(nvml.P2P_CAPS_INDEX_NVLINK), PCIe: ok(nvml.P2P_CAPS_INDEX_WRITE)}
	}
	return out
}

// busOf writes a PCI address as sysfs does: four digits of domain, lower case.
func busOf(pci nvml.PciInfo) string {
	if pci.Domain == 0 && pci.Bus == 0 && pci.Device == 0 && pci.BusId[0] == 0 {
		return ""
	}
	return fmt.Sprintf("%04x:%02x:%02x.0", pci.Domain, pci.Bus, pci.Device)
}
