package nccl

import "railyard/model/collective"

// Algo is an algorithm of NCCL.
type Algo uint8

// The algorithms that the model covers, in NCCL's order: ties go to the first.
const (
	Tree Algo = iota
	Ring
	CollNetDirect // reduction in the network's switches, every GPU with its part
	CollNetChain  // the same, over a chain of GPUs
	NVLS
	NVLSTree
	PAT
	numAlgos
)

// Proto is a protocol of NCCL: how data and flags share a message.
type Proto uint8

// The protocols.
const (
	LL Proto = iota
	LL128
	Simple
	numProtos
)

var (
	algoNames  = [...]string{"Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT"}
	protoNames = [...]string{"LL", "LL128", "Simple"}
)

// String is the name as NCCL_ALGO takes it.
func (a Algo) String() string { return algoNames[a] }

// String is the name as NCCL_PROTO takes it.
func (p Proto) String() string { return protoNames[p] }

// kinds are the collectives that NCCL has a cost model for.
var kinds = [...]collective.Kind{collective.AllReduce, collective.AllGather, collective.ReduceScatter, collective.Broadcast,
	collective.Reduce}

// offers reports whether NCCL implements a collective with an algorithm and protocol.
func offers(k collective.Kind, a Algo, p Proto) bool {
	if a != Tree && a != Ring && p != Simple {
		return false
	}
	switch k {
	case collective.AllReduce:
		return a != PAT
	case collective.AllGather, collective.ReduceScatter:
		return a == Ring || a == CollNetDirect || a == NVLS || a == PAT
	case collective.Broadcast, collective.Reduce:
		return a == Ring
	}
	return false
}
