// Package pack finds out how fast a collective can be on a topology, exactly, and which
// trees reach that rate.
//
//   - FromTopology makes the graph in which data may flow: ranks, switches, directed
//     capacities. Reversed, it is for what goes to a root instead of from it.
//   - Bound is the exact rate that no all-gather can beat, and the cut that says why;
//     AllReduceBound is that of all-reduces, BroadcastBound and ScatterBound those of a
//     single root, PairsBound that of what pairs of ranks exchange.
//   - Pack finds spanning out-trees for every root whose hops are transfers between
//     ranks, over the routes that the runtime takes; PackFor those for the roots of
//     other collectives. Packing.Verify proves that they fit.
//
// Bounds, rates and proofs are exact: integers and fractions. Read backwards, the trees
// of an all-gather are those of a reduce-scatter; a link must then carry as much the
// other way.
package pack
