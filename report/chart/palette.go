package chart

import "image/color"

// Palette is the colour-blind-safe palette of Okabe and Ito (2008), used by every
// figure: the same colour means the same thing everywhere.
var Palette = []color.RGBA{
	{R: 0, G: 158, B: 115, A: 255}, {R: 0, G: 114, B: 178, A: 255}, {R: 86, G: 180, B: 233, A: 255}, {R: 230, G: 159, B: 0, A: 255},
	{R: 204, G: 121, B: 167, A: 255}, {R: 240, G: 228, B: 66, A: 255}, {R: 213, G: 94, B: 0, A: 255}, {R: 0, G: 0, B: 0, A: 255},
}

// Role is a colour that means the same in every figure.
type Role = color.RGBA

// The roles that colours play.
var (
	Free      = mesh       // room that nothing takes
	Ours      = Palette[1] // predicted by the house, planned
	Measured  = Palette[7]
	NCCL      = Palette[3]
	Limit     = Palette[6] // line rates, bounds, failures
	Compute   = Palette[0]
	Exposed   = Palette[6] // communication that computing waits for
	Hidden    = Palette[2] // communication beside computing
	Other     = Palette[4]
	Available = []color.RGBA{Palette[1], Palette[6], Palette[0], Palette[3], Palette[4], Palette[2], Palette[7]}
)
