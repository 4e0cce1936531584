//go:build cgo

package cuda

import (
	"fmt"
	"slices"

	"railyard/model/block"
	"railyard/model/collective"
)

// code is a program with the kernels that run it.
type code struct {
	p        *block.Program
	how      Method
	options  []string
	encoding []block.Encoding // of an interpreter's plans, by rank
	// laneBytes is the longest lane, which an interpreter's blocks have in shared memory.
	laneBytes int
}

func codeOf(p *block.Program, cfg Config, how Method) (*code, error) {
	options, err := kernelOptions(cfg)
	if err != nil {
		return nil, err
	}
	if how.Mechanism.InWords() && cfg.DType == collective.Int32 {
		return nil, fmt.Errorf("%v in words: they carry floating-point numbers only", cfg.DType)
	}
	c := &code{p: p, how: how, options: append(options, threadsOption(how))}
	if how.Specialise {
		return c, nil
	}
	for _, lanes := range p.Lanes {
		e := block.Encoding{Forms: block.FormsOf(how.Threads, lanes...), Instances: p.Instances}
		c.encoding = append(c.encoding, e)
		c.laneBytes = max(c.laneBytes, e.LaneBytes(lanes...))
	}
	if c.laneBytes > maxLane {
		return nil, fmt.Errorf("a lane of %d bytes: plan with fewer operations a lane", c.laneBytes)
	}
	return c, nil
}

// maxLane is what there is of shared memory.
const maxLane = 200 << 10

// entry is the name of the kernel.
func (c *code) entry() string {
	if c.how.Specialise {
		return "run_special"
	}
	return "run_plan"
}

// source is a rank's kernel.
func (c *code) source(rank int) source {
	if c.how.Specialise {
		options := append(slices.Clip(c.options), "-DSPECIALISED", fmt.Sprintf("-DPEERS=%d", c.p.Peers()))
		return source{"run.cu", whereUnaligned(options, block.Unaligned(c.p.Lanes[rank]...)),
			map[string]string{"constants.cuh": c.p.Constants(rank)}}
	}
	return interpreter(c.options, c.encoding[rank].Forms)
}

func (c *code) needs() needs {
	return needs{scratch: c.p.Scratch, half: c.p.PacketHalf, control: c.p.ControlBytes(), plan: int64(c.laneBytes * len(c.p.Lanes[0])),
		empty: c.p.Mechanism.Empty()}
}

// threadsOption lets the compiler know a block's threads: with the bytes of a plan of constants it
// then knows how often loops run.
func threadsOption(how Method) string { return fmt.Sprintf("-DTHREADS=%d", how.Threads) }

// interpreter is made for plans of some forms: what they do not need would only make it
// slower.
func interpreter(options []string, f *block.Forms) source {
	options = append(slices.Clip(options), fmt.Sprintf("-DPEERS=%d", f.Width), fmt.Sprintf("-DREFS=%d", f.Refs))
	return source{"run.cu", whereUnaligned(options, f.Unaligned), map[string]string{"forms.cuh": f.Source()}}
}

func whereUnaligned(options []string, unaligned bool) []string {
	if unaligned {
		return append(options, "-DUNALIGNED")
	}
	return options
}
