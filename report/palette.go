package report

import (
	"image/color"

	"railyard/report/chart"
)

// seriesColours are the colours of series, most distinct first; yellow is left out
// since thin lines of it vanish on white.
var seriesColours = []color.RGBA{chart.Palette[1], chart.Palette[6], chart.Palette[0], chart.Palette[3], chart.Palette[4], chart.Palette[2]}

// A figure of one series shows measurements in black, so that points stand out from the
// line; the keys of the legend that stand for all series are grey.
var (
	measuredColour = chart.Palette[7]
	keyColour      = color.RGBA{R: 90, G: 90, B: 90, A: 255}
	gridColour     = color.RGBA{R: 214, G: 214, B: 214, A: 255}
)
