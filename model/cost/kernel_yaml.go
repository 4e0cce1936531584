package cost

import (
	"fmt"
	"math"

	"railyard/model/units"
)

type kernelInFile struct {
	Collective string        `yaml:"collective"`
	Algorithm  string        `yaml:"algorithm"`
	Protocol   string        `yaml:"protocol"`
	Over       string        `yaml:"over"`
	Graph      bool          `yaml:"graph,omitempty"`
	Base       string        `yaml:"base,omitempty"`
	Wide       string        `yaml:"wide,omitempty"`
	Hop        string        `yaml:"hop,omitempty"`
	NetHop     string        `yaml:"net_hop,omitempty"`
	Drain      float64       `yaml:"drain,omitempty"`
	Fill       string        `yaml:"fill,omitempty"`
	Pieces     []pieceInFile `yaml:"pieces,flow"`
	MinSize    string        `yaml:"min_size"`
	MaxSize    string        `yaml:"max_size"`
	Rows       int           `yaml:"rows"`
	Error      float64       `yaml:"error"`
	HeldOut    float64       `yaml:"held_out"`
}

type pieceInFile struct {
	From     string  `yaml:"from"`
	Slowdown float64 `yaml:"slowdown"`
}

func (r *reader) kernel(what string, k kernelInFile) Kernel {
	out := Kernel{
		KernelKey: KernelKey{k.Collective, k.Algorithm, k.Protocol, k.Over, k.Graph},
		Base:      optional(r, what+" base", k.Base, units.ParseTime),
		Wide:      optional(r, what+" wide", k.Wide, units.ParseTime),
		Hop:       optional(r, what+" hop", k.Hop, units.ParseTime),
		NetHop:    optional(r, what+" net_hop", k.NetHop, units.ParseTime),
		MinSize:   optional(r, what+" min_size", k.MinSize, units.ParseBytes),
		MaxSize:   optional(r, what+" max_size", k.MaxSize, units.ParseBytes),
		Fill:      optional(r, what+" fill", k.Fill, units.ParseBytes),
		Drain:     k.Drain, Rows: k.Rows, Error: k.Error, HeldOut: k.HeldOut,
	}
	if k.Collective == "" || k.Algorithm == "" || k.Protocol == "" || k.Over == "" {
		r.fail("%s: collective, algorithm, protocol and over must be given", what)
	}
	if !(k.Drain >= -1 && k.Drain <= 10) {
		r.fail("%s: drain %v must be from -1 to 10", what, k.Drain)
	}
	if len(k.Pieces) == 0 {
		r.fail("%s: has no pieces", what)
	}
	for i, p := range k.Pieces {
		piece := Piece{optional(r, fmt.Sprintf("%s piece %d from", what, i), p.From, units.ParseBytes), p.Slowdown}
		if !(p.Slowdown >= 1 && !math.IsInf(p.Slowdown, 0)) {
			r.fail("%s piece %d: slowdown %v must be at least 1: nothing beats the line rate", what, i, p.Slowdown)
		}
		if i == 0 && piece.From != 0 || i > 0 && piece.From <= out.Pieces[i-1].From {
			r.fail("%s piece %d: from %v: pieces begin at 0B and ascend", what, i, piece.From)
		}
		out.Pieces = append(out.Pieces, piece)
	}
	return out
}

func kernelText(k *Kernel) kernelInFile {
	out := kernelInFile{Collective: k.Collective, Algorithm: k.Algorithm, Protocol: k.Protocol, Over: k.Over, Graph: k.Graph,
		Base: timeText(k.Base), Wide: timeText(k.Wide), Hop: timeText(k.Hop), NetHop: timeText(k.NetHop), Drain: k.Drain,
		MinSize: k.MinSize.String(), MaxSize: k.MaxSize.String(), Rows: k.Rows, Error: k.Error, HeldOut: k.HeldOut}
	if k.Fill > 0 {
		out.Fill = k.Fill.String()
	}
	for _, p := range k.Pieces {
		out.Pieces = append(out.Pieces, pieceInFile{p.From.String(), p.Slowdown})
	}
	return out
}
