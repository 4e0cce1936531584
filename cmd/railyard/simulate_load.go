package main

import (
	"railyard/model/cost"
	"railyard/model/topology"
	"railyard/sim"
)

// loadOf is what a job puts on links while it runs, as traffic for others.
func loadOf(t *topology.Topology, p *cost.Profile, j *job) ([]topology.Background, error) {
	plan, err := sim.CompileJobs(t, []sim.Job{j.Job}, p, sim.CompileOptions{Flat: true})
	if err != nil {
		return nil, err
	}
	r, err := plan.Run(j.size, sim.Options{})
	if err != nil {
		return nil, err
	}
	var out []topology.Background
	for _, l := range r.Links {
		if l.Utilisation > 0 {
			out = append(out, topology.Background{Link: t.LinkName(l.Link), Class: t.Class(l.Link).Name, Utilisation: min(l.Utilisation,
				maxShare)})
		}
	}
	return out, nil
}

// maxShare is what a second job can take of a link that it fills: both begin at once and
// share it evenly.
const maxShare = 0.5
