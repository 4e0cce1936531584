package cost

import (
	"slices"

	"railyard/model/yamlfile"
)

// Check reports what does not go together.
func (x *Protocol) Check(o *yamlfile.Object) {
	before := yamlfile.Before[Protocol](o)
	switch {
	case x.Efficiency == 0 || x.Slots < 1 || x.Slot < 1 || x.Unit < 1 || x.Threads < 1 || x.ThreadBytes < 1 || x.Hop < 1:
		o.AddAt(o.Where("name"), "%s: efficiency, slots, slot, unit, threads, thread_bytes and hop must be positive", o.What)
	case slices.ContainsFunc(before, func(y Protocol) bool { return y.Name == x.Name }):
		o.AddAt(o.Where("name"), "%s: %s is given twice", o.What, x.Name)
	}
}

// engineNames may be named.
var engineNames = []string{"copy_engine", "sm"}

// Check reports what does not go together.
func (x *Engine) Check(o *yamlfile.Object) {
	before := yamlfile.Before[Engine](o)
	switch {
	case !slices.Contains(engineNames, x.Name):
		o.AddAt(o.Where("name"), "%s: %q must be one of %v", o.What, x.Name, engineNames)
	case x.Efficiency == 0:
		o.AddAt(o.Where("efficiency"), "%s: efficiency must be above 0", o.What)
	case slices.ContainsFunc(before, func(y Engine) bool { return y.Name == x.Name }):
		o.AddAt(o.Where("name"), "%s: %s is given twice", o.What, x.Name)
	}
}

// Check reports what does not go together.
func (l *Level) Check(o *yamlfile.Object) {
	before := yamlfile.Before[Level](o)
	for i, key := range []string{"alone", "input_copy", "input_combine", "fresh_copy", "fresh_combine"} {
		if *l.Rates()[i] == 0 {
			o.AddAt(o.Where(key), "%s: %s: must be given and positive", o.What, key)
		}
	}
	if n := len(before); n > 0 && l.From <= before[n-1].From {
		o.AddAt(o.Where("from"), "%s: from %v must be larger than the level before", o.What, l.From)
	}
}

// Check reports what does not go together.
func (c *Curve) Check(o *yamlfile.Object) {
	if len(c.Segments) == 0 {
		o.AddAt(o.Where("segments"), "%s: has no segments", o.What)
	}
}

// Check reports what does not go together.
func (s *Segment) Check(o *yamlfile.Object) {
	before := yamlfile.Before[Segment](o)
	if n := len(before); n > 0 && s.From <= before[n-1].From {
		o.AddAt(o.Where("from"), "%s: from %v must be larger than the segment before", o.What, s.From)
	}
}

// Check reports what does not go together.
func (k *Kernel) Check(o *yamlfile.Object) {
	if len(k.Pieces) == 0 {
		o.AddAt(o.Where("pieces"), "%s: has no pieces", o.What)
	}
}

// Check reports what does not go together.
func (p *Piece) Check(o *yamlfile.Object) {
	before := yamlfile.Before[Piece](o)
	if n := len(before); n == 0 && p.From != 0 || n > 0 && p.From <= before[n-1].From {
		o.AddAt(o.Where("from"), "%s: from %v: pieces begin at 0B and ascend", o.What, p.From)
	}
	if p.Slowdown < 1 {
		o.AddAt(o.Where("slowdown"), "%s: slowdown must be at least 1: nothing beats the line rate", o.What)
	}
}

// mechanisms may be named in methods.
var mechanisms = []string{"pull", "push", "packets", "lines", "words", "words_push", "copies"}

// Check reports what does not go together.
func (m *Method) Check(o *yamlfile.Object) {
	before := yamlfile.Before[Method](o)
	m.Slices = max(m.Slices, 1)
	if !slices.Contains(mechanisms, m.Mechanism) {
		o.AddAt(o.Where("mechanism"), "%s: mechanism %q must be one of %v", o.What, m.Mechanism, mechanisms)
	}
	if m.GPUs < 1 || m.Threads%32 != 0 {
		o.AddAt(o.Where("gpus"), "%s: gpus must be given, and threads be a multiple of 32", o.What)
	}
	if n := len(before); n > 0 {
		if last := &before[n-1]; last.Collective == m.Collective && last.GPUs == m.GPUs && (last.UpTo == 0 || m.UpTo != 0 &&
			m.UpTo <= last.UpTo) {
			o.AddAt(o.Where("up_to"), "%s: up_to must be larger than in the row before", o.What)
		}
	}
}
