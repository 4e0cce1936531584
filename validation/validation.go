// Package validation holds the measurements that predictions are judged by, and says on
// which topology each of them was made. README.md tells where they come from.
package validation

import "embed"

// Files are the measurements (published.csv, h200-nccl.csv; of computation gpu-*.csv, of
// training steps.csv) and systems.csv, which maps
// series of them, by the longest prefix of their names, to topologies and profiles.
//
//go:embed *.csv workloads/*.yaml
var Files embed.FS
