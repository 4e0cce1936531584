package nccltests

import (
	"math"
	"strconv"
	"strings"

	"railyard/model/collective"
	"railyard/model/measurement"
)

// maxTold bounds the ranks that bandwidths tell: those of two decimals tell some hundreds apart at best.
const maxTold = 1 << 12

// ranksOf is the one number of ranks whose bus factor all rows have, as far as their bandwidths were printed; 0 where several have it,
// or none.
func ranksOf(kind collective.Kind, rows []measurement.Row) int {
	least, most := 0.0, math.Inf(1)
	for i := range rows {
		a, b := printed(rows[i].Columns[7]), printed(rows[i].Columns[8])
		if a[0] > 0 {
			least, most = max(least, b[0]/a[1]), min(most, b[1]/a[0])
		}
	}
	told := 0
	for n := 2; n <= maxTold; n++ {
		if f := kind.BusFactor(n); f >= least && f <= most {
			if told > 0 {
				return 0
			}
			told = n
		}
	}
	return told
}

// printed is what a number was before it was rounded to its decimals: from, to.
func printed(text string) [2]float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return [2]float64{}
	}
	_, decimals, _ := strings.Cut(text, ".")
	half := math.Pow10(-len(decimals)) / 2
	return [2]float64{x - half, x + half}
}
