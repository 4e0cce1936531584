package hang

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"railyard/model/health"
	"railyard/model/observed"
	"railyard/model/units"
)

// OfTimeouts is what collectives that ranks gave up say where their groups are not known: that the job hung, and in what, but not who
// waits for whom. A member of a group is told from others by its rank there, where the rank of the job is not said.
func OfTimeouts(list []observed.Timeout) []health.Finding {
	type rank struct{ job, member int }
	first, ranks := map[rank]observed.Timeout{}, []rank(nil)
	for _, t := range list {
		r := rank{t.Rank, -1}
		if t.Rank < 0 {
			r.member = t.Member
		}
		if _, known := first[r]; !known {
			first[r] = t
			ranks = append(ranks, r)
		}
	}
	if len(ranks) == 0 {
		return nil
	}
	slices.SortFunc(ranks, func(a, b rank) int { return cmp.Or(cmp.Compare(a.job, b.job), cmp.Compare(a.member, b.member)) })
	var who []string
	for _, r := range ranks {
		t := first[r]
		name := fmt.Sprintf("rank %d", r.job)
		switch {
		case r.job < 0 && r.member < 0:
			name = "a rank"
		case r.job < 0:
			name = fmt.Sprintf("rank %d of a group", r.member)
		}
		who = append(who, fmt.Sprintf("%s %s %d after %v", name, t.Op, t.Seq, t.After.Round(time.Second)))
	}
	return []health.Finding{{Rule: "hang/timeout", Part: units.Counted(len(ranks), "rank"), Level: health.Broken, Source: source,
		From: []string{list[0].Place.String()}, Says: "gave up collectives: " + brief(who),
		Why: "the log does not say of which groups these are, so that it is not known who waits for whom",
		Do: "start the job with TORCH_FR_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1, and give the dumps of all ranks; PyTorch 2.3 and " +
			"later name the groups in the log"}}
}
