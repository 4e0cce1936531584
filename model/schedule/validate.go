package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"railyard/model/collective"
)

// Bounds of a schedule, checked before anything is expanded.
const (
	maxChannels = 4096
	MaxPhases   = 1024
	maxSlices   = 1 << 20
	maxChunks   = 1 << 24
	maxScratch  = 1 << 30 // places, in copies of as many chunks as there are
	maxRanks    = 1 << 20
)

// Validate checks the form: that every number is in range and every generator exists.
// Whether the schedule computes its collective is Check's business.
func (s *Schedule) Validate() error { return s.ValidateAfter(nil) }

// ValidateAfter is Validate, given that another schedule, if there is one, is valid: what the two share in memory is not looked at again.
func (s *Schedule) ValidateAfter(valid *Schedule) error {
	if s == valid {
		return nil
	}
	if err := s.Spec.Validate(); err != nil {
		return fmt.Errorf("schedule: %w", err)
	}
	switch {
	case s.Spec.Ranks > maxRanks:
		return fmt.Errorf("schedule: %d ranks: at most %d", s.Spec.Ranks, maxRanks)
	case !slices.Contains([]Protocol{Simple, LL, LL128, Words, Pulled, CopyEngine, Proxied, Staged}, s.Protocol):
		return fmt.Errorf("schedule: unknown protocol %q: must be simple, ll, ll128, words, pull, copy, proxy or stages", s.Protocol)
	case len(s.Channels) < 1 || len(s.Channels) > maxChannels:
		return fmt.Errorf("schedule: %d channels: must be from 1 to %d", len(s.Channels), maxChannels)
	}
	var before *Channel
	if valid != nil && valid.Spec.Kind == s.Spec.Kind && valid.Spec.Ranks == s.Spec.Ranks && valid.Spec.Root == s.Spec.Root {
		before = &valid.Channels[len(valid.Channels)-1]
	}
	for c := range s.Channels {
		ch := &s.Channels[c]
		if err := s.validateChannel(ch, before); err != nil {
			return fmt.Errorf("schedule: channel %d: %w", c, err)
		}
		before = ch
	}
	if err := s.validatePaths(); err != nil {
		return fmt.Errorf("schedule: %w", err)
	}
	if used := s.Uses(); !slices.Equal(s.Needs, used) {
		return fmt.Errorf("schedule: it says that it needs %v of switches, but its phases use %v", s.Needs, used)
	}
	return nil
}

// SharesPrograms reports whether a channel has the very phases of another, in memory, so that they are right if those are.
func (ch *Channel) SharesPrograms(o *Channel) bool {
	return len(ch.Phases) > 0 && len(ch.Phases) == len(o.Phases) && &ch.Phases[0] == &o.Phases[0] && ch.Kinds == o.Kinds &&
		ch.Trees == o.Trees && ch.Chunks == o.Chunks
}

func (s *Schedule) validateChannel(ch, before *Channel) error {
	blocks := s.Spec.Blocks()
	switch {
	case ch.Share < 1 || ch.Share > 1<<30:
		return fmt.Errorf("share %d: must be from 1 to 2^30", ch.Share)
	case ch.Slices < 1 || ch.Slices > maxSlices:
		return fmt.Errorf("%d slices: must be from 1 to %d", ch.Slices, maxSlices)
	case ch.Chunks < 1 || ch.Chunks > maxChunks || ch.Chunks%blocks != 0:
		return fmt.Errorf("%d chunks: must be a multiple of the collective's %d blocks, at most %d", ch.Chunks, blocks, maxChunks)
	case len(ch.Phases) > MaxPhases:
		return fmt.Errorf("%d phases: at most %d", len(ch.Phases), MaxPhases)
	case before != nil && ch.SharesPrograms(before): // of the two, little else differs
		return nil
	}
	if ch.Kinds != nil {
		if err := ch.Kinds.validate(s, ch); err != nil {
			return fmt.Errorf("kinds: %w", err)
		}
	}
	if len(ch.Phases) > 0 && ch.Phases[0].Apart {
		return errors.New("phase 0: apart: it waits for no phase anyway")
	}
	if ch.Trees != nil && slices.ContainsFunc(ch.Phases, func(ph Phase) bool { return ph.Gen == GenTrees }) {
		if err := s.validateTrees(ch); err != nil {
			return err
		}
	}
	for p := range ch.Phases {
		if err := s.validatePhase(ch, &ch.Phases[p]); err != nil {
			return fmt.Errorf("phase %d: %w", p, err)
		}
	}
	if ch.Kinds == nil {
		return nil
	}
	if err := ch.Kinds.validatePrograms(ch); err != nil {
		return fmt.Errorf("kinds: %w", err)
	}
	return nil
}

