// Package hang says who hangs, in which collective, and who never came: from what all ranks' flight recorders hold, or from rolls of
// how far each rank of each communicator has come.
//
// Ranks of a group run its collectives in one order, counted by the group's sequence numbers. The first number that a rank has issued
// and not finished is where the group stands: who has issued it waits, who has not is missing, who has issued something else under that
// number is at odds with the rest. A missing rank that waits in another group is no cause but a consequence, so that groups are followed
// to those that wait for nobody else; where there are none, they wait for one another.
package hang

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"railyard/model/health"
	"railyard/model/observed"
)

// stall is where a group of ranks stands: an operation that some have issued and not all have finished.
type stall struct {
	group      *observed.Group
	seq        int64
	name       string // of the operation, as most issued it
	waiting    []int  // who has issued it and not finished
	idle       []int  // of the waiting: whose kernel does not run yet
	missing    []int  // who has not come
	silent     []int  // of whom there is no dump
	mismatched []variant
	issued     int64 // when the first who waits issued it, ns since 1970
	timeout    bool  // somebody has given it up
	caller     string
}

// variant is what some ranks issued under one sequence number.
type variant struct {
	name, signature string
	ops             []*observed.Op // as the first of the ranks issued them
	ranks           []int
}

func (v *variant) is(ops []*observed.Op) bool {
	return slices.EqualFunc(v.ops, ops, func(a, b *observed.Op) bool { return a.Name == b.Name && a.Signature == b.Signature })
}

func (v *variant) what() string {
	if v.signature == "" {
		return v.name
	}
	return v.name + " of " + v.signature
}

// OfRecordings judges what all ranks' recorders hold. Recordings of ranks that the job does not have by its groups count as well.
func OfRecordings(list []*observed.Recording) []health.Finding {
	byRank := map[int]*observed.Recording{}
	for _, r := range list {
		byRank[r.Rank] = r
	}
	j := &job{recordings: byRank, newest: newest(list)}
	groups := j.gather()
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		g := groups[key]
		if s := j.stalled(g); s != nil {
			j.stalls = append(j.stalls, s)
		}
		j.stalls = append(j.stalls, j.atOdds(g)...)
	}
	j.messages()
	return j.findings()
}

// job is what is known of all ranks.
type job struct {
	recordings map[int]*observed.Recording
	newest     int64 // the latest time in all recordings, ns since 1970
	stalls     []*stall
}

func newest(list []*observed.Recording) (t int64) {
	for _, r := range list {
		for i := range r.Ops {
			o := &r.Ops[i]
			t = max(t, o.Created, o.Begun, o.Ended)
		}
	}
	return t
}

// track is what one rank noted of a group's collectives: by sequence number, each with all operations that were issued under it.
type track struct {
	rank  int
	steps []step // ascending
	ops   []*observed.Op
}

type step struct {
	seq int64
	ops []*observed.Op
}

// state is that of the operation that has come least far.
func (s *step) state() observed.State {
	return slices.MinFunc(s.ops, func(a, b *observed.Op) int { return cmp.Compare(a.State, b.State) }).State
}

// at is the step of a number; nil where the rank has none.
func (t *track) at(seq int64) *step {
	i, ok := slices.BinarySearchFunc(t.steps, seq, func(s step, seq int64) int { return cmp.Compare(s.seq, seq) })
	if !ok {
		return nil
	}
	return &t.steps[i]
}

// group is a process group with what its members noted.
type group struct {
	observed.Group
	tracks map[int]*track
}

// gather sorts what all ranks noted by group.
func (j *job) gather() map[string]*group {
	groups := map[string]*group{}
	for _, rank := range slices.Sorted(maps.Keys(j.recordings)) {
		r := j.recordings[rank]
		own := make([]*track, len(r.Groups))
		for i := range r.Groups {
			key := r.Groups[i].Key()
			g := groups[key]
			if g == nil {
				g = &group{Group: r.Groups[i], tracks: map[int]*track{}}
				groups[key] = g
			}
			own[i] = &track{rank: rank}
			g.tracks[rank] = own[i]
		}
		for i := range r.Ops {
			if o := &r.Ops[i]; !o.Message() {
				own[o.Group].add(o)
			}
		}
	}
	for _, g := range groups {
		for _, t := range g.tracks {
			slices.SortStableFunc(t.steps, func(a, b step) int { return cmp.Compare(a.seq, b.seq) })
		}
	}
	return groups
}

