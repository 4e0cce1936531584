package cli

import (
	"railyard/internal/outfile"
	"railyard/report/chart"
)

// WriteChart writes a chart into a file, .svg, .png or .csv by its name.
func WriteChart(file string, c chart.Chart) error {
	write, err := chart.Draw(c, file)
	if err != nil {
		return Usage(err)
	}
	return outfile.Write(file, write)
}
