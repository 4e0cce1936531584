package planner

import "railyard/model/schedule"

// buildAlignedFlows is flows on the shortest paths, in one slice, of which all cross the fullest links on their way in one phase:
// what others pass on to these beside what begins there. Of phases that follow one another, the links that limit all are then busy
// in one alone, which has them to itself; in a pipeline, phases overlap anyway.
func buildAlignedFlows(r *request) (*schedule.Schedule, error) {
	g, err := r.flowGraph()
	if err != nil {
		return nil, err
	}
	f := r.shortOver(g)
	if f == nil {
		f = r.fewOver(g)
	}
	messages := f.messages(r.spec.Ranks)
	if len(messages) == 0 || !startLate(messages, f.hopsToFullest(r.spec.Ranks, messages)) {
		return nil, notApplicable("all paths come to their fullest links after as many hops")
	}
	return f.sent(r, messages), nil
}

// hopsToFullest is, by message, after how many hops from rank to rank comes that over the fullest of its links.
func (f *flow) hopsToFullest(ranks int, messages []pathMessage) []int {
	loads := f.copied()
	loads.fullest()
	out := make([]int, len(messages))
	for i, m := range messages {
		path := f.paths[(int(m.src)*len(f.g)+int(m.dst))*f.units+int(m.unit)]
		hops, most := -1, 0.0
		for h, v := range path[:len(path)-1] {
			if int(v) < ranks {
				hops++
			}
			if x := loads.load[v][path[h+1]]; x > most {
				out[i], most = hops, x
			}
		}
	}
	return out
}
