// Package sim predicts how long schedules take on a topology under a cost profile.
// It is pure and deterministic: no clock, no randomness but from seeds, integer
// picoseconds.
//
// Compile resolves a schedule's connections to routes and its links to resources (one
// for all links that are always loaded in the same proportion), and interns programs
// and message sequences, so that ranks that are equivalent share one copy. Run then plays the
// schedule as events: every send of every chunk starts after its α, shares links with
// all other transfers max-min fairly, and is handed to the receiving program, which
// continues. Ties are broken by time, then by order of creation.
//
// Several jobs may run at once (CompileJobs), each on ranks of its own or on the same
// ones; they share links and nothing else. Networks spread transfers over all equal
// paths, or hash flows to single ones (Hashing). Ranks may start late (Options.Delays).
//
// A transfer whose resources nobody else ever uses has a fixed duration: one event. The
// others belong to the resource that lets them go no faster; all of these go at one level, so
// that a level that changes touches none of them (sharing, settle).
package sim
