// Package probe measures what the links of a machine cost, without any collective:
// flags, copies by multiprocessors and by copy engines, messages in the Simple, LL and LL128
// protocols, pulled and by copy engines, host copies and launches. report/fit makes a cost profile of its rows.
//
// Messages are measured as schedules send them: in each round every GPU sends to its
// peers (one of a pair, the next of a ring, all others) and waits for theirs, so that a
// round is what a step of a collective takes, links shared as a step shares them.
package probe
