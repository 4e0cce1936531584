package cost

import (
	"slices"

	"railyard/model/yamlfile"
)

const countless = 1 << 30 // more than there are of anything that is counted

func (x *Protocol) record() yamlfile.Record {
	return yamlfile.Record{yamlfile.Named("name", &x.Name), yamlfile.Float("efficiency", &x.Efficiency, 0, 1),
		yamlfile.Int("slots", &x.Slots, 0, 1, countless),
		yamlfile.Bytes("slot", &x.Slot), yamlfile.Bytes("unit", &x.Unit), yamlfile.Int("threads", &x.Threads, 0, 1, countless),
		yamlfile.Bytes("thread_bytes", &x.ThreadBytes),
		yamlfile.Duration("hop", &x.Hop), yamlfile.Float("drain", &x.Drain, 0, 1), yamlfile.Named("source", &x.Source),
		yamlfile.Date("date", &x.Date)}
}

func checkProtocol(o *yamlfile.Object, before []Protocol, x *Protocol) {
	switch {
	case x.Efficiency == 0 || x.Slots < 1 || x.Slot < 1 || x.Unit < 1 || x.Threads < 1 || x.ThreadBytes < 1 || x.Hop < 1:
		o.AddAt(o.Where("name"), "%s: efficiency, slots, slot, unit, threads, thread_bytes and hop must be positive", o.What)
	case slices.ContainsFunc(before, func(y Protocol) bool { return y.Name == x.Name }):
		o.AddAt(o.Where("name"), "%s: %s is given twice", o.What, x.Name)
	}
}

// engineNames may be named.
var engineNames = []string{"copy_engine", "sm"}

func (x *Engine) record() yamlfile.Record {
	return yamlfile.Record{yamlfile.Named("name", &x.Name), yamlfile.Duration("alpha", &x.Alpha), yamlfile.Float("efficiency",
		&x.Efficiency, 0, 1),
		yamlfile.Rate("local", &x.Local), yamlfile.Rate("block", &x.Block), yamlfile.Named("source", &x.Source),
		yamlfile.Date("date", &x.Date)}
}

func checkEngine(o *yamlfile.Object, before []Engine, x *Engine) {
	switch {
	case !slices.Contains(engineNames, x.Name):
		o.AddAt(o.Where("name"), "%s: %q must be one of %v", o.What, x.Name, engineNames)
	case x.Efficiency == 0:
		o.AddAt(o.Where("efficiency"), "%s: efficiency must be above 0", o.What)
	case slices.ContainsFunc(before, func(y Engine) bool { return y.Name == x.Name }):
		o.AddAt(o.Where("name"), "%s: %s is given twice", o.What, x.Name)
	}
}

func (l *Level) record() yamlfile.Record {
	return yamlfile.Record{yamlfile.Bytes("from", &l.From), yamlfile.Rate("alone", &l.Alone), yamlfile.Rate("input_copy", &l.Input.Copy),
		yamlfile.Rate("input_combine", &l.Input.Combine), yamlfile.Rate("fresh_copy", &l.Fresh.Copy), yamlfile.Rate("fresh_combine",
			&l.Fresh.Combine)}
}

func checkLevel(o *yamlfile.Object, before []Level, l *Level) {
	for i, f := range l.record()[1:] {
		if *l.rates()[i] == 0 {
			o.AddAt(o.Where(f.Key), "%s: %s: must be given and positive", o.What, f.Key)
		}
	}
	if n := len(before); n > 0 && l.From <= before[n-1].From {
		o.AddAt(o.Where("from"), "%s: from %v must be larger than the level before", o.What, l.From)
	}
}

func (c *Curve) record() yamlfile.Record {
	return yamlfile.Record{yamlfile.Named("medium", &c.Medium), yamlfile.Named("protocol", &c.Protocol), yamlfile.Bool("smooth", &c.Smooth),
		yamlfile.Duration("launch", &c.Launch), yamlfile.Duration("peer", &c.Peer), yamlfile.List("segments", &c.Segments, yamlfile.Lines,
			(*Segment).record, checkSegment)}
}

func checkCurve(o *yamlfile.Object, _ []Curve, c *Curve) {
	if len(c.Segments) == 0 {
		o.AddAt(o.Where("segments"), "%s: has no segments", o.What)
	}
}

func (s *Segment) record() yamlfile.Record {
	return yamlfile.Record{yamlfile.Bytes("from", &s.From), yamlfile.Duration("alpha", &s.Alpha), yamlfile.Duration("alpha_ci", &s.AlphaCI),
		yamlfile.Rate("rate", &s.Rate), yamlfile.Rate("rate_ci", &s.RateCI), yamlfile.Float("efficiency", &s.Efficiency, 0, 1)}
}

