package hang

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"railyard/model/health"
	"railyard/model/observed"
)

// rollSource says what RAS is.
const rollSource = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting/ras.html"

// OfRolls judges rolls of a job in the order in which they were taken. One roll alone cannot tell a rank that hangs from one that is
// late by a moment: that takes two which agree.
func OfRolls(rolls []*observed.Roll) (out []health.Finding) {
	if len(rolls) == 0 {
		return nil
	}
	last := rolls[len(rolls)-1]
	for i := range last.Comms {
		c := &last.Comms[i]
		out = append(out, absences(c)...)
		out = append(out, failures(c)...)
		if f, ok := crossed(c); ok {
			out = append(out, f)
			continue
		}
		out = append(out, behind(c, last, rolls[:len(rolls)-1])...)
	}
	return out
}

func absences(c *observed.Progress) (out []health.Finding) {
	for _, dead := range []bool{true, false} {
		var who []string
		for _, m := range c.Missing {
			if m.Dead == dead {
				who = append(who, m.String())
			}
		}
		if len(who) == 0 {
			continue
		}
		f := health.Finding{Rule: "hang/silent", Part: part(c), Level: health.Broken, Source: rollSource, From: []string{c.Place.String()},
			Says: "gets no answer from " + brief(who),
			Why:  "the process does not answer though it can be reached: it is stuck, or has ended the communicator",
			Do:   "see what that process does: py-spy dump --pid, and its log"}
		if dead {
			f.Rule, f.Says = "hang/dead", "has lost "+brief(who)
			f.Why, f.Do = "its process or node is gone: all collectives of the communicator wait for it",
				"look at that node and the process's log; start again without it"
		}
		out = append(out, f)
	}
	return out
}

func failures(c *observed.Progress) (out []health.Finding) {
	for _, e := range c.Errors {
		says := fmt.Sprintf("has errors on %d of %d ranks: %s", e.Ranks, c.Ranks, e.Text)
		if len(e.Members) > 0 {
			says += " (" + brief(texts(e.Members)) + ")"
		}
		out = append(out, health.Finding{Rule: "hang/error", Part: part(c), Level: health.Broken, Says: says, Source: rollSource,
			Why: "NCCL ends a communicator on the first such error: nothing runs on it any more",
			Do:  "read NCCL's warnings of these ranks: NCCL_DEBUG=WARN", From: []string{c.Place.String()}})
	}
	return out
}

// crossed finds a rank that is ahead of most in one kind of operation and behind in another. Ranks of a communicator launch the same
// operations in one order, so that one may be late, but then in all that it has not launched: this is proof, even of one roll.
func crossed(c *observed.Progress) (health.Finding, bool) {
	most := map[string]*observed.Count{} // what most ranks have launched, by kind
	for i := range c.Counts {
		if n := &c.Counts[i]; most[n.Op] == nil || n.Ranks > most[n.Op].Ranks {
			most[n.Op] = n
		}
	}
	ahead, behind := map[observed.Member]string{}, map[observed.Member]string{}
	for i := range c.Counts {
		n := &c.Counts[i]
		for _, m := range n.Members {
			switch {
			case n.Upto > most[n.Op].Upto:
				ahead[m] = cmp.Or(ahead[m], n.Op)
			case n.Upto < most[n.Op].Upto:
				behind[m] = cmp.Or(behind[m], n.Op)
			}
		}
	}
	byRank := func(a, b observed.Member) int { return cmp.Compare(a.Rank, b.Rank) }
	for _, m := range slices.SortedFunc(maps.Keys(ahead), byRank) {
		if behind[m] == "" {
			continue
		}
		return health.Finding{Rule: "hang/at-odds", Part: part(c), Level: health.Broken, Source: rollSource,
			From: []string{c.Place.String()},
			Says: fmt.Sprintf("ran different collectives: %v launched %s where most launched %s", m, ahead[m], behind[m]),
			Why:  "all ranks of a group must issue the same collectives in the same order, or they hang or mix up data",
			Do:   "see what that process does differently: py-spy dump --pid, or PyTorch's flight recorder"}, true
	}
	return health.Finding{}, false
}

// behind are ranks that have launched fewer operations of a kind than others of their communicator.
func behind(c *observed.Progress, now *observed.Roll, before []*observed.Roll) (out []health.Finding) {
	most := map[string]*observed.Count{}
	for i := range c.Counts {
		if n := &c.Counts[i]; most[n.Op] == nil || n.Upto > most[n.Op].Upto {
			most[n.Op] = n
		}
	}
	for i := range c.Counts {
		n := &c.Counts[i]
		front := most[n.Op]
		if n.Upto == front.Upto {
			continue
		}
		who := fmt.Sprintf("%d ranks", n.Ranks)
		if len(n.Members) == n.Ranks {
			who = brief(texts(n.Members))
		}
		f := health.Finding{Rule: "hang/behind", Part: part(c), Level: health.Notice, Source: rollSource, From: []string{c.Place.String()},
			Says: fmt.Sprintf("differs in %s: %s launched %d, %d ranks launched %d", n.Op, who, n.Upto, front.Ranks, front.Upto),
			Why:  "in one answer from a running job, ranks may differ by a moment",
			Do:   "ask again some seconds later and give both answers: ncclras -v -f json; or railyard doctor --how ras=HOST asks twice"}
		for _, earlier := range before {
			if another(earlier, now) && sameStall(c, n, earlier) {
				f.Level, f.Rule = health.Broken, "hang/never-came"
				f.Says = fmt.Sprintf("hangs in %s %d: %s never joined; %d ranks wait for it", n.Op, n.Upto+1, who, front.Ranks)
				f.Why = "the answers agree: the rank that is behind launched nothing between them"
				f.Do = "see what that process does: py-spy dump --pid, and its log"
				f.From = append(f.From, earlier.File)
				break
			}
		}
		out = append(out, f)
	}
	return out
}

// another reports whether two rolls were taken at different times. The text says no time: two texts are taken to be two rolls, a text and
// JSON may be one.
func another(a, b *observed.Roll) bool {
	if a.Time == "" || b.Time == "" {
		return a.Time == b.Time
	}
	return a.Time != b.Time
}

// sameStall reports whether an earlier roll has the same ranks at the same operation.
func sameStall(c *observed.Progress, n *observed.Count, earlier *observed.Roll) bool {
	return slices.ContainsFunc(earlier.Comms, func(e observed.Progress) bool {
		return e.Comm == c.Comm && slices.ContainsFunc(e.Counts, func(m observed.Count) bool {
			return m.Op == n.Op && m.Upto == n.Upto && m.Ranks == n.Ranks && slices.Equal(m.Members, n.Members)
		})
	})
}

func part(c *observed.Progress) string {
	return fmt.Sprintf("communicator %s of %d ranks", c.Comm, c.Ranks)
}

func texts(members []observed.Member) (out []string) {
	for _, m := range members {
		out = append(out, m.String())
	}
	return out
}

// brief names the first few.
func brief(list []string) string {
	const most = 4
	if len(list) <= most {
		return strings.Join(list, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(list[:most], "; "), len(list)-most)
}
