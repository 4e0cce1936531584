// Package nccl runs NCCL's collectives as the baseline: libnccl.so.2 is opened when it
// is first needed, its collectives work on memory and streams of exec/cuda/driver, and
// are timed as schedules are.
//
// NCCL reads NCCL_ALGO and NCCL_PROTO whenever a communicator is made (src/graph/
// tuning.cc, ncclTopoTuneModel, NCCL 2.28), so that Connect forces an algorithm and
// protocol for its communicators alone and several settings live in one process.
// Settings that NCCL reads once (NCCL_SYM_KERNEL, NCCL_CTA_POLICY) must be set for the
// whole process before Open.
//
// NVLink multicast is never used: Open sets NCCL_NVLS_ENABLE=0, and NVLS algorithms are
// refused.
package nccl
