// Package study is where a question becomes an answer, the same one whoever asks.
//
// A Question says everything that the answer depends on: the topology with its changes, the
// collective, the sizes, by whose costs railyard's plan and the library are predicted, and what
// narrows the choice of schedules. Nothing is filled in later and nothing defaults to less: New
// refuses what is missing. An Answer has a row for each size, with
//
//   - railyard's plan, its predicted time and what limits it,
//   - what the communication library takes for the same, where it runs there,
//   - the least time that any schedule takes,
//   - where parts have failed: the plan of the whole machine, kept and planned again.
//
// Commands, reports, notebooks and the packages of capacity are views of answers: they choose
// columns and words and compute nothing.
package study
