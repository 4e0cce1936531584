// Package planner turns a topology, a collective and a size into a schedule.
//
// # How a plan is chosen
//
// Each algorithm is a file: it builds a schedule for the topology or says why it does
// not apply (NotApplicable). Candidates builds all that apply, each at a few pipeline
// depths, about twenty for a box of eight GPUs. For every size, Plan
//
//  1. asks for a Bound of each candidate, which its time cannot beat: microseconds, from
//     the structure of the schedule (see Bounds);
//  2. takes the candidate that could be the fastest and looks closer: first at the
//     Scorer's Estimate, which has to compile it, then at its Time (as a rule, the
//     simulator's); until none could be faster than the best. Neither bound nor estimate
//     exceeds the time;
//  3. looks no closer where that is not worth it: a simulation of many operations has to
//     promise a quarter of a percent for each million of them (see contest). What is left out, and how
//     much faster it could be at most, PlanOptions.Why
//     tells. What is cheap comes first, so that there is an answer at once, and nothing dear is played
//     once the Budget is spent, which counts operations;
//  4. takes the fastest; of equal ones the name that comes first in the alphabet;
//  5. adds the runner-up of another algorithm or protocol, the best that cheap simulations
//     tell, the bound that no schedule can beat (collective.LowerBound), and, with
//     PlanOptions.Why, what limits each.
//
// Crossovers then looks between neighbouring sizes for where the best one changes.
//
// # Which algorithm is good for what
//
//   - One switch, small sizes: direct, two_shot, doubling, bruck: few steps.
//   - One switch, large sizes: ring, two_shot, halving_doubling: all reach the rate of
//     the links; ring with the fewest connections, two_shot with the fewest steps.
//   - Direct links (cube mesh, full mesh, torus): ring, on link-disjoint Hamiltonian
//     rings, for large sizes; breadth_first for small ones and where there is no ring.
//   - Several nodes: hierarchical_*, which take each byte across a tier once and use
//     all NICs; alternating_ring where nodes are cube meshes behind few NICs or for
//     broadcast and reduce.
//
// A score is passed in because this package must not import the simulator.
package planner
