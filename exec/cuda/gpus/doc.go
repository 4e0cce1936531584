// Package gpus holds this machine's GPUs while something runs on them: each rank has a thread
// with its GPU's context, a stream and memory that all GPUs of the set can address; one word
// in host memory ends all kernels that wait.
package gpus

// devicesFor is how many GPUs ranks need of which at most share are on each.
func devicesFor(ranks, share int) int { return (ranks + share - 1) / share }
