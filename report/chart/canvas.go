package chart

import (
	"fmt"
	"io"
	"path/filepath"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

const perInch = 150

// NewCanvas is a canvas for the format of a file's name, .svg or .png, and how to write
// what was drawn on it. The same drawing gives the same bytes.
func NewCanvas(file string, width, height vg.Length) (draw.Canvas, func(io.Writer) error, error) {
	switch filepath.Ext(file) {
	case ".svg":
		c := vgsvg.New(width, height)
		return draw.New(c), func(w io.Writer) error { _, err := c.WriteTo(w); return err }, nil
	case ".png":
		c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(perInch))}
		return draw.New(c), func(w io.Writer) error { _, err := c.WriteTo(w); return err }, nil
	}
	return draw.Canvas{}, nil, fmt.Errorf("%s: the name must end in .svg or .png", file)
}
