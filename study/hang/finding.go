package hang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"railyard/model/health"
	"railyard/model/observed"
	"railyard/model/units"
)

// source says what the recorder notes, and how it is switched on.
const source = "https://docs.pytorch.org/tutorials/unstable/flight_recorder_tutorial.html"

// findings are the causes; what only waits for them is counted.
func (j *job) findings() (out []health.Finding) {
	waits := map[int]bool{} // ranks that wait anywhere
	for _, s := range j.stalls {
		for _, r := range s.waiting {
			waits[r] = true
		}
	}
	var causes, others []*stall
	for _, s := range j.stalls {
		if s.isCause(waits) {
			causes = append(causes, s)
		} else {
			others = append(others, s)
		}
	}
	if len(causes) == 0 && len(others) > 0 {
		return []health.Finding{j.circle(others)}
	}
	for _, s := range causes {
		out = append(out, j.finding(s, len(others)))
	}
	return slices.DeleteFunc(out, func(f health.Finding) bool { return f.Says == "" })
}

// isCause reports whether a stand is more than the consequence of others: nobody is missing who waits elsewhere.
func (s *stall) isCause(waits map[int]bool) bool {
	if len(s.mismatched) > 0 || len(s.silent) > 0 || len(s.missing) == 0 {
		return true
	}
	return slices.ContainsFunc(s.missing, func(r int) bool { return !waits[r] })
}

// finding says what is wrong; with an empty Says where nothing is: operations that all ranks have issued and nobody has given up run.
func (j *job) finding(s *stall, consequences int) health.Finding {
	f := health.Finding{Part: s.part(), Level: health.Broken, Source: source, From: j.files(s)}
	switch {
	case len(s.mismatched) > 0:
		j.atOddsFinding(s, &f)
	case len(s.missing) > 0:
		j.missingFinding(s, &f)
	case len(s.silent) > 0:
		f.Rule = "hang/no-dump"
		f.Says = fmt.Sprintf("hangs in %s: nothing was heard of %s", s.what(), ranks(s.silent))
		f.Why = "all ranks that left a dump, or words in a log, wait in it for those that left none, whose processes have probably ended"
		f.Do = fmt.Sprintf("look for the end of %s in its log, and for its dump; give those of all ranks together", ranks(s.silent))
	case s.timeout:
		f.Rule = "hang/all-came"
		f.Says = fmt.Sprintf("timed out in %s though all %d ranks had joined", s.what(), len(s.waiting))
		f.Why = "all issued the same: a link, an adapter or a GPU makes no progress"
		f.Do = "look for errors of links and adapters: railyard doctor on each node"
		if n := len(s.idle); n > 0 && n < len(s.waiting) {
			f.Says += fmt.Sprintf("; the kernel of %s has not begun", ranks(s.idle))
			f.Do = fmt.Sprintf("see what the GPU of %s runs before it", ranks(s.idle))
		}
	}
	if consequences > 0 && f.Says != "" {
		f.Says += fmt.Sprintf("; %s for it", waitFor(consequences))
	}
	return f
}

func waitFor(groups int) string {
	if groups == 1 {
		return "1 other group waits"
	}
	return fmt.Sprintf("%d other groups wait", groups)
}

func (j *job) missingFinding(s *stall, f *health.Finding) {
	f.Rule = "hang/never-came"
	f.Says = fmt.Sprintf("hangs in %s: %s never joined; %s waited %s", s.what(), ranks(s.missing), have(s.waiting), j.since(s.issued))
	f.Why = j.whereabouts(s)
	f.Do = fmt.Sprintf("see what %s does: py-spy dump --pid of that process, and its log", ranks(s.missing[:1]))
	if s.caller != "" {
		f.Do += "; the others wait at " + s.caller
	}
}

