// Package load says what a running machine's links carry, by two samples of its counters.
//
// A Sample is a state of the machine (model/health) at a moment; its counters are facts that only grow. A Measurement is the difference
// of two samples: for each port (an NVLink, a GPU's PCIe, an adapter) the bytes a second each way beside its line rate, and the errors
// since. Ports stand for links of a topology; what these carry is the load that plans take into account. A link is hot where its load
// takes more than a share of its line rate, as the topology has it.
package load
