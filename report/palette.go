package report

import "image/color"

// Palette is the colour-blind-safe palette of Okabe and Ito (2008), used by every
// figure: the same colour means the same thing everywhere.
var Palette = []color.RGBA{
	{R: 0, G: 158, B: 115, A: 255}, {R: 0, G: 114, B: 178, A: 255}, {R: 86, G: 180, B: 233, A: 255}, {R: 230, G: 159, B: 0, A: 255},
	{R: 204, G: 121, B: 167, A: 255}, {R: 240, G: 228, B: 66, A: 255}, {R: 213, G: 94, B: 0, A: 255}, {R: 0, G: 0, B: 0, A: 255},
}