func (t *track) add(o *observed.Op) {
	if n := len(t.steps); n > 0 && t.steps[n-1].seq == o.Seq {
		t.steps[n-1].ops = append(t.steps[n-1].ops, o)
		return
	}
	t.ops = append(t.ops, o)
	t.steps = append(t.steps, step{o.Seq, t.ops[len(t.ops)-1 : len(t.ops) : len(t.ops)]})
}

// members are the group's ranks; of a group whose ranks were not noted, those that noted anything of it.
func (g *group) members() []int {
	if g.Ranks != nil {
		return g.Ranks
	}
	return slices.Sorted(maps.Keys(g.tracks))
}

// stalled is where a group stands; nil where all that was issued has ended.
func (j *job) stalled(g *group) *stall {
	first, found := int64(0), false
	for _, t := range g.tracks {
		for i := range t.steps {
			if t.steps[i].state() != observed.Completed {
				if !found || t.steps[i].seq < first {
					first, found = t.steps[i].seq, true
				}
				break
			}
		}
	}
	if !found {
		return nil
	}
	s := &stall{group: &g.Group, seq: first}
	var all variants
	for _, rank := range g.members() {
		j.place(s, g.tracks[rank], rank, &all)
	}
	s.settle(all)
	return s
}

// place says where a rank is in a group that stands.
func (j *job) place(s *stall, t *track, rank int, all *variants) {
	if j.recordings[rank] == nil {
		s.silent = append(s.silent, rank)
		return
	}
	if t == nil || len(t.steps) == 0 || t.steps[len(t.steps)-1].seq < s.seq {
		s.missing = append(s.missing, rank)
		return
	}
	at := t.at(s.seq)
	if at == nil {
		return // it has gone on for so long that its recorder has dropped it
	}
	all.note(at, rank)
	if at.state() == observed.Completed {
		return
	}
	s.waiting = append(s.waiting, rank)
	if at.state() == observed.Scheduled {
		s.idle = append(s.idle, rank)
	}
	for _, o := range at.ops {
		s.timeout = s.timeout || o.TimedOut
		if s.issued == 0 || o.Created < s.issued {
			s.issued = o.Created
		}
		s.caller = cmp.Or(s.caller, o.Caller)
	}
}

// variants are all that ranks issued under one number.
type variants []*variant

// note counts a rank to those that issued the same.
func (v *variants) note(at *step, rank int) {
	for _, known := range *v {
		if known.is(at.ops) {
			known.ranks = append(known.ranks, rank)
			return
		}
	}
	var names, signatures []string
	for _, o := range at.ops {
		names, signatures = append(names, o.Name), append(signatures, o.Signature)
	}
	*v = append(*v, &variant{strings.Join(names, "+"), strings.Join(signatures, "+"), at.ops, []int{rank}})
}

// settle takes what most issued as the operation, and the others as at odds with it.
func (s *stall) settle(all variants) {
	slices.SortFunc(all, func(a, b *variant) int {
		return cmp.Or(-cmp.Compare(len(a.ranks), len(b.ranks)), cmp.Compare(a.ranks[0], b.ranks[0]))
	})
	if len(all) == 0 {
		return
	}
	s.name = all[0].name
	for _, v := range all {
		if len(all) > 1 {
			s.mismatched = append(s.mismatched, *v)
		}
	}
}

// atOdds are numbers under which ranks issued different operations that have ended all the same: data may be wrong.
func (j *job) atOdds(g *group) (out []*stall) {
	bySeq := map[int64]*variants{}
	for _, rank := range slices.Sorted(maps.Keys(g.tracks)) {
		t := g.tracks[rank]
		for i := range t.steps {
			if t.steps[i].state() != observed.Completed {
				continue
			}
			v := bySeq[t.steps[i].seq]
			if v == nil {
				v = &variants{}
				bySeq[t.steps[i].seq] = v
			}
			v.note(&t.steps[i], rank)
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(bySeq)) {
		if len(*bySeq[seq]) > 1 {
			s := &stall{group: &g.Group, seq: seq}
			s.settle(*bySeq[seq])
			return []*stall{s} // what comes after it is a consequence
		}
	}
	return nil
}