func (s *Schedule) validatePhase(ch *Channel, ph *Phase) error {
	switch ph.Gen {
	case GenOps:
		return s.validateOps(ch, ph)
	case GenTrees:
		return s.validateTreePhase(ch, ph)
	case GenRails:
		return s.validateRails(ch, ph)
	}
	if generators[ph.Gen] == nil {
		return fmt.Errorf("unknown generator %q", ph.Gen)
	}
	if !Supports(ph.Gen, ph.Op) {
		return fmt.Errorf("generator %s does not make %v", ph.Gen, ph.Op)
	}
	if (ph.Groups.Grid == nil) == (ph.Groups.List == nil) {
		return fmt.Errorf("groups: give either a grid or a list")
	}
	if g := ph.Groups.Grid; g != nil {
		if err := s.validateGrid(ch, g); err != nil {
			return fmt.Errorf("grid: %w", err)
		}
		return s.validateGroup(ph, int(g.Dims[g.Axis]))
	}
	if ph.Gen == GenSwitch {
		if err := disjoint(ph.Groups.List); err != nil {
			return err
		}
	}
	for i := range ph.Groups.List {
		g := &ph.Groups.List[i]
		if err := s.validateList(ch, ph, g); err != nil {
			return fmt.Errorf("group %d: %w", i, err)
		}
		if err := s.validateGroup(ph, len(g.Ranks)); err != nil {
			return fmt.Errorf("group %d: %w", i, err)
		}
	}
	return nil
}

// validateGroup checks what depends on a group's size.
func (s *Schedule) validateGroup(ph *Phase, size int) error {
	if ph.Root < 0 || ph.Root >= size {
		return fmt.Errorf("root %d: must be a position from 0 to %d", ph.Root, size-1)
	}
	if ph.Gen == GenDoubling && ph.Op.String() != "all_reduce" && size&(size-1) != 0 {
		return fmt.Errorf("%s %v needs a power of two of ranks, not %d", ph.Gen, ph.Op, size)
	}
	if ph.Gen != GenTree {
		return nil
	}
	if ph.Parents == nil {
		if ph.Radix < 2 || ph.Radix > maxRanks {
			return fmt.Errorf("radix %d: must be at least 2", ph.Radix)
		}
		return nil
	}
	if ph.Op == collective.Gather || ph.Op == collective.Scatter {
		return fmt.Errorf("%s %v takes a radix, not parents", ph.Gen, ph.Op)
	}
	return validateParents(ph.Parents, size)
}

// validateParents checks that parents make one tree: from every position to one root.
func validateParents(parents []int32, size int) error {
	if len(parents) != size {
		return fmt.Errorf("%d parents for %d positions", len(parents), size)
	}
	root, roots := 0, 0
	for v, u := range parents {
		switch {
		case u == -1:
			root, roots = v, roots+1
		case u < 0 || int(u) >= size:
			return fmt.Errorf("parents: %d is not a position", u)
		}
	}
	if roots != 1 {
		return fmt.Errorf("parents: %d roots instead of one", roots)
	}
	leads := make([]bool, size) // to the root
	leads[root] = true
	for v := range parents {
		u := v
		for n := 0; !leads[u]; n++ {
			if n == size { // round a circle
				return fmt.Errorf("parents: position %d does not lead to the root %d", v, root)
			}
			u = int(parents[u])
		}
		for u = v; !leads[u]; u = int(parents[u]) {
			leads[u] = true
		}
	}
	return nil
}

func (s *Schedule) validateGrid(ch *Channel, g *Grid) error {
	ranks, chunks := int64(1), int64(1)
	if len(g.Dims) > 16 {
		return fmt.Errorf("%d dims: at most 16", len(g.Dims))
	}
	for a, d := range g.Dims {
		if d < 1 || ranks*int64(d) > maxRanks {
			return fmt.Errorf("dims %v are out of range", g.Dims)
		}
		ranks *= int64(d)
		if !slices.Contains(g.Unsplit, a) {
			chunks *= int64(d)
		}
	}
	switch {
	case ranks != int64(s.Spec.Ranks):
		return fmt.Errorf("dims %v hold %d ranks, not %d", g.Dims, ranks, s.Spec.Ranks)
	case chunks != int64(ch.Chunks):
		return fmt.Errorf("dims %v without axes %v number %d chunks, not %d", g.Dims, g.Unsplit, chunks, ch.Chunks)
	case g.Axis < 0 || g.Axis >= len(g.Dims):
		return fmt.Errorf("axis %d: must be from 0 to %d", g.Axis, len(g.Dims)-1)
	case g.Order != nil && !isPermutation(g.Order, int(g.Dims[g.Axis])):
		return fmt.Errorf("order %v is not a permutation of 0 … %d", g.Order, g.Dims[g.Axis]-1)
	}
	return validateAxes(g)
}

