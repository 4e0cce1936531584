//go:build cgo

package cuda

import (
	"bytes"
	"encoding/binary"
	"testing"

	"railyard/exec/cuda/driver"
	_ "railyard/internal/long" // accepts -long
)

// Parameters lie in memory as the kernels read them: field behind field, without gaps.
func TestParametersHaveNoGaps(t *testing.T) {
	p := parameter{Control: 1, Report: 2, PacketHalf: 3, Rank: 4, Instances: 5, LaneBytes: 6, JitterNS: 7, Advance: 8}
	p.Base[0], p.Base[len(p.Base)-1] = 9, 10
	c := checkArgs{At: 1, Unit: 0.5, Tiny: 0.25, Rank: 2, Epoch: 3, Average: 1}
	for _, x := range []struct {
		fields any
		bytes  []byte
	}{{p, driver.Bytes(&p)}, {c, driver.Bytes(&c)}} {
		want, err := binary.Append(nil, binary.NativeEndian, x.fields)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x.bytes, want) {
			t.Errorf("%T: %d bytes, field behind field %d", x.fields, len(x.bytes), len(want))
		}
	}
	if head := len(driver.Bytes(&p)) - 8*len(p.Base); head != 6*8+10*4 {
		t.Errorf("%d bytes before the table", head)
	}
}
