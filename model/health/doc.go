// Package health holds what is known of a machine that runs, and what is wrong with it.
//
// A State is a list of parts (GPUs, NVLinks, adapters, PCI devices, the host, variables of the
// environment), each with facts: a number in the unit that facts.yaml gives it, a text, or yes and no,
// and where each came from. Whoever reads a machine or another program's output only says facts; what
// they mean is said elsewhere, by rules. A Finding is something wrong: what, why it matters, what to do
// and what it costs.
package health
