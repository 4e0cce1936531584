package cost

import (
	"fmt"
	"math"
	"slices"

	"railyard/model/units"
)

// Kernel is what one of a communication library's kernels costs: an algorithm with a
// protocol that makes a collective. Its time is
//
//	Base + Wide·Size/(Size+WideFrom) + Hops·Hop + NetHops·NetHop + (Steps+Drain·Drains)·move(Chunk)
//
// where the work (Hops dependent steps inside a node and NetHops across nodes, or messages to other nodes that a rank
// hands to the network one after the other, Steps
// that move Chunk bytes each, Drains that thread blocks move beside the links) follows from the algorithm and the number of ranks, and
// the rest is fitted. move(c) is the time of c bytes at line rate, made longer piece by
// piece: small chunks leave channels idle, large ones lose to headers and flags. Where
// the chunk goes down a chain of ranks (trees, broadcast), its first Fill bytes pass all
// hops one after the other, and only the rest streams behind them:
//
//	… + (Hops+NetHops)·move(min(Chunk, Fill)) + (Steps+Drain·Drains)·(move(Chunk) − move(min(Chunk, Fill)))
//
// where a hop counts for less than one as far as what it crosses is faster than the line that bounds the rest.
type Kernel struct {
	KernelKey
	Base    units.Time  `file:"base"`              // fixed: launch of the kernel, first and last synchronisation
	Wide    units.Time  `file:"wide"`              // what starting and ending all channels adds to that of one
	Hop     units.Time  `file:"hop"`               // a dependent step inside a scale-up domain: flag, load, store
	NetHop  units.Time  `file:"net_hop"`           // the same across the network: proxy, NIC, wire
	Drain   float64     `file:"drain,lo=-1,hi=10"` // of a step that only thread blocks do: copying the last slot out, sending both ways
	Fill    units.Bytes `file:"fill"`              // that fill a chain before it streams; 0: it streams at once
	Pieces  []Piece     `file:"pieces,some,line"`
	MinSize units.Bytes `file:"min_size"` // of the collectives that it was fitted on
	MaxSize units.Bytes `file:"max_size"`
	Latency float64     `file:"latency,lo=0,hi=1"`           // share of what took MinSize that moves no bytes; 0: not known
	Bytes   float64     `file:"bytes,lo=0,hi=1"`             // share of what took MaxSize that does; 0: not known
	Rows    int         `file:"rows,hi=1073741824"`          // measurements it was fitted on
	Systems int         `file:"systems,hi=1073741824"`       // machines that these are of
	Error   float64     `file:"error,lo=0,hi=1073741824"`    // mean absolute relative error, in sample
	HeldOut float64     `file:"held_out,lo=0,hi=1073741824"` // the same of rows left out in turn; 0: not judged so
}

// KernelKey says which kernel.
type KernelKey struct {
	Collective string `file:"collective,need"` // all_reduce, all_gather, …
	Algorithm  string `file:"algorithm,need"`  // ring, tree, nvls, nvls_tree, p2p
	Protocol   string `file:"protocol,need"`   // ll, ll128, simple
	Over       string `file:"over,need"`       // what it crosses: nvlink, xgmi, pcie, host (memory), or a network: ib, roce, efa, …
	Graph      bool   `file:"graph"`           // in a CUDA graph, where NCCL registers the user's buffers
}

// HostMemory is what kernels cross where GPUs have no peer-to-peer.
const HostMemory = "host"

// AnyNetwork stands for a network of a kind that is not known, and for all networks together.
const AnyNetwork = "network"

// Piece is the slowdown against line rate of a chunk's bytes from From on.
type Piece struct {
	From     units.Bytes `file:"from,ascends=0"`
	Slowdown float64     `file:"slowdown,some,lo=1,hi=1073741824"`
}

// Move is the number of bytes that take as long at line rate as chunk bytes do.
func (k *Kernel) Move(chunk units.Bytes) float64 {
	sum := 0.0
	for i, p := range k.Pieces {
		end := chunk
		if i+1 < len(k.Pieces) {
			end = min(end, k.Pieces[i+1].From)
		}
		if end > p.From {
			sum += p.Slowdown * float64(end-p.From)
		}
	}
	return sum
}

// WideFrom is the size of a collective at which half of the channels' cost is paid: NCCL
// adds channels from a few KiB on (about where times of H200 in validation/ rise).
const WideFrom = 12 * units.KiB

// Widened is the share of Wide that a collective of a size pays.
func Widened(size units.Bytes) float64 { return float64(size) / float64(size+WideFrom) }

// Moved is the number of bytes that take as long at line rate as all steps and drains do: of a
// chain over hops, or (hops 0) of independent steps.
func (k *Kernel) Moved(chunk units.Bytes, steps, drains, hops float64) float64 {
	steps += k.Drain * drains
	out := steps * k.Move(chunk)
	if hops > 0 && k.Fill > 0 {
		out += (hops - steps) * k.Move(min(chunk, k.Fill))
	}
	return max(out, 0)
}

// Beyond is how many times as large as the largest size that it was fitted on a size is,
// or as small as the smallest; 1 within.
func (k *Kernel) Beyond(size units.Bytes) float64 {
	return max(1, float64(size)/float64(max(k.MaxSize, 1)), float64(k.MinSize)/float64(max(size, 1)))
}

// Reaches is how far the kernel can be followed beyond the sizes that it was fitted on, from 1 to 0: as far as it showed there what decides
// here, the bytes of large sizes and the latency of small ones; else a half where sizes are fourfold.
func (k *Kernel) Reaches(size units.Bytes) float64 {
	beyond, shown := k.Beyond(size), k.Latency
	if size > k.MaxSize {
		shown = k.Bytes
	}
	return min(max(shown, 1/math.Sqrt(beyond)), 1)
}

// Kernel is the kernel with a key; nil where the profile has none.
func (p *Profile) Kernel(key KernelKey) *Kernel {
	i := slices.IndexFunc(p.Kernels, func(k Kernel) bool { return k.KernelKey == key })
	if i < 0 {
		return nil
	}
	return &p.Kernels[i]
}

// KernelErrors sums up how well kernels fit, weighted by rows.
func KernelErrors(kernels []Kernel) string {
	var rows, in, out float64
	for _, k := range kernels {
		n := float64(k.Rows)
		rows, in, out = rows+n, in+n*k.Error, out+n*k.HeldOut
	}
	if rows == 0 {
		return "no kernels"
	}
	if out == 0 {
		return fmt.Sprintf("kernels: MAPE %.1f%% in sample (%.0f rows)", 100*in/rows, rows)
	}
	return fmt.Sprintf("kernels: MAPE %.1f%% in sample, %.1f%% held out (%.0f rows)", 100*in/rows, 100*out/rows, rows)
}
