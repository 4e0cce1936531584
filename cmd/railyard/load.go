package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"railyard/cmd/internal/cli"
	"railyard/interop/foreign"
	"railyard/model/topology"
	"railyard/report"
	"railyard/report/table"
	"railyard/study"
)

// background reads --load, on a site without it; several add up.
func (f *topoFlags) background(on study.Site) ([]topology.Background, error) {
	var out []topology.Background
	for _, arg := range f.Loads {
		path, share := arg, 1.0
		if i := strings.LastIndexByte(arg, '@'); i >= 0 && !exists(arg) {
			var err error
			if share, err = strconv.ParseFloat(arg[i+1:], 64); err != nil || !(share >= 0 && share <= 1) {
				return nil, cli.Usagef("--load %s: %q is not a share from 0 to 1", arg, arg[i+1:])
			}
			path = arg[:i]
		}
		list, err := f.loadsOf(path, on)
		if err != nil {
			return nil, err
		}
		for _, b := range list {
			b.Utilisation *= share
			b.Rate *= share
			out = append(out, b)
		}
	}
	return out, nil
}

// loadsOf are those of a file, or what this machine carries now, which is measured once.
func (f *topoFlags) loadsOf(path string, on study.Site) (list []topology.Background, err error) {
	if path == liveTopology && !exists(path) {
		if f.now == nil {
			f.now, err = measureLoad(on)
		}
		return f.now, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if list, err = parseLoads(data); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return list, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// loadEntry is a link of a list of loads.
type loadEntry struct {
	Link        string   `json:"link"`
	Class       string   `json:"class,omitempty"`
	Utilisation *float64 `json:"utilisation,omitempty"`
	Rate        *float64 `json:"bytes_per_second,omitempty"`
}

// writeLoads writes a list of loads, as --load reads it.
func writeLoads(w io.Writer, list []topology.Background) error {
	entries := make([]loadEntry, len(list))
	for i, b := range list {
		entries[i] = loadEntry{Link: b.Link, Class: b.Class, Utilisation: &b.Utilisation}
		if b.Rate > 0 {
			entries[i].Utilisation, entries[i].Rate = nil, &b.Rate
		}
	}
	return table.WriteJSON(w, entries)
}

// parseLoads reads a list of loads, or a simulation.
func parseLoads(data []byte) ([]topology.Background, error) {
	trimmed := bytes.TrimSpace(data)
	parse := listedLoads
	if bytes.HasPrefix(trimmed, []byte("{")) {
		parse = simulatedLoads
	}
	if len(trimmed) > 0 {
		if out, err := parse(data); err != nil || len(out) > 0 {
			return out, err
		}
	}
	return nil, errors.New(`line 1: it names no link, so that it would change nothing: list at least one, ` +
		`such as {"link": "gpu0--gpu1", "utilisation": 0.5}, or leave --load out`)
}

// listedLoads reads a list of loads.
func listedLoads(data []byte) ([]topology.Background, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var list []loadEntry
	if err := dec.Decode(&list); err != nil {
		return nil, foreign.JSONError(data, dec, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("line %d: more than one list", foreign.LineOf(data, dec.InputOffset()))
	}
	var out []topology.Background
	for i, e := range list {
		b := topology.Background{Link: e.Link, Class: e.Class}
		switch {
		case e.Link == "":
			return nil, fmt.Errorf("entry %d: it names no link", i+1)
		case (e.Utilisation == nil) == (e.Rate == nil):
			return nil, fmt.Errorf("entry %d, link %s: give either utilisation or bytes_per_second", i+1, e.Link)
		case e.Utilisation != nil:
			b.Utilisation = *e.Utilisation
		default:
			b.Rate = *e.Rate
		}
		out = append(out, b)
	}
	return out, nil
}

// simulatedLoads are the links of a simulation.
func simulatedLoads(data []byte) ([]topology.Background, error) {
	var kind struct {
		Schema string `json:"schema"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&kind); err != nil {
		return nil, foreign.JSONError(data, dec, err)
	}
	if kind.Schema != "railyard.simulate/v1" {
		return nil, fmt.Errorf("its schema is %q: give a list of loads or what `railyard simulate --format json` writes "+
			"(railyard.simulate/v1)", kind.Schema)
	}
	var d report.SimulateDocument
	dec = json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&d); err != nil {
		return nil, foreign.JSONError(data, dec, err)
	}
	var out []topology.Background
	for _, l := range d.Links {
		if l.Count > 1 {
			return nil, fmt.Errorf("%s stands for %d links, the others of which it does not name: simulate with --how every-link", l.ID,
				l.Count)
		}
		b := topology.Background{Link: l.ID, Class: l.Class, Utilisation: l.Utilisation}
		if link, lane, hashed := strings.Cut(l.ID, " lane "); hashed {
			n, err := strconv.Atoi(lane)
			if err != nil {
				return nil, fmt.Errorf("link %q: %w", l.ID, err)
			}
			b.Link, b.Lane = link, n
		}
		out = append(out, b)
	}
	return out, nil
}
