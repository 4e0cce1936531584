// Package nccl predicts what NVIDIA's NCCL predicts for itself: which algorithm,
// protocol and number of channels it would choose for a collective, and the time its
// own cost model gives. It is the baseline that railyard's plans are compared with.
//
// NCCL first searches the machine for channels (rings, trees, NVLS heads) that its links
// can carry at one of a list of speeds, then computes a latency and a bandwidth for each
// algorithm and protocol, and takes the least latency + bytes/bandwidth. Both halves are
// modelled as in NCCL 2.30.7 (https://github.com/NVIDIA/nccl, Apache-2.0, commit
// 5067397c): src/graph/topo.cc (system.go), paths.cc (paths.go, local.go), search.cc
// (compute.go, relax.go, speeds.go, search*.go), connect.cc and transport/nvls.cc (channels.go), tuning.cc
// (constants.go, tuning.go) and enqueue.cc (choose.go). Numbers without another source
// in this package come from there. NCCL writes GB/s (1e9) and microseconds; so does this
// package inside.
//
// There is no choice of version: on Hopper NCCL 2.28.9, whose printed table the tests
// check row by row, and 2.30.7 hold the same numbers and search alike. They differ for
// Blackwell (LL128 rings, NVLSTree beyond two nodes, speeds 45, 80 and 86 GB/s).
//
// CollNet (SHARP in the network) is there where it is asked for (collnet.go). Left out: tuner plugins, NCCL_* variables, symmetric
// memory kernels, and node shapes that NCCL reads from firmware but a topology file does
// not tell (Broadcom switch flattening, multi-port NICs, NIC fusion, MLOPart).
package nccl
