// Access draws what blocks of an H200 reach whose places in memory lie apart, by the machine's file. Run it from the root of the module:
//
//	go run ./notebooks/access
//
// It writes docs/img/h200-access.svg.
package main

import (
	"log"

	"railyard/internal/outfile"
	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report/chart"
)

const (
	machine = "h200"
	copied  = 32 * units.MiB
	file    = "docs/img/h200-access.svg"
)

func main() {
	log.SetFlags(0)
	m, err := cost.GetMachine(machine)
	if err != nil {
		log.Fatal("access: ", err)
	}
	write, err := chart.Draw(draw(m.Access), file)
	if err == nil {
		err = outfile.Write(file, write)
	}
	if err != nil {
		log.Fatal("access: ", err)
	}
}

// draw has a line for each pattern of loads and of stores in the GPU's own memory.
func draw(a *cost.Access) chart.Chart {
	c := &chart.Lines{FromZero: true, Frame: chart.Frame{Title: "Accesses that lie apart or are off 16 bytes, 32 MiB copied", Sizes: true,
		X: "bytes that lie together", Y: "GB/s copied", Source: a.Source + ", " + a.Date}}
	for _, pattern := range []string{measurement.Strided, measurement.Scattered, measurement.Misaligned} {
		for _, stores := range []bool{false, true} {
			s := chart.Series{Name: measurement.Access{Stores: stores, Pattern: pattern}.Words()}
			for _, x := range a.Rates {
				if x.Copied == copied && !x.Peer && x.Pattern == pattern && x.Stores == stores {
					s.Points = append(s.Points, chart.XY{X: float64(x.Piece), Y: float64(x.Rate) / 1e9})
				}
			}
			c.Series = append(c.Series, s)
		}
	}
	return c
}
