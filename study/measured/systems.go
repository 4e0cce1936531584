package measured

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

// System is a line of validation/systems.csv: where series were measured.
type System struct {
	Series            string // prefix of their names
	Topology, Profile string
	Set               []string
	Options           nccl.Options
	Single            bool   // one process launched for all GPUs
	Excluded          string // why the series is left out, "" where it is not
}

// Systems reads the table.
func Systems() ([]System, error) {
	data, err := validation.Files.ReadFile("systems.csv")
	if err != nil {
		return nil, err
	}
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("validation/systems.csv: %w", err)
	}
	var out []System
	for _, l := range lines[1:] { // series,topology,set,profile,launch,nvls,cc,fabric,exclude,why
		s := System{Series: l[0], Topology: l[1], Profile: l[3], Single: l[4] == "single"}
		if l[2] != "" {
			s.Set = strings.Split(l[2], ";")
		}
		if l[5] == "off" {
			s.Options.NVLS = nccl.Off
		}
		if s.Options.ComputeCapability, err = strconv.Atoi("0" + l[6]); err != nil {
			return nil, fmt.Errorf("validation/systems.csv: %s: %w", l[0], err)
		}
		s.Options.Fabric = l[7]
		if l[8] != "" {
			s.Excluded = l[9]
		}
		out = append(out, s)
	}
	return out, nil
}

// SystemOf is the system with the longest prefix of a series' name.
func SystemOf(systems []System, series string) (*System, error) {
	var best *System
	for i := range systems {
		if s := &systems[i]; strings.HasPrefix(series, s.Series) && (best == nil || len(s.Series) > len(best.Series)) {
			best = s
		}
	}
	if best == nil {
		return nil, fmt.Errorf("series %s: validation/systems.csv does not say where it was measured", series)
	}
	return best, nil
}

// Shipped are the measurements of the package validation; rows without a
// series are named by their file.
func Shipped() ([]*measurement.Set, error) {
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
