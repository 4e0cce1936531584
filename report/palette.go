package report

import "image/color"

// Palette is the colour-blind-safe palette of Okabe and Ito (2008), used by every
// figure: the same colour means the same thing everywhere.
var Palette = []color.RGBA{
	{R: 0, G: 158, B: 115, A: 255}, {R: 0, G: 114, B: 178, A: 255}, {R: 86, G: 180, B: 233, A: 255}, {R: 230, G: 159, B: 0, A: 255},
	{R: 204, G: 121, B: 167, A: 255}, {R: 240, G: 228, B: 66, A: 255}, {R: 213, G: 94, B: 0, A: 255}, {R: 0, G: 0, B: 0, A: 255},
}

// seriesColours are the colours of series, most distinct first; yellow is left out
// since thin lines of it vanish on white.
var seriesColours = []color.RGBA{Palette[1], Palette[6], Palette[0], Palette[3], Palette[4], Palette[2]}

// A figure of one series shows measurements in black, so that points stand out from the
// line; the keys of the legend that stand for all series are grey.
var (
	measuredColour = Palette[7]
	keyColour      = color.RGBA{R: 90, G: 90, B: 90, A: 255}
	gridColour     = color.RGBA{R: 214, G: 214, B: 214, A: 255}
)