func (j *job) atOddsFinding(s *stall, f *health.Finding) {
	f.Rule = "hang/at-odds"
	var parts []string
	for _, v := range s.mismatched[:min(len(s.mismatched), 4)] {
		parts = append(parts, fmt.Sprintf("%s: %s", ranks(v.ranks), v.what()))
	}
	if more := len(s.mismatched) - 4; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	f.Says = fmt.Sprintf("ran different collectives under number %d: %s", s.seq, strings.Join(parts, "; "))
	f.Why = "all ranks of a group must issue the same collectives in the same order, or they hang or mix up data"
	f.Do = fmt.Sprintf("see what %s does differently", ranks(s.mismatched[len(s.mismatched)-1].ranks))
	if c := j.callerOf(s, s.mismatched[len(s.mismatched)-1].ranks[0]); c != "" {
		f.Do += " at " + c
	}
}

// callerOf is the line of the program at which a rank issued what a stand is about.
func (j *job) callerOf(s *stall, rank int) string {
	r := j.recordings[rank]
	i := slices.IndexFunc(r.Ops, func(o observed.Op) bool {
		return o.Seq == s.seq && !o.Message() && r.Groups[o.Group].Name == s.group.Name
	})
	if i < 0 {
		return ""
	}
	return r.Ops[i].Caller
}

// whereabouts say what the first who is missing did last.
func (j *job) whereabouts(s *stall) string {
	r := j.recordings[s.missing[0]]
	if len(r.Ops) == 0 {
		return fmt.Sprintf("rank %d has noted no operation at all", r.Rank)
	}
	o := slices.MaxFunc(r.Ops, func(a, b observed.Op) int { return cmp.Compare(a.Created, b.Created) })
	text := fmt.Sprintf("what rank %d issued last is %s %d of %s, %s before the newest note", r.Rank, o.Name, o.Seq,
		name(&r.Groups[o.Group]), j.since(o.Created))
	if o.State != observed.Completed {
		text += ", and waits in it"
	}
	if o.Caller != "" {
		text += ", at " + o.Caller
	}
	return text
}

// circle is the finding of groups that wait for one another.
func (j *job) circle(stands []*stall) health.Finding {
	f := health.Finding{Rule: "hang/circle", Part: stands[0].part(), Level: health.Broken, Source: source, From: j.files(stands[0]),
		Why: "ranks issue collectives of several groups in different orders: each waits for others that wait for it",
		Do:  "issue the groups' collectives in one order on all ranks"}
	var parts []string
	for _, s := range stands[:min(len(stands), 3)] {
		parts = append(parts, fmt.Sprintf("%s waits in %s of %s for %s", ranks(s.waiting), s.what(), name(s.group), ranks(s.missing)))
	}
	f.Says = fmt.Sprintf("is one of %d that wait for one another: %s", len(stands), strings.Join(parts, "; "))
	return f
}

func (s *stall) what() string { return fmt.Sprintf("%s %d", s.name, s.seq) }

func (s *stall) part() string {
	if len(s.group.Ranks) == 0 {
		return "group " + name(s.group)
	}
	return fmt.Sprintf("group %s, ranks %s", name(s.group), units.Ranges(s.group.Ranks, ","))
}

// name is what the program calls a group, where it says so.
func name(g *observed.Group) string {
	if g.About != "" && g.About != "undefined" {
		return g.About
	}
	return g.Name
}

func ranks(list []int) string {
	if len(list) == 1 {
		return fmt.Sprintf("rank %d", list[0])
	}
	return "ranks " + units.Ranges(list, ",")
}

func have(waiting []int) string {
	if len(waiting) == 1 {
		return ranks(waiting) + " has"
	}
	return fmt.Sprintf("%d ranks have", len(waiting))
}

// since is how long before the newest note something was, as seconds.
func (j *job) since(ns int64) string {
	return time.Duration(j.newest - ns).Round(time.Millisecond).String()
}

// files are where it is said: dumps of who waits, and of who is missing, the first of each.
func (j *job) files(s *stall) (out []string) {
	for _, list := range [][]int{s.waiting, s.missing} {
		if len(list) > 0 && j.recordings[list[0]] != nil {
			out = append(out, j.recordings[list[0]].File)
		}
	}
	return out
}