func checkSegment(o *yamlfile.Object, before []Segment, s *Segment) {
	if n := len(before); n > 0 && s.From <= before[n-1].From {
		o.AddAt(o.Where("from"), "%s: from %v must be larger than the segment before", o.What, s.From)
	}
}

func (k *Kernel) record() yamlfile.Record {
	return yamlfile.Record{yamlfile.Named("collective", &k.Collective), yamlfile.Named("algorithm", &k.Algorithm),
		yamlfile.Named("protocol", &k.Protocol),
		yamlfile.Named("over", &k.Over), yamlfile.Bool("graph", &k.Graph), yamlfile.Duration("base", &k.Base),
		yamlfile.Duration("wide", &k.Wide),
		yamlfile.Duration("hop", &k.Hop), yamlfile.Duration("net_hop", &k.NetHop), yamlfile.Float("drain", &k.Drain, -1, 10),
		yamlfile.Bytes("fill", &k.Fill),
		yamlfile.List("pieces", &k.Pieces, yamlfile.Line, (*Piece).record, checkPiece), yamlfile.Bytes("min_size", &k.MinSize),
		yamlfile.Bytes("max_size", &k.MaxSize),
		yamlfile.Int("rows", &k.Rows, 0, 0, countless), yamlfile.Int("systems", &k.Systems, 0, 0, countless),
		yamlfile.Float("error", &k.Error, 0, countless),
		yamlfile.Float("held_out", &k.HeldOut, 0, countless)}
}

func (e *Estimate) record() yamlfile.Record {
	return yamlfile.Record{yamlfile.Named("over", &e.Over), yamlfile.Float("latency", &e.Latency, 0, countless),
		yamlfile.Float("fill", &e.Fill, 0, countless), yamlfile.Float("bytes", &e.Bytes, 0, countless),
		yamlfile.Int("rows", &e.Rows, 0, 0, countless), yamlfile.Int("systems", &e.Systems, 0, 0, countless),
		yamlfile.Float("held_out", &e.HeldOut, 0, countless)}
}

func (b *Band) record() yamlfile.Record {
	return yamlfile.Record{yamlfile.Named("across", &b.Across), yamlfile.Named("basis", &b.Basis),
		yamlfile.Float("latency", &b.Latency, 1, countless), yamlfile.Float("bytes", &b.Bytes, 1, countless),
		yamlfile.Int("rows", &b.Rows, 0, 0, countless), yamlfile.Int("systems", &b.Systems, 0, 0, countless)}
}

func checkKernel(o *yamlfile.Object, _ []Kernel, k *Kernel) {
	if len(k.Pieces) == 0 {
		o.AddAt(o.Where("pieces"), "%s: has no pieces", o.What)
	}
}

func (p *Piece) record() yamlfile.Record {
	return yamlfile.Record{yamlfile.Bytes("from", &p.From), yamlfile.Float("slowdown", &p.Slowdown, 1, countless)}
}

func checkPiece(o *yamlfile.Object, before []Piece, p *Piece) {
	if n := len(before); n == 0 && p.From != 0 || n > 0 && p.From <= before[n-1].From {
		o.AddAt(o.Where("from"), "%s: from %v: pieces begin at 0B and ascend", o.What, p.From)
	}
	if p.Slowdown < 1 {
		o.AddAt(o.Where("slowdown"), "%s: slowdown must be at least 1: nothing beats the line rate", o.What)
	}
}

// mechanisms may be named in methods.
var mechanisms = []string{"pull", "push", "packets", "lines", "words", "words_push", "copies"}

func (m *Method) record() yamlfile.Record {
	return yamlfile.Record{yamlfile.Named("collective", &m.Collective), yamlfile.Int("gpus", &m.GPUs, 0, 1, countless),
		yamlfile.Bytes("up_to", &m.UpTo),
		yamlfile.Named("algorithm", &m.Algorithm), yamlfile.Int("slices", &m.Slices, 1, 0, countless),
		yamlfile.Named("mechanism", &m.Mechanism),
		yamlfile.Int("blocks", &m.Blocks, 0, 0, countless), yamlfile.Int("threads", &m.Threads, 0, 0, countless),
		yamlfile.Int("streams", &m.Streams, 0, 0, countless)}
}

func checkMethod(o *yamlfile.Object, before []Method, m *Method) {
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
