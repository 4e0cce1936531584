package cost

import "railyard/model/units"

// Level is what the cores of a host reach while the buffers of all ranks together have
// From bytes: the more they are, the fewer of them lie in caches. Rates are bytes of the
// result per second that each rank reaches while all are at work; between two levels the
// time of a byte changes evenly, on a scale of factors of the size.
type Level struct {
	From  units.Bytes `file:"from,ascends"`
	Alone units.Rate  `file:"alone,some"`     // what one rank reaches that copies inputs while the others rest
	Input Pass        `file:",inline=input_"` // from inputs, which nobody writes during runs: readers' caches keep them
	Fresh Pass        `file:",inline=fresh_"` // from what another rank has just written, which lies in a cache of its core
}

// Pass is what a rank reaches that takes data out of another one's memory.
type Pass struct {
	Copy    units.Rate `file:"copy,some"`
	Combine units.Rate `file:"combine,some"` // with its own, in one pass
}

// Level is what cores reach with buffers of so many bytes; false where the profile has no levels.
func (p *Profile) Level(buffers units.Bytes) (l Level, ok bool) {
	if len(p.Memory) == 0 {
		return l, false
	}
	i := len(p.Memory) - 1
	for i > 0 && p.Memory[i].From > buffers {
		i--
	}
	l = p.Memory[i]
	if i+1 < len(p.Memory) {
		next := &p.Memory[i+1]
		share := Between(l.From, next.From, buffers)
		a, b := l.Rates(), next.Rates()
		for k := range a {
			*a[k] = towards(*a[k], *b[k], share)
		}
	}
	return l, true
}

// Rates are all rates of a level, in the order of its fields.
func (l *Level) Rates() [5]*units.Rate {
	return [5]*units.Rate{&l.Alone, &l.Input.Copy, &l.Input.Combine, &l.Fresh.Copy, &l.Fresh.Combine}
}

// towards is the rate a share of the way from one to another, in the time of a byte.
func towards(a, b units.Rate, share float64) units.Rate {
	return units.Rate(1 / ((1-share)/float64(a) + share/float64(b)))
}

// Pass is what a rank reaches with one kind of data.
func (l *Level) Pass(fresh bool) Pass {
	if fresh {
		return l.Fresh
	}
	return l.Input
}
