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

// Of is a way beside NCCL's own choice; false where neither measurements nor fitted kernels know both. Predictions that are not
// fitted at such sizes prove no way faster, but one that is slower whatever both bands leave open is known to be.
func (j *Judge) Of(c Case, w Setting) (Verdict, bool) {
	ways := j.Rows[c]
	if len(ways[Own]) > 0 && len(ways[w]) > 0 {
		return verdict(w, ways[w], ways[Own], true), true
	}
	time, fitted := j.predicted(c, w)
	own, ownFitted := j.predicted(c, Own)
	if time == nil || own == nil {
		return Verdict{Setting: w}, false
	}
	v := verdict(w, time, own, false)
	if fitted && ownFitted {
		return v, true
	}
	v.Faster = false
	return v, v.Slower
}

// predicted is what a way takes, and whether a kernel was fitted at such sizes: then repeats alone differ, else the band's ends stand
// beside the time. Nil where nothing is known.
func (j *Judge) predicted(c Case, w Setting) (times Times, fitted bool) {
	p, err := j.Runtime.Predict(nccl.Ask{Kind: c.Kind, Algorithm: w.Algorithm, Protocol: w.Protocol, Size: c.Size, Graph: j.Graph})
	if err != nil {
		return nil, false
	}
	beyond := func(warning string) bool { return strings.HasPrefix(warning, "extrapolated") }
	if p.Fitted && !slices.ContainsFunc(p.Warnings, beyond) {
		return Times{p.Time}, true
	}
	low, high := p.Band()
	return Times{low, p.Time, high}, false
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
