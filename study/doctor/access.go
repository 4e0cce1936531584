package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"railyard/model/cost"
	"railyard/model/health"
	"railyard/model/measurement"
	"railyard/model/units"
)

// probed is where facts of measured rows come from.
const probed = "railyard probe"

// accesses adds how a GPU's accesses to memory do beside those that were measured of its type: the worst of them. Rows are as `railyard
// probe` measures them, GB/s that are copied; several of one kind and size count by their median. Of each kind the most bytes count: in
// less time, launches decide, by which healthy machines differ.
func accesses(s *health.State, rows []measurement.Link, usual *cost.Access) {
	type key struct{ gpu, kind string }
	rates, most := map[key][]float64{}, map[key]units.Bytes{}
	for _, r := range rows {
		k := key{r.Src, r.Kind}
		if _, ok := measurement.Accessed(r.Kind); !ok || r.Bytes < most[k] {
			continue
		}
		if r.Bytes > most[k] {
			rates[k], most[k] = nil, r.Bytes
		}
		rates[k] = append(rates[k], r.Value)
	}
	for _, k := range slices.SortedFunc(maps.Keys(rates), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.gpu, b.gpu), cmp.Compare(a.kind, b.kind))
	}) {
		how, _ := measurement.Accessed(k.kind)
		gpu, err := strconv.Atoi(k.gpu)
		should, ok := usual.Time(how, most[k])
		if err != nil || gpu < 0 || !ok || should <= 0 {
			continue
		}
		p, share := s.GPU(gpu), measurement.Median(rates[k])/most[k].Per(should).GBps()
		if worst, known := p.Fact("access_share"); known && worst.Is.(float64) <= share {
			continue
		}
		s.Set(p, "access_share", share, probed)
		s.Set(p, "access", fmt.Sprintf("%s in pieces of %v", how.Words(), how.Piece), probed)
	}
}
