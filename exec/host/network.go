package host

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"railyard/exec/cluster"
	"railyard/model/measurement"
	"railyard/model/units"
)

// What Network measures: so many times, apart from one another, messages of these sizes.
const (
	networkRounds  = 5
	smallMessage   = 8 * units.Bytes(1)
	pingPongs      = 100 // of small messages in a round
	largestMessage = 16 * units.MiB
)

// NetworkSizes are the sizes of messages that Network measures, up to the largest of a run.
func NetworkSizes(largest units.Bytes) []units.Bytes {
	sizes := []units.Bytes{smallMessage}
	for size := 64 * units.KiB; size <= max(min(largest, largestMessage), units.MiB); size *= 4 {
		sizes = append(sizes, size)
	}
	return sizes
}

// Network measures what messages take between processes, without any collective, as Run sends them: put
// into staging, and copied out of it. Up to sixteen processes all distances are measured, beyond powers of two. All
// processes call it, and all get all rows, of the kinds Net…, which are all that fits need.
func (p *Processes) Network(ctx context.Context, largest units.Bytes) ([]measurement.Link, error) {
	ctx, cancel := Bound(ctx, p.group)
	defer cancel()
	sizes := NetworkSizes(largest)
	w, err := p.wire(ctx, sizes[len(sizes)-1])
	if err == nil {
		err = w.memory(largest)
	}
	if err == nil {
		err = w.all(sizes)
	}
	if err == nil {
		err = w.local()
	}
	if err == nil {
		err = p.leave(ctx, w.signals)
	}
	if err != nil {
		return nil, p.aborted(err)
	}
	all, err := cluster.Tell(ctx, p.group.Exchange, w.rows)
	return slices.Concat(all...), err
}

// wire is a process's end of what is measured.
type wire struct {
	p       *Processes
	ctx     context.Context
	staging []byte // for all peers, of whom one sends at a time
	in, out []byte // what has been taken, and what is sent
	signals [][]*atomic.Int64
	got     []int64 // messages taken, by peer
	rows    []measurement.Link
}

