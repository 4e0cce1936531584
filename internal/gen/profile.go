package gen

import (
	"fmt"

	"railyard/model/cost"
)

// Curved is a profile with a launch, an α, a cap and an efficiency that change with the
// size and are no round numbers.
func Curved() *cost.Profile {
	p, err := cost.Parse("curved", []byte(`
schema: railyard.profile/v1
name: curved
source: test
date: "2026-11-21"
latencies: true
launch: 3us
reduce: 333GB/s
curves:
  - medium: any
    protocol: any
    segments:
      - {from: 0B, alpha: 700ns, efficiency: 0.37}
      - {from: 8K, alpha: 1333ns, rate: 17.3GB/s, efficiency: 0.83}
      - {from: 1M, alpha: 2us, efficiency: 0.91}
`))
	if err != nil {
		panic(fmt.Sprintf("gen: %v", err))
	}
	return p
}
