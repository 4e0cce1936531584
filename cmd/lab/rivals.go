package main

import (
	"fmt"

	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/study/tuning"
)

// readGoals fills in the goals.
func readGoals(name string, cases []*compared) error {
	return measurement.FileLines(nil, name, func(l *measurement.Line) {
		for _, c := range cases {
			if c.key == (tuning.Key{DType: "float32", Kind: collective.AllReduce, GPUs: l.Count("gpus"), Size: l.Size("size_bytes")}) {
				l.Given("goal_us")
				c.goal = l.Number("goal_us")
			}
		}
	}, "gpus", "size_bytes", "goal_us")
}

// peerTime is what another library took.
type peerTime struct {
	us        float64 // 0: not measured
	name, run string
}

// peersLeft counts the rows of other libraries that are no rivals, by why.
type peersLeft map[string]int

// readPeers fills in the fastest way of other libraries. What failed, made wrong elements
// or was not timed does not count.
func readPeers(name string, cases []*compared, left peersLeft) error {
	at := map[tuning.Key]*compared{}
	for _, c := range cases {
		at[c.key] = c
	}
	return measurement.FileLines(nil, name, func(l *measurement.Line) {
		if why := notTimed(l); why != "" {
			left[why]++
			return
		}
		us := l.Number("time_us")
		if c := at[tuning.ReadKey(l)]; c != nil && (c.peer.us == 0 || us < c.peer.us) {
			c.peer = peerTime{us, l.Cell("proto") + " " + l.Cell("algo"), l.Cell("run")}
		}
	}, "collective", "gpus", "dtype", "size_bytes", "algo", "proto", "time_us", "wrong")
}

// notTimed says why a row has no time that counts, "" where it has one.
func notTimed(l *measurement.Line) string {
	what := fmt.Sprintf("%s %s on %s GPUs: ", l.Cell("proto"), l.Cell("collective"), l.Cell("gpus"))
	switch {
	case l.Cell("error") != "":
		return what + l.Cell("error")
	case l.Cell("wrong") != "0":
		return what + "wrong elements"
	case l.Cell("time_us") == "":
		return what + "not timed"
	}
	return ""
}
