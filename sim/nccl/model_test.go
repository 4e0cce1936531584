package nccl

import (
	"fmt"
	"math"

	"railyard/model/collective"
	"railyard/model/units"
)

// What NCCL prints with NCCL_DEBUG_SUBSYS=GRAPH,TUNING, of a model.

// ComputeCapability is the lowest of the GPUs', × 10.
func (m *Model) ComputeCapability() int { return m.m.ccMin }

// CPU is the processor that the model assumes.
func (m *Model) CPU() CPU { return m.m.cpu }

// Bandwidth is all channels' inside a node, GB/s.
func (g Graph) Bandwidth() float64 { return float64(g.Channels) * g.BWIntra }

// Latency is the part of a collective's time that does not depend on its size, as NCCL
// prints it with NCCL_DEBUG_SUBSYS=TUNING. It fails where NCCL would not run that.
func (m *Model) Latency(k collective.Kind, a Algo, p Proto) (units.Time, error) {
	i, err := m.lookup(k, a, p)
	if err != nil {
		return 0, err
	}
	return units.FromMicroseconds(m.latency[i][a][p]), nil
}

// AlgBW is the rate at which a collective of the given size moves its bytes once it
// runs; for size 0 it is the one that NCCL prints, before corrections for the size.
func (m *Model) AlgBW(k collective.Kind, a Algo, p Proto, size units.Bytes) (units.Rate, error) {
	i, err := m.lookup(k, a, p)
	if err != nil {
		return 0, err
	}
	return units.Rate(math.Round(m.bw[i][a][p] * m.bwFactor(k, a, p, size) * 1e9)), nil
}

func (m *Model) lookup(k collective.Kind, a Algo, p Proto) (int, error) {
	i, err := kindIndex(k)
	if err != nil {
		return 0, err
	}
	if a >= numAlgos || p >= numProtos || m.bw[i][a][p] == 0 {
		return 0, fmt.Errorf("NCCL does not run %s with this algorithm and protocol here", k)
	}
	return i, nil
}
