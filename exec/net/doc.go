// Package net moves bytes between the processes of a run: one puts data into memory that
// another has registered and then raises a signal there; whoever waits polls. It knows nothing
// of schedules. TCP is the transport of this package's own: of hosts, of tests, and of small messages on
// clusters without RDMA; what reads and writes by verbs or by a plugin of NCCL has the
// same interface.
//
// Nothing runs in the background: bytes move while somebody puts, polls or waits. A thread
// of its own would need a core, and Go's network poller is asked last where all processors spin.
//
// Writes copy. With MSG_ZEROCOPY Linux copied all the same over loopback and between network
// namespaces (at least 4,092 of 4,096 writes of 1 MiB), which made them 0.4 to 0.9 times as fast.
package net
