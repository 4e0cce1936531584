package foreign

// NCCL's algorithms and protocols in the order of their numbers, which tuners give and logs of versions up to 2.23 print
// (src/include/nccl_common.h, plugins/tuner/example/nccl/tuner.h, 2.24 to 2.30).
var (
	NCCLAlgorithms = []string{"tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"}
	NCCLProtocols  = []string{"ll", "ll128", "simple"}
)
