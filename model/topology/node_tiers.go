package topology

// NodeTiers are the tiers of groups of nodes, outermost first: by node its group, of consecutive nodes, within those of the next tier out;
// without small remainders.
func (t *Topology) NodeTiers() (out [][]int32) {
	for _, tier := range t.tiers[1:] {
		of := make([]int32, len(t.nodes))
		for n := range of {
			of[n] = tier.Of[t.nodes[n].firstRank]
		}
		nested := true
		for n := range of[1:] {
			nested = nested && of[n] <= of[n+1] && (len(out) == 0 || of[n] == of[n+1] || out[0][n] != out[0][n+1])
		}
		if nested {
			out = append([][]int32{of}, out...)
		}
	}
	return withoutRemainders(out)
}

// withoutRemainders joins a group that is small beside the one before it in the same group of the tier above to that one: alone, its few
// nodes would take in, between them, as many messages as others do between many.
func withoutRemainders(tiers [][]int32) (out [][]int32) {
	for _, of := range tiers {
		above, joined, sizes := make([]int32, len(of)), make([]int32, len(of)), []int{}
		if len(out) > 0 {
			above = out[len(out)-1]
		}
		for n := 0; n < len(of); {
			first, last := n, len(sizes)-1
			for n < len(of) && of[n] == of[first] {
				n++
			}
			if last >= 0 && above[first] == above[first-1] && hardlyMore(sizes[last]+n-first, sizes[last]) {
				sizes[last] += n - first
			} else {
				sizes, last = append(sizes, n-first), last+1
			}
			for i := first; i < n; i++ {
				joined[i] = int32(last)
			}
		}
		if last := len(of) - 1; joined[last] > above[last] {
			out = append(out, joined)
		}
	}
	return out
}

// hardlyMore reports whether one number is less than a sixth above another.
func hardlyMore(a, than int) bool { return 6*a < 7*than }
