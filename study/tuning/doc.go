// Package tuning times ways to run collectives on this machine's GPUs, beside NCCL, and finds the thresholds
// between the fastest.
package tuning
