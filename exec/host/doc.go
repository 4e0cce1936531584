// Package host runs a schedule for real on this machine, or on several: ranks are goroutines, their
// buffers are memory, and a receive copies straight out of the sender's buffer.
//
// A rank is one goroutine, as it is one core: it runs its lanes (the programs of its
// channels and phases) in turn, each up to the end of a slice or to a message that is not
// there. It keeps its processor while it waits, and is pinned to it where ranks are as many
// as processors: else schedulers, Go's and the kernel's, may put two ranks on one.
// A connection has two counters, messages sent and messages taken, which only grow: iteration
// i's k-th message is number i·K + k, so nothing is ever reset between iterations. All ranks begin an iteration together. A rank that
// cannot move has a deadline
// and watches an abort word; when it expires, the error says who waits for whom, at which
// operation and at which count, and all goroutines end.
//
// Ranks may be spread over processes, of one or several nodes (Meet, Config.Over). Those of one process
// share memory as ever; a message to another process is put into staging of its receiver (exec/net), whose connection
// counts as those in memory do, and is read there. Who waits attends to the network.
//
// Numerics: float16 and bfloat16 are combined in float32. A pairwise reduction rounds
// after each hop, an n-ary one once. An average is a sum divided once, at the end.
package host
