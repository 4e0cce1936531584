// Package host runs a schedule for real on this machine: ranks are goroutines, their
// buffers are memory, and a receive copies straight out of the sender's buffer.
//
// Every (rank, channel, phase) is a goroutine. A connection has two counters, messages
// sent and messages taken, which only grow: iteration i's k-th message is number
// i·K + k, so nothing is ever reset between iterations. Every wait has a deadline and
// watches an abort word; when one expires, the error says who waited for whom, at which
// operation and at which count, and all goroutines end.
//
// Numerics: float16 and bfloat16 are combined in float32. A pairwise reduction rounds
// after each hop, an n-ary one once. An average is a sum divided once, at the end.
package host