// validateAxes checks that free axes lie next to one another.
func validateAxes(g *Grid) error {
	free, ended := false, false
	for a := len(g.Dims) - 1; a >= 0; a-- {
		switch {
		case slices.Contains(g.Unsplit, a) || g.Dims[a] == 1:
		case slices.Contains(g.Fixed, a) || a == g.Axis:
			ended = free
		case ended:
			return fmt.Errorf("axis %d is free, and so is an inner one, with a fixed one between them", a)
		default:
			free = true
		}
	}
	for _, a := range slices.Concat(g.Fixed, g.Unsplit) {
		if a < 0 || a >= len(g.Dims) {
			return fmt.Errorf("axis %d: must be from 0 to %d", a, len(g.Dims)-1)
		}
	}
	if slices.Contains(g.Fixed, g.Axis) {
		return fmt.Errorf("axis %d cannot be fixed: the groups run along it", g.Axis)
	}
	return nil
}

func isPermutation(order []int32, n int) bool {
	seen := make([]bool, n)
	for _, o := range order {
		if o < 0 || int(o) >= n || seen[o] {
			return false
		}
		seen[o] = true
	}
	return len(order) == n
}

func (s *Schedule) validateList(ch *Channel, ph *Phase, g *Group) error {
	// Of these, nobody has a part of its own.
	whole := ph.Op == collective.Broadcast || ph.Op == collective.Reduce
	sorted := slices.Clone(g.Ranks) // nearly all are already; a map of 800,000 ranks takes many times as long
	slices.Sort(sorted)
	for i, r := range sorted {
		if r < 0 || int(r) >= s.Spec.Ranks || i > 0 && r == sorted[i-1] {
			return fmt.Errorf("rank %d is out of range or appears twice", r)
		}
		if g.Parts == nil && !whole && int(r) >= ch.Chunks && ch.Chunks >= len(g.Ranks) {
			return fmt.Errorf("rank %d has no chunk of its own number: give parts", r)
		}
	}
	if len(g.Ranks) == 0 {
		return fmt.Errorf("no ranks")
	}
	if g.Parts != nil && len(g.Parts) != len(g.Ranks) {
		return fmt.Errorf("%d parts for %d ranks", len(g.Parts), len(g.Ranks))
	}
	for _, set := range append(slices.Clone(g.Parts), g.Whole) {
		if !set.valid(int64(ch.Chunks)) {
			return fmt.Errorf("chunks %+v are not among 0 … %d", set, ch.Chunks-1)
		}
	}
	return nil
}

func (s *Schedule) validateOps(ch *Channel, ph *Phase) error {
	n := ph.programs()
	if ch.Kinds == nil && n != s.Spec.Ranks {
		return fmt.Errorf("%d programs for %d ranks", n, s.Spec.Ranks)
	}
	var ranks []int32
	if ch.Kinds != nil {
		if ranks = newKindMoves(ch.Kinds).originals(); n != len(ranks) {
			return fmt.Errorf("%d programs for %d ranks of first nodes", n, len(ranks))
		}
	}
	var ops []Op
	for r := range n {
		ops = ph.appendProgram(ops[:0], r)
		if ranks != nil {
			r = int(ranks[r])
		}
		for i := range ops {
			if err := s.validateOp(ch, &ops[i], r); err != nil {
				return fmt.Errorf("rank %d operation %d: %w", r, i, err)
			}
		}
	}
	return ph.validateTeams()
}

func (s *Schedule) validateOp(ch *Channel, op *Op, rank int) error {
	if int(op.Kind) >= len(opKindNames) {
		return errors.New("unknown kind")
	}
	for _, p := range op.AllPeers() {
		if p < 0 || int(p) >= s.Spec.Ranks || int(p) == rank {
			return fmt.Errorf("peer %d: must be another rank", p)
		}
	}
	for i := range op.Srcs {
		if err := ch.validatePlace(&op.Srcs[i]); err != nil {
			return err
		}
	}
	return cmp.Or(ch.validatePlace(&op.Src), ch.validatePlace(&op.Dst))
}

func (ch *Channel) validatePlace(l *Loc) error {
	limit := int64(ch.Chunks)
	if l.Buf == Scratch {
		limit = maxScratch
	}
	if int(l.Buf) >= len(bufferNames) || !l.Set.valid(limit) {
		return fmt.Errorf("chunks %+v are not in %v", l.Set, l.Buf)
	}
	return nil
}
