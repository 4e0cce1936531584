package mscclxml

import (
	"errors"
	"fmt"

	"railyard/model/program"
	"railyard/model/schedule"
)

// Options of an export.
type Options struct {
	Dialect string // see Get
	InPlace bool   // also for in-place calls: the schedule must allow it
}

// allBytes is the upper end of the sizes that the executor shall use a file for: executors differ
// in what they make of 0 and of none.
const allBytes = 1 << 40

// Export makes the file of a schedule that schedule.Check accepts. Pipeline slices are
// left to the executor, which loops over the buffer in small pieces by itself.
//
// Each connection is served by one thread block at either end. Where a rank passes on
// what it has just received, receive and send become one step. If thread blocks have
// too many steps, a connection's messages are spread over several channels.
func Export(s *schedule.Schedule, o Options) (*File, error) {
	d, err := Get(o.Dialect)
	if err != nil {
		return nil, err
	}
	coll, err := d.collName(s.Spec.Kind)
	if err != nil {
		return nil, err
	}
	if s.Spec.Root != 0 {
		return nil, fmt.Errorf("the root is rank %d, but MSCCL files do not name the root: plan with --root 0", s.Spec.Root)
	}
	if err := schedule.Check(s, nil); err != nil {
		return nil, err
	}
	if o.InPlace { // what copies onto itself there stays, for other calls
		if _, err := schedule.InPlace(s); err != nil {
			return nil, err
		}
	}
	proto := protocolName(s.Protocol)
	if proto == "" {
		return nil, fmt.Errorf("protocol %s has no name in MSCCL files: plan with --proto simple, ll or ll128", s.Protocol)
	}
	p, err := program.Build(s, maxCount)
	if err != nil {
		return nil, err
	}
	f := File{Name: s.Algorithm, Proto: proto, Coll: coll, InPlace: o.InPlace, OutOfPlace: true, MaxBytes: allBytes,
		ChunksPerLoop: chunksPerLoop(p)}
	p.InPlace = o.InPlace
	return fit(&f, p, styles(p, highTrees(s)), d)
}

func chunksPerLoop(p *program.Program) int {
	most := 0
	for r := range p.Ranks {
		most = max(most, p.Input[r], p.Output[r])
	}
	return most
}

// style is how steps are given to thread blocks.
type style struct {
	fuse  bool // receive and send of the same data in one step
	merge bool // sends and receives without such in common thread blocks
	group int  // messages of a connection on one channel; 0: all
	bands bool // peers spread over channels

	stages [][]int // by channel and phase: those that share thread blocks; nil: all
	shares []int   // by part of a block: the same
}

// styles are tried in this order. Stages apart go through large buffers as the plan does. Sending
// and receiving in thread blocks of their own cannot stop in a loop of full connections.
func styles(p *program.Program, trees bool) []style {
	var out []style
	bands := crowded(p)
	if stages := stagesOf(p); stages != nil {
		out = append(out, style{fuse: true, bands: bands, stages: stages}, style{fuse: true, merge: true, bands: bands, stages: stages})
	}
	if trees {
		for shares := sharesOf(p); shares != nil; shares = fewer(shares) {
			out = append(out, style{fuse: true, bands: bands, shares: shares})
		}
	}
	for _, group := range []int{0, 48, 24, 12} {
		out = append(out, style{fuse: true, group: group, bands: bands}, style{group: group, bands: bands},
			style{fuse: true, merge: true, group: group, bands: bands})
	}
	return out
}

// fit tries the styles until the file is valid; the error is that of the first
// whose stages share thread blocks.
func fit(head *File, p *program.Program, styles []style, d Dialect) (*File, error) {
	var first error
	deps := make([][][]int, len(p.Ranks))
	for _, st := range styles {
		f := *head
		err := assemble(&f, p, d, st, deps)
		if err == nil {
			err = Validate(&f, d)
		}
		if err == nil {
			return &f, nil
		}
		if first == nil && st.stages == nil && st.shares == nil {
			first = err
		}
	}
	return nil, fmt.Errorf("the plan does not fit MSCCL's executor (%s): %w; %s", d.Name, firstOf(first), help(p, d))
}

// help is what may make a plan fit.
func help(p *program.Program, d Dialect) string {
	out := "plan with another --algo (a ring has the fewest connections)"
	if p.Channels > 1 {
		out = "plan with fewer channels (--channels 1) or another --algo"
	}
	for _, name := range Names() {
		if o := dialects[name]; o.ThreadBlocks > d.ThreadBlocks || o.Steps > d.Steps {
			out += fmt.Sprintf("; dialect %s allows %d thread blocks of %d steps", name, o.ThreadBlocks, o.Steps)
		}
	}
	return out
}

// firstOf is the first of joined errors.
func firstOf(err error) error {
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		if list := many.Unwrap(); len(list) > 0 {
			return list[0]
		}
	}
	return err
}