func (p *Processes) wire(ctx context.Context, largest units.Bytes) (*wire, error) {
	w := &wire{p: p, ctx: ctx, staging: make([]byte, largest), in: make([]byte, largest), out: make([]byte, largest),
		got: make([]int64, p.Size)}
	for peer := range p.Size {
		w.signals = append(w.signals, nil)
		for range ownSignals + 1 {
			w.signals[peer] = append(w.signals[peer], new(atomic.Int64))
		}
		if peer == p.Process {
			continue
		}
		if err := p.net.Register(peer, p.runs, w.staging, w.signals[peer]); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// put sends a message, take waits for one and copies it out.
func (w *wire) put(peer int, size units.Bytes) error {
	return w.p.net.Put(peer, w.p.runs, 0, ownSignals, 1, [][]byte{w.out[:size]})
}

func (w *wire) take(peer int, size units.Bytes) error {
	w.got[peer]++
	for spins := 0; w.signals[peer][ownSignals].Load() < w.got[peer]; spins++ {
		if err := w.poll(spins); err != nil {
			return err
		}
	}
	copy(w.in, w.staging[:size])
	return nil
}

// poll is a turn of waiting.
func (w *wire) poll(spins int) error {
	if spins%checkEvery == checkEvery-1 && w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	if w.p.Local > runtime.NumCPU() && spins > 64 {
		_, err := w.p.net.Wait(waitForAlone)
		return err
	}
	_, err := w.p.net.Poll()
	return err
}

// all measures all distances, pairs first.
func (w *wire) all(sizes []units.Bytes) error {
	p := w.p
	for distance := 1; distance < p.Size; distance++ {
		if p.Size > 16 && distance&(distance-1) != 0 {
			continue
		}
		for a := range p.Size {
			b := (a + distance) % p.Size
			if p.Size <= 16 && a > b {
				continue // it was, or will be, measured from the other side
			}
			if err := w.pair(a, b, sizes); err != nil {
				return err
			}
		}
		if err := w.together(distance, sizes[len(sizes)-1]); err != nil {
			return err
		}
	}
	return nil
}

// pair lets two processes send messages to and fro; the others wait until they are through.
func (w *wire) pair(a, b int, sizes []units.Bytes) error {
	if err := w.p.group.Barrier(w.ctx); err != nil {
		return err
	}
	peer := b
	switch w.p.Process {
	case a:
	case b:
		peer = a
	default:
		return nil
	}
	for _, size := range sizes {
		n := 1
		if size == smallMessage {
			n = pingPongs
		}
		for round := range networkRounds + 1 { // the first one warms up
			began := time.Now()
			for range n {
				if err := w.pingPong(peer, size, w.p.Process == a); err != nil {
					return err
				}
			}
			if round > 0 && w.p.Process == a {
				w.row(measurement.NetPair, a, b, size, time.Since(began)/time.Duration(2*n))
			}
		}
	}
	return w.drain()
}

func (w *wire) pingPong(peer int, size units.Bytes, first bool) error {
	if first {
		if err := w.put(peer, size); err != nil {
			return err
		}
		return w.take(peer, size)
	}
	if err := w.take(peer, size); err != nil {
		return err
	}
	return w.put(peer, size)
}

// together lets every process send to the one so many places on, all at once.
func (w *wire) together(distance int, size units.Bytes) error {
	p := w.p
	to, from := (p.Process+distance)%p.Size, (p.Process+p.Size-distance)%p.Size
	for round := range networkRounds + 1 {
		if err := p.group.Barrier(w.ctx); err != nil {
			return err
		}
		began := time.Now()
		if err := w.put(to, size); err != nil {
			return err
		}
		if err := w.take(from, size); err != nil {
			return err
		}
		took := time.Since(began)
		if err := w.drain(); err != nil { // others still wait for this one's message
			return err
		}
		if round > 0 {
			w.row(measurement.NetAll, from, p.Process, size, took)
		}
	}
	return nil
}

// memory measures what the ranks of this process reach, with input and output of the largest size, or what few caches hold.
func (w *wire) memory(largest units.Bytes) error {
	ranks, cfg := w.p.Ranks, Config{}
	buffers := min(2*units.Bytes(ranks)*largest, largestBuffers)
	all, err := engineOf(cfg.DType, cfg.Op).passes(w.ctx, ranks, cfg.DType.Size(), []units.Bytes{buffers})
	if err != nil {
		return err
	}
	for round := range rounds {
		for i, kind := range []string{inputCopy: measurement.NetInput, freshCopy: measurement.NetCopy,
			freshCombine: measurement.NetCombine} {
			if kind != "" {
				w.add(kind, w.p.Process, w.p.Process, largest, float64(all[0].rate(i, round, ranks))/1e9, "GBps")
			}
		}
	}
	return nil
}

// local measures messages between two ranks of this process, where there are two.
func (w *wire) local() error {
	if err := w.p.group.Barrier(w.ctx); err != nil || w.p.Ranks == 1 {
		return err
	}
	h := &handover{}
	h.init(w.p.Ranks)
	h.work, h.transport, h.crowded = h.pingPong, w.p.net, h.crowd(w.p.Local)
	stop := h.start(w.ctx)
	defer stop()
	times, err := h.iterate(networkRounds + 1)
	for i, took := range times {
		if i > 0 { // the first one warms up
			w.row(measurement.NetLocal, w.p.Process, w.p.Process, smallMessage, took/(2*pingPongs))
		}
	}
	return err
}

// handover is two ranks that tell one another of messages, as lanes do, while the others look on.
type handover struct {
	team
	_     [56]byte
	there atomic.Int64
	_     [56]byte
	back  atomic.Int64
}

func (h *handover) pingPong(rank int, i int64) bool {
	for n := i*pingPongs + 1; n <= (i+1)*pingPongs; n++ {
		switch rank {
		case 0:
			h.there.Store(n)
			if !h.await(&h.back, n) {
				return false
			}
		case 1:
			if !h.await(&h.there, n) {
				return false
			}
			h.back.Store(n)
		}
	}
	return true
}

// drain waits until the network has taken all that was put.
func (w *wire) drain() error {
	for spins := 0; w.p.net.Backlog() > 0; spins++ {
		if err := w.poll(spins); err != nil {
			return err
		}
	}
	return nil
}

func (w *wire) row(kind string, from, to int, size units.Bytes, took time.Duration) {
	w.add(kind, from, to, size, float64(took.Nanoseconds())/1e3, "us")
}

func (w *wire) add(kind string, from, to int, size units.Bytes, value float64, unit string) {
	w.rows = append(w.rows, measurement.Link{Kind: kind, Src: strconv.Itoa(from), Dst: strconv.Itoa(to), Bytes: size, Value: value,
		Unit: unit})
}
