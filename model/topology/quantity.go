package topology

import "railyard/model/units"

// rateOf reads a rate per direction.
func rateOf(o *object, key string) units.Rate {
	text := o.Text(key, true)
	if text == "" {
		return 1
	}
	r, err := units.ParseRate(text)
	if err == nil && r <= 0 {
		o.AddAt(o.Where(key), "%s: %s is %s: a rate must be positive; leave the link out if it does not exist", o.What, key, text)
	} else if err == nil && r > maxRate {
		o.AddAt(o.Where(key), "%s: %s is %s: more than %v over one link is surely a slip", o.What, key, text, maxRate)
	} else if err != nil {
		o.AddAt(o.Where(key), "%s: %s: %v", o.What, key, err)
	}
	return min(max(r, 1), maxRate)
}

// durationOf reads a latency.
func durationOf(o *object, key string) units.Time {
	text := o.Text(key, true)
	if text == "" {
		return 0
	}
	t, err := units.ParseTime(text)
	if err == nil && t < 0 {
		o.AddAt(o.Where(key), "%s: %s is %s: a latency cannot be negative", o.What, key, text)
	} else if err == nil && t > maxLatency {
		o.AddAt(o.Where(key), "%s: %s is %s: more than %v over one link is surely a slip", o.What, key, text, maxLatency)
	} else if err != nil {
		o.AddAt(o.Where(key), "%s: %s: %v", o.What, key, err)
	}
	return min(max(t, 0), maxLatency)
}
