package main

import (
	"fmt"
	"os"

	"railyard/model/collective"
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
	_, rows, err := tuning.NamedColumns(file, name, "gpus", "size_bytes", "goal_us")
	if err != nil {
		return err
	}
	for _, r := range rows {
		for _, c := range cases {
			if c.key.Kind == collective.AllReduce && c.key.DType == "float32" && fmt.Sprint(c.key.GPUs) == r["gpus"] &&
				fmt.Sprint(int64(c.key.Size)) == r["size_bytes"] {
				if _, err := fmt.Sscan(r["goal_us"], &c.goal); err != nil {
					return fmt.Errorf("%s: goal %q: %w", name, r["goal_us"], err)
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
	lines, rows, err := tuning.NamedColumns(file, name, "collective", "gpus", "dtype", "size_bytes", "algo", "proto", "time_us", "wrong")
	if err != nil {
		return err
	}
	at := map[tuning.Key]*compared{}
	for _, c := range cases {
		at[c.key] = c
	}
	for i, r := range rows {
		if why := notTimed(r); why != "" {
			left[why]++
			continue
		}
		k := tuning.Key{DType: r["dtype"]}
		var us float64
		if k.Kind, err = collective.Parse(r["collective"]); err == nil {
			var bytes int64
			_, err = fmt.Sscan(r["gpus"]+" "+r["size_bytes"]+" "+r["time_us"], &k.GPUs, &bytes, &us)
			k.Size = tuning.RoundedUp(units.Bytes(bytes))
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, lines[i], err)
		}
		if c := at[k]; c != nil && (c.peer.us == 0 || us < c.peer.us) {
			c.peer = peerTime{us, r["proto"] + " " + r["algo"], r["run"]}
		}
	}
	return nil
}

// notTimed says why a row has no time that counts, "" where it has one.
func notTimed(r map[string]string) string {
	what := fmt.Sprintf("%s %s on %s GPUs: ", r["proto"], r["collective"], r["gpus"])
	switch {
	case r["error"] != "":
		return what + r["error"]
	case r["wrong"] != "0":
		return what + "wrong elements"
	case r["time_us"] == "":
		return what + "not timed"
	}
	return ""
}
