//go:build cgo

package gpus

import "railyard/exec/cuda/driver"

// Side are n more streams of the GPU's, made when they are first asked for, which must not be while its stream is recorded.
func (g *GPU) Side(n int) ([]driver.Stream, error) {
	for len(g.side) < n {
		s, err := driver.NewStream()
		if err != nil {
			return nil, err
		}
		g.side = append(g.side, s)
	}
	return g.side[:n], nil
}

// Follow makes a stream of the GPU's wait for what another has been given so far; in a recording that is an edge of the graph. One
// event serves all: who waits for it, waits for what it was behind then.
func (g *GPU) Follow(s, ahead driver.Stream) error {
	if err := g.order.Record(ahead); err != nil {
		return err
	}
	return s.Wait(g.order)
}

// Fork lets work use streams between what is before and after it on the GPU's own.
func (g *GPU) Fork(streams []driver.Stream, work func() error) error {
	for _, s := range streams {
		if err := g.Follow(s, g.Stream); err != nil {
			return err
		}
	}
	if err := work(); err != nil {
		return err
	}
	for _, s := range streams {
		if err := g.Follow(g.Stream, s); err != nil {
			return err
		}
	}
	return nil
}
