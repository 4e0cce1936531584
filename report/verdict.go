package report

import (
	"fmt"
	"strings"

	"railyard/model/units"
)

// verdict says whether what was measured is within what is normal, "" where nothing says what is.
func (r *ComparedRow) verdict() string {
	if r.Predicted.High == 0 {
		return ""
	}
	var words []string
	for _, x := range []struct {
		time  units.Time
		where string
	}{{r.Measured.Time, ""}, {r.Measured.InPlace, "in place "}} {
		switch {
		case x.time > r.Predicted.High:
			words = append(words, x.where+"slow")
		case x.time > 0 && x.time < r.Predicted.Low:
			words = append(words, x.where+"fast")
		}
	}
	if len(words) == 0 {
		return "normal"
	}
	return strings.Join(words, ", ")
}

// verdicts counts them, in a sentence.
func (c *Comparison) verdicts() []string {
	count := map[string]int{}
	for i := range c.Rows {
		v := c.Rows[i].verdict()
		switch {
		case strings.Contains(v, "slow"):
			v = "slow"
		case strings.Contains(v, "fast"):
			v = "fast"
		}
		count[v]++
	}
	if !c.EachRow || len(c.Rows) == count[""] {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d rows are normal (as far off as predictions are), %d slow, %d fast",
		count["normal"], len(c.Rows)-count[""], count["slow"], count["fast"])}
}

// busBW is the bus bandwidth in GB/s at which a row takes a time, 0 where it is not known.
func (r *ComparedRow) busBW(t units.Time) float64 {
	if t <= 0 || r.Measured.GPUs == 0 {
		return 0
	}
	return r.Measured.Collective.BusFactor(r.Measured.GPUs) * float64(r.Measured.Size) / t.Seconds() / 1e9
}
