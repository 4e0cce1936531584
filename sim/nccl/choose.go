package nccl

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"railyard/model/collective"
	"railyard/model/cost"
	"railyard/model/units"
)

// Estimate is what NCCL's model says about one way to run a collective.
type Estimate struct {
	Algo     Algo
	Proto    Proto
	Channels int // SMs that it would use at this size, at most
	Time     units.Time
	Latency  units.Time // the part that does not depend on the size
	AlgBW    units.Rate // bytes over Time − Latency, after the corrections for the size
}

// Candidates are all ways in which NCCL could run a collective of size bytes (as
// nccl-tests counts them), fastest first. Of equals the first in NCCL's order leads.
func (m *Model) Candidates(k collective.Kind, size units.Bytes) ([]Estimate, error) {
	i, err := kindIndex(k)
	if err != nil {
		return nil, err
	}
	if size < 0 {
		return nil, fmt.Errorf("size %d is negative", size)
	}
	if m.nRanks == 1 {
		return []Estimate{{Algo: Ring, Proto: Simple}}, nil // NCCL copies
	}
	var out []Estimate
	for a := range numAlgos {
		for p := range numProtos {
			if m.bw[i][a][p] > 0 && m.fits(k, a) {
				out = append(out, m.estimate(k, a, p, i, size))
			}
		}
	}
	slices.SortStableFunc(out, func(x, y Estimate) int { return cmp.Compare(x.Time, y.Time) })
	return out, nil
}

// Choose is what NCCL would run.
func (m *Model) Choose(k collective.Kind, size units.Bytes) (Estimate, error) {
	all, err := m.Candidates(k, size)
	if err != nil {
		return Estimate{}, err
	}
	return all[0], nil
}

// fits reports whether NVLS has enough heads: all GPUs of the node must be one, but for
// all_reduce.
func (m *Model) fits(k collective.Kind, a Algo) bool {
	return a != NVLS && a != NVLSTree || k == collective.AllReduce || m.maxLocal <= cost.MaxHeads
}

func (m *Model) estimate(k collective.Kind, a Algo, p Proto, i int, size units.Bytes) Estimate {
	latency := m.latency[i][a][p] * m.latencyFactor(k, a, p, size)
	bw := m.bw[i][a][p] * m.bwFactor(k, a, p, size)
	return Estimate{
		Algo: a, Proto: p, Channels: m.channelsAt(a, p, size),
		Time:    units.FromMicroseconds(latency + float64(size)/(1000*bw)),
		Latency: units.FromMicroseconds(latency),
		AlgBW:   units.Rate(math.Round(bw * 1e9)),
	}
}

// bwFactor corrects trees at medium sizes; across x86 nodes of Blackwells NVLSTree too.
func (m *Model) bwFactor(k collective.Kind, a Algo, p Proto, size units.Bytes) float64 {
	at, end := log2(int(size>>6)), 0
	switch {
	case k != collective.AllReduce:
	case a == Tree:
		end = 23
	case a == NVLSTree && m.m.ccMin >= 100 && m.m.cpu.x86():
		end = 24
	}
	if at < 0 || at >= end {
		return 1
	}
	return treeCorrection[p][at]
}

// latencyFactor is for rings across nodes that do more than post small messages.
func (m *Model) latencyFactor(k collective.Kind, a Algo, p Proto, size units.Bytes) float64 {
	if a != Ring || p != Simple || m.nNodes == 1 || k != collective.AllReduce || int(size)/(m.nChannels*m.nRanks) < 64 {
		return 1
	}
	if m.m.ccMin < 80 {
		return 1.9
	}
	return 1.4
}

// channelsAt is how many channels a size is spread over: as many as give each of their
// threads enough to do (topoGetAlgoInfo in src/enqueue.cc).
func (m *Model) channelsAt(a Algo, p Proto, size units.Bytes) int {
	if a == NVLS || a == NVLSTree {
		return m.nvlsChannels
	}
	n := m.nChannels
	perChannel := m.threads(a, p) * m.threadBytes(a, p)
	for n > 1 && int64(size) < int64(n)*perChannel {
		n--
	}
	return n
}

// threads is the size of a channel's thread block.
func (m *Model) threads(a Algo, p Proto) int64 {
	switch {
	case p == Simple && a == Ring && m.ring.bwIntra*float64(m.ring.n) <= 12:
		return 256 // no faster than PCIe 3
	case a == PAT:
		return 0 // NCCL leaves it unset, and so never takes fewer channels
	}
	return int64(m.profile.Protocol(Plain(p.String())).Threads)
}

// threadBytes is what a thread must have to do before NCCL takes another one.
func (m *Model) threadBytes(a Algo, p Proto) int64 {
	n := int64(m.profile.Protocol(Plain(p.String())).ThreadBytes)
	if p == LL && a == Ring {
		return n * int64(m.nRanks)
	}
	return n
}
