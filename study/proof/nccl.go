package proof

import (
	"slices"
	"strings"

	"railyard/sim/nccl"
)

// Judge holds NCCL's ways against its own choice.
type Judge struct {
	Rows    Rows // may be nil
	Model   *nccl.Model
	Runtime *nccl.Runtime
	Graph   bool // how the user launches
}

// Of is a way beside NCCL's own choice; false where neither measurements nor fitted kernels know both.
func (j *Judge) Of(c Case, w Setting) (Verdict, bool) {
	ways := j.Rows[c]
	if len(ways[Own]) > 0 && len(ways[w]) > 0 {
		return verdict(w, ways[w], ways[Own], true), true
	}
	time, own := j.predicted(c, w), j.predicted(c, Own)
	if time == nil || own == nil {
		return Verdict{Setting: w}, false
	}
	return verdict(w, time, own, false), true
}

// predicted is what a way takes by a kernel that was fitted at such sizes; nil where none was.
func (j *Judge) predicted(c Case, w Setting) Times {
	p, err := j.Runtime.Predict(nccl.Ask{Kind: c.Kind, Algorithm: w.Algorithm, Protocol: w.Protocol, Size: c.Size, Graph: j.Graph})
	beyond := func(warning string) bool { return strings.HasPrefix(warning, "extrapolated") }
	if err != nil || !p.Fitted || slices.ContainsFunc(p.Warnings, beyond) {
		return nil
	}
	return Times{p.Time}
}

// Candidates are the ways in which NCCL could run a case, its own first, and how many channels each takes there.
func (j *Judge) Candidates(c Case) (ways []Setting, channels map[Setting]int, err error) {
	list, err := j.Model.Candidates(c.Kind, c.Size)
	channels = map[Setting]int{}
	for _, e := range list {
		w := Setting{named(e.Algo.String()), named(e.Proto.String())}
		ways, channels[w] = append(ways, w), e.Channels
	}
	return ways, channels, err
}

// Best is the fastest way that is faster than NCCL's own choice, by measurements if its own choice was measured; false where none is.
func (j *Judge) Best(c Case, ways []Setting) (best Verdict, found bool) {
	for _, w := range ways {
		v, ok := j.Of(c, w)
		if ok && v.Faster && v.Measured == (len(j.Rows[c][Own]) > 0) && (!found || v.Time < best.Time) {
			best, found = v, true
		}
	}
	return best, found
}

// AsOwn is the way that takes as long as NCCL's own choice, for tables that cannot leave a call to NCCL: what NCCL's model chooses,
// unless it was measured to be slower; then the fastest that is not. False where all are.
func (j *Judge) AsOwn(c Case, ways []Setting) (best Verdict, found bool) {
	best, known := j.Of(c, ways[0])
	if !known || !best.Measured || !best.Slower {
		return best, true
	}
	for _, w := range ways {
		v, ok := j.Of(c, w)
		if ok && v.Measured && !v.Slower && (!found || v.Time < best.Time) {
			best, found = v, true
		}
	}
	return best, found
}
