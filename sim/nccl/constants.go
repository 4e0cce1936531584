package nccl

import "railyard/model/cost"

// hardware is what a step of an algorithm goes over.
type hardware int

const (
	overNVLink hardware = iota
	overPCI
	overNet
)

// byProto is a number for each protocol.
type byProto [numProtos]float64

// baseLatency is what an operation takes whatever its size and ranks, µs.
var baseLatency = [numAlgos]byProto{
	Tree: {6.8, 14, 8.4},
	Ring: {6.6, 14, 8.4},
	PAT:  {8, 8, 8},
}

// stepLatency is what one step takes, µs.
var stepLatency = map[hardware][numAlgos]byProto{
	overNVLink: {Tree: {0.6, 1.25, 4}, Ring: {0.6, 1.9, 3.4}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, NVLS: {0, 0, 25},
		NVLSTree: {0, 0, 25}, PAT: {0, 0, 4}},
	overPCI: {Tree: {1, 1.9, 4}, Ring: {1, 2.5, 5.7}, CollNetDirect: {0, 0, 3.7}, CollNetChain: {0, 0, 2.8}, PAT: {0, 0, 4}},
	overNet: {Tree: {5, 8.5, 14}, Ring: {2.7, 4, 14}, CollNetDirect: {0, 0, 31}, CollNetChain: {0, 0, 30}, NVLS: {0, 0, 18},
		NVLSTree: {0, 0, 20.9}, PAT: {0, 0, 14}},
}

// limits are bandwidths that an SM reaches, GB/s, by number of nodes: 1, 2, more.
type limits [3]float64

// generation holds what differs between GPU generations.
type generation struct {
	llMax          limits // LL in all; with several nodes it depends on the CPU instead
	ringLL128      limits // the others: per channel
	treeLL128      limits
	tree           limits
	nvlsTree       limits
	nvlsEfficiency float64
}

// The generations; GPUs before Volta count as Volta.
var generations = [...]generation{
	{ // Volta
		llMax:     limits{39, 39, 20.4},
		ringLL128: limits{20, 20, 20},
		treeLL128: limits{20, 20, 20},
		tree:      limits{26.5, 18.5, 10},
		nvlsTree:  limits{26.5, 18.5, 10},
	},
	{ // Ampere
		llMax:     limits{87.7, 22.5, 19},
		ringLL128: limits{20, 20, 20},
		treeLL128: limits{20, 20, 20},
		tree:      limits{24, 23.6, 17.8},
		nvlsTree:  limits{24, 23.6, 17.8},
	},
	{ // Hopper
		llMax:          limits{141, 45, 35},
		ringLL128:      limits{36.7, 36.7, 36.7},
		treeLL128:      limits{36.7, 36.7, 29},
		tree:           limits{38.7, 41.4, 36},
		nvlsTree:       limits{0, 57.7, 45.5},
		nvlsEfficiency: cost.HopperInSwitch,
	},
	{ // Blackwell
		llMax:          limits{282, 90, 70},
		ringLL128:      limits{40, 40, 40},
		treeLL128:      limits{55.6, 31.67, 20},
		tree:           limits{70, 42.8, 24},
		nvlsTree:       limits{0, 96, 80},
		nvlsEfficiency: cost.BlackwellInSwitch,
	},
}

func generationOf(cc int) int {
	switch {
	case cc >= 100:
		return 3
	case cc >= 90:
		return 2
	case cc >= 80:
		return 1
	}
	return 0
}

// treeCorrection scales the bandwidth of trees at medium sizes, by the logarithm of
// bytes/64.
var treeCorrection = [numProtos][24]float64{
	LL:     {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
	LL128:  {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
	Simple: {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9},
}
