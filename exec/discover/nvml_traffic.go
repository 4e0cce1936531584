//go:build cgo && linux

package discover

import (
	"encoding/binary"
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"railyard/model/units"
)

// Traffic implements Library. The driver counts payload by port in KiB.
func (l *library) Traffic() ([]Traffic, error) {
	var out []Traffic
	for g, d := range l.devices {
		for port := range nvml.NVLINK_MAX_LINKS {
			state, ret := d.GetNvLinkState(port)
			if ret != nvml.SUCCESS {
				break
			}
			if state != nvml.FEATURE_ENABLED {
				continue
			}
			values := []nvml.FieldValue{
				{FieldId: nvml.FI_DEV_NVLINK_THROUGHPUT_DATA_TX, ScopeId: uint32(port)},
				{FieldId: nvml.FI_DEV_NVLINK_THROUGHPUT_DATA_RX, ScopeId: uint32(port)},
			}
			if ret := d.GetFieldValues(values); ret != nvml.SUCCESS {
				return nil, failed(fmt.Sprintf("GPU %d: NVLink counters", g), ret)
			}
			for _, v := range values {
				if ret := nvml.Return(v.NvmlReturn); ret != nvml.SUCCESS {
					return nil, failed(fmt.Sprintf("GPU %d, NVLink %d: counters", g, port), ret)
				}
			}
			out = append(out, Traffic{GPU: g, Port: port, Sent: units.Bytes(number(values[0])) * units.KiB,
				Received: units.Bytes(number(values[1])) * units.KiB})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no NVLink is up: there is no traffic to count")
	}
	return out, nil
}

// field is a number that the driver knows about a port, 0 where it does not.
func field(d nvml.Device, id uint32, port int) uint64 {
	values := []nvml.FieldValue{{FieldId: id, ScopeId: uint32(port)}}
	if d.GetFieldValues(values) != nvml.SUCCESS || nvml.Return(values[0].NvmlReturn) != nvml.SUCCESS {
		return 0
	}
	return number(values[0])
}

// number is a field's value; unsigned 32-bit ones fill half of the union.
func number(v nvml.FieldValue) uint64 {
	if nvml.ValueType(v.ValueType) == nvml.VALUE_TYPE_UNSIGNED_INT {
		return uint64(binary.NativeEndian.Uint32(v.Value[:]))
	}
	return binary.NativeEndian.Uint64(v.Value[:])
}
