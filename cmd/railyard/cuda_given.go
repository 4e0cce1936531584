package main

import (
	"fmt"
	"os"

	"railyard/model/collective"
)

// readGoals fills in the goals.
func readGoals(name string, cases []*compared) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	_, rows, err := namedColumns(file, name, "gpus", "size_bytes", "goal_us")
	if err != nil {
		return err
	}
	for _, r := range rows {
		for _, c := range cases {
			if c.key.kind == collective.AllReduce && c.key.dtype == "float32" && fmt.Sprint(c.key.gpus) == r["gpus"] && fmt.Sprint(int64(c.key.size)) == r["size_bytes"] {
				if _, err := fmt.Sscan(r["goal_us"], &c.goal); err != nil {
					return fmt.Errorf("%s: goal %q: %w", name, r["goal_us"], err)
				}
			}
		}
	}
	return nil
}

// readPeers fills in the fastest way of other libraries.
func readPeers(name string, cases []*compared) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines, rows, err := namedColumns(file, name, "collective", "gpus", "dtype", "size_bytes", "time_us", "wrong")
	if err != nil {
		return err
	}
	for i, r := range rows {
		var us float64
		if _, err := fmt.Sscan(r["time_us"], &us); err != nil {
			return fmt.Errorf("%s:%d: time_us %q: %w", name, lines[i], r["time_us"], err)
		}
		for _, c := range cases {
			if c.key.kind.String() == r["collective"] && c.key.dtype == r["dtype"] && fmt.Sprint(c.key.gpus) == r["gpus"] && fmt.Sprint(int64(c.key.size)) == r["size_bytes"] && (c.peer == 0 || us < c.peer) {
				c.peer = us
			}
		}
	}
	return nil
}
