//go:build cgo

package cuda

import (
	"fmt"

	"railyard/exec/cuda/driver"
	"railyard/model/block"
)

// plans are lanes of one or several kernels as an interpreter that is made for them reads them.
type plans struct {
	encoding  block.Encoding
	laneBytes int // of the longest, which blocks have in shared memory
	threads   int
	source    source
}

// maxLane is what there is of shared memory.
const maxLane = 200 << 10

func plansOf(cfg Config, how Method, instances int, lanes ...block.Lane) (*plans, error) {
	options, err := kernelOptions(cfg, how)
	if err != nil {
		return nil, err
	}
	x := &plans{encoding: block.Encoding{Forms: block.FormsOf(how.Threads, lanes...), Instances: instances}, threads: how.Threads}
	if x.laneBytes = x.encoding.LaneBytes(lanes...); x.laneBytes > maxLane {
		return nil, fmt.Errorf("a lane of %d bytes: plan with fewer chunks, slices or operations a lane", x.laneBytes)
	}
	x.source = interpreter(options, x.encoding.Forms)
	return x, nil
}

// bytes is the room of so many lanes.
func (x *plans) bytes(lanes int) int64 { return int64(x.laneBytes) * int64(lanes) }

// placer puts plans into a GPU's memory, one behind the other.
type placer struct {
	*plans
	m       *memory
	g       *gpu
	kernel  driver.Kernel
	placed  int64                  // bytes
	rank    int                    // as the plans number it
	address func(block.Ref) uint64 // of what they name
}

// placer loads the interpreter.
func (x *plans) placer(m *memory, g *gpu) (p *placer, err error) {
	p = &placer{plans: x, m: m, g: g, rank: g.place, address: m.address}
	p.kernel, err = g.kernel(x.source, "run_plan")
	return p, err
}

// launch is that of some lanes by so many blocks; last, it ends an operation. Fits says whether there is room for it.
func (x *placer) launch(lanes []block.Lane, instances, blocks int, last bool) (launches, error) {
	l := launches{kernel: x.kernel, shape: driver.Dim{Blocks: blocks, Threads: x.threads, Shared: x.laneBytes},
		param: x.m.parameter(x.g.place, len(lanes), instances)}
	if !last {
		l.param.Advance = 0
	}
	e, at := x.encoding, x.g.pool.At+driver.Ptr(x.m.plan+x.placed)
	e.Address = x.address
	x.placed += x.bytes(len(lanes))
	l.param.Plan, l.param.LaneBytes = uint64(at), uint32(x.laneBytes)
	return l, driver.Upload(at, e.Encode(x.rank, lanes, x.laneBytes))
}
