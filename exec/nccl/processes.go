package nccl

import "context"

// Processes are those of a run, each with as many ranks, of which this is one.
type Processes struct {
	Own, Size int
	// Exchange hands the messages of all processes, in order, to all.
	Exchange func(ctx context.Context, message []byte) ([][]byte, error)
	Barrier  func(ctx context.Context) error // waits until all have called it
}

// nodes are the ranks of each process.
func (p Processes) nodes(each int) [][]int {
	out := make([][]int, p.Size)
	for r := range p.Size * each {
		out[r/each] = append(out[r/each], r)
	}
	return out
}

// meshStreams is how many sets of connections there are: while one of a rank's streams adds up what has come, another
// one's messages are on their way.
const meshStreams = 2
