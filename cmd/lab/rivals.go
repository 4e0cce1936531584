package main

import (
	"fmt"
	"os"

	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/study/tuning"
)

// readGoals fills in the goals.
func readGoals(name string, cases []*compared) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	rows, err := measurement.Records(file, name, "gpus", "size_bytes", "goal_us")
	if err != nil {
		return err
	}
	for _, r := range rows {
		for _, c := range cases {
			if c.key.Kind == collective.AllReduce && c.key.DType == "float32" && fmt.Sprint(c.key.GPUs) == r.Cell("gpus") &&
				fmt.Sprint(int64(c.key.Size)) == r.Cell("size_bytes") {
				if _, err := fmt.Sscan(r.Cell("goal_us"), &c.goal); err != nil {
					return fmt.Errorf("%s: goal %q: %w", name, r.Cell("goal_us"), err)
				}
			}
		}
	}
	return nil
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
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	rows, err := measurement.Records(file, name, "collective", "gpus", "dtype", "size_bytes", "algo", "proto", "time_us", "wrong")
	if err != nil {
		return err
	}
	at := map[tuning.Key]*compared{}
	for _, c := range cases {
		at[c.key] = c
	}
	for _, r := range rows {
		if why := notTimed(r); why != "" {
			left[why]++
			continue
		}
		k := tuning.Key{DType: r.Cell("dtype")}
		var us float64
		if k.Kind, err = collective.Parse(r.Cell("collective")); err == nil {
			var bytes int64
			_, err = fmt.Sscan(r.Cell("gpus")+" "+r.Cell("size_bytes")+" "+r.Cell("time_us"), &k.GPUs, &bytes, &us)
			k.Size = tuning.RoundedUp(units.Bytes(bytes))
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, r.Line, err)
		}
		if c := at[k]; c != nil && (c.peer.us == 0 || us < c.peer.us) {
			c.peer = peerTime{us, r.Cell("proto") + " " + r.Cell("algo"), r.Cell("run")}
		}
	}
	return nil
}

// notTimed says why a row has no time that counts, "" where it has one.
func notTimed(r measurement.Record) string {
	what := fmt.Sprintf("%s %s on %s GPUs: ", r.Cell("proto"), r.Cell("collective"), r.Cell("gpus"))
	switch {
	case r.Cell("error") != "":
		return what + r.Cell("error")
	case r.Cell("wrong") != "0":
		return what + "wrong elements"
	case r.Cell("time_us") == "":
		return what + "not timed"
	}
	return ""
}
