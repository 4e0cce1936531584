// Package planner turns a topology, a collective and a size into a schedule.
//
// Each algorithm is a file: it builds a schedule for the topology or says why it does
// not apply. Candidates builds all that apply, in a few variants of channels and
// slices; Plan scores them at each size with a function passed in (the simulator's, as
// a rule), prunes with a lower estimate, and keeps the best, the runner-up and the
// distance to what no schedule can beat.
package planner
