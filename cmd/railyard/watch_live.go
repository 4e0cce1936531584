package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"railyard/cmd/internal/cli"
	"railyard/exec/discover"
	"railyard/model/load"
	"railyard/model/topology"
	"railyard/study"
)

// openCounters begins to sample this machine's counters, at most with a share of a core; tests have others.
var openCounters = func(interval time.Duration, share float64) (load.Source, io.Closer, error) {
	l, err := discover.Open()
	if err != nil { // network adapters count without the GPUs' driver
		return discover.NewCounters(nil, "/", interval, share), closing(func() {}), err
	}
	return discover.NewCounters(l, "/", interval, share), closing(l.Close), nil
}

// closing is what ends the use of something.
type closing func()

// Close implements io.Closer.
func (c closing) Close() error { c(); return nil }

// loadInterval is for how long --load live measures, loadRest how long counters that follow late are given to come to rest before.
const loadInterval = time.Second

var loadRest = 500 * time.Millisecond

// measureLoad is what the links of this machine carry now, as a topology that is it has them.
func measureLoad(on study.Site) ([]topology.Background, error) {
	t, err := on.Load()
	if err != nil {
		return nil, err
	}
	if n := t.NumNodes(); n != 1 {
		return nil, cli.Usagef("--load live is of this machine alone, and %s has %d nodes: write each one's load there, railyard watch "+
			"-t %s --how node=N -n 1 -o N.json, and give all files", t.Name(), n, on.Name)
	}
	source, close, missing := openCounters(loadInterval, 0)
	defer close.Close()
	time.Sleep(loadRest)
	m, err := measureOnce(source)
	if err != nil {
		return nil, fmt.Errorf("--load live: %w", err)
	}
	_, links, err := m.On(t, 0)
	switch {
	case err != nil:
		return nil, err
	case len(links) == 0 && missing != nil:
		return nil, fmt.Errorf("--load live: no counter of this machine stands for a link of %s: %w", t.Name(), missing)
	case len(links) == 0:
		return nil, fmt.Errorf("--load live: no counter of this machine stands for a link of %s", t.Name())
	}
	return load.Background(links), nil
}

// measureOnce is what was carried between the next two samples.
func measureOnce(source load.Source) (*load.Measurement, error) {
	var s [2]load.Sample
	for i := range s {
		var err error
		if s[i], err = source.Next(context.Background()); err != nil {
			return nil, err
		}
	}
	return load.Between(s[0], s[1])
}
