package yamlfile

import "railyard/model/units"

// Rate reads a rate of bytes per second, which must be positive and at most the given
// one: more is surely a slip.
func (o *Object) Rate(key string, most units.Rate) units.Rate {
	return max(quantity(o, key, "rate", units.ParseRate, 1, most), 1)
}

// Duration reads a duration of at most the given one.
func (o *Object) Duration(key string, most units.Time) units.Time {
	return quantity(o, key, "duration", units.ParseTime, 0, most)
}

// Bytes reads a positive size.
func (o *Object) Bytes(key string) units.Bytes {
	return quantity(o, key, "size", units.ParseBytes, 1, 1<<60)
}

// quantity reads a number with a unit between lo and hi; noun names it.
func quantity[T interface {
	~int64
	String() string
}](o *Object, key, noun string, parse func(string) (T, error), lo, hi T) T {
	text := o.Text(key, true)
	if text == "" {
		return lo
	}
	v, err := parse(text)
	switch {
	case err != nil:
		o.AddAt(o.Where(key), "%s: %s: %v", o.What, key, err)
	case v < lo && lo > 0:
		o.AddAt(o.Where(key), "%s: %s is %s: a %s must be positive", o.What, key, text, noun)
	case v < lo:
		o.AddAt(o.Where(key), "%s: %s is %s: a %s cannot be negative", o.What, key, text, noun)
	case v > hi:
		o.AddAt(o.Where(key), "%s: %s is %s: more than %v is surely a slip", o.What, key, text, hi)
	}
	return min(max(v, lo), hi)
}

// Share reads a number above 0 and at most 1.
func (o *Object) Share(key string, def float64) float64 {
	v := o.Number(key, def)
	if v > 1 {
		o.AddAt(o.Where(key), "%s: %s must be above 0 and at most 1, not %g", o.What, key, v)
		return 1
	}
	return v
}
