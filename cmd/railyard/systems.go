package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"railyard/model/measurement"
	"railyard/sim/nccl"
	"railyard/validation"
)

// measuredSystem is a line of validation/systems.csv: where series were measured.
type measuredSystem struct {
	series            string // prefix of their names
	topology, profile string
	set               []string
	options           nccl.Options
	single            bool   // one process launched for all GPUs
	excluded          string // why the series is left out, "" where it is not
}

// measuredSystems reads the table.
func measuredSystems() ([]measuredSystem, error) {
	data, err := validation.Files.ReadFile("systems.csv")
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("validation/systems.csv: %w", err)
	}
	var out []measuredSystem
	for _, l := range lines[1:] { // series,topology,set,profile,launch,nvls,cc,fabric,exclude,why
		s := measuredSystem{series: l[0], topology: l[1], profile: l[3], single: l[4] == "single"}
		if l[2] != "" {
			s.set = strings.Split(l[2], ";")
		}
		if l[5] == "off" {
			s.options.NVLS = nccl.Off
		}
		if s.options.ComputeCapability, err = strconv.Atoi("0" + l[6]); err != nil {
			return nil, fmt.Errorf("validation/systems.csv: %s: %w", l[0], err)
		}
		s.options.Fabric = l[7]
		if l[8] != "" {
			s.excluded = l[9]
		}
		out = append(out, s)
	}
	return out, nil
}

// systemOf is the system with the longest prefix of a series' name.
func systemOf(systems []measuredSystem, series string) (*measuredSystem, error) {
	var best *measuredSystem
	for i := range systems {
		if s := &systems[i]; strings.HasPrefix(series, s.series) && (best == nil || len(s.series) > len(best.series)) {
			best = s
		}
	}
	if best == nil {
		return nil, fmt.Errorf("series %s: validation/systems.csv does not say where it was measured", series)
	}
	return best, nil
}

// shippedMeasurements are the measurements of the package validation; rows without a
// series are named by their file.
func shippedMeasurements() ([]*measurement.Set, error) {
	var out []*measurement.Set
	for _, name := range []string{"h200-nccl.csv", "published.csv"} {
		data, err := validation.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		set, err := measurement.ReadCSV(bytes.NewReader(data), "validation/"+name)
		if err != nil {
			return nil, err
		}
		for i := range set.Rows {
			if set.Rows[i].ID == "" {
				set.Rows[i].ID = strings.TrimSuffix(name, ".csv")
			}
		}
		out = append(out, set)
	}
	return out, nil
}
