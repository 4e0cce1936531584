// Package pack finds out how fast an all-gather (or, reversed, a reduce-scatter) can be
// on a topology, exactly, and which trees reach that rate.
//
//   - FromTopology makes the graph in which data may flow: ranks, switches, directed
//     capacities.
//   - Bound is the exact rate that no schedule can beat, and the cut that says why;
//     BroadcastBound is that of a single root, AllToAllBound that of all-to-all.
//   - Pack finds spanning out-trees for every root whose hops are transfers between
//     ranks, over the routes that the runtime takes. Packing.Verify proves that they fit.
//
// Bounds, rates and proofs are exact: integers and fractions. Read backwards, the trees
// are those of a reduce-scatter; a link must then carry as much the other way.
package pack
