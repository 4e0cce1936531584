package probe

import "railyard/model/units"

// Options bound what is measured.
type Options struct {
	GPUs    int         // the first ones; 0: all
	MaxSize units.Bytes // of a message or copy; 0: 256 MiB
	// Progress is told what is measured next; may be nil.
	Progress func(what string)
}
