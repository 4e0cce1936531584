package report

import (
	"fmt"
	"strings"
)

// WatchDocument is what a machine's links carried in an interval.
type WatchDocument struct {
	Schema   string      `json:"schema" const:"railyard.watch/v1" doc:"what a machine's links carried in an interval"`
	Topology string      `json:"topology" doc:"whose links the ports stand for; empty where none is known"`
	At       string      `json:"at" doc:"when the interval ended (RFC 3339); empty where files do not say it"`
	Seconds  float64     `json:"interval_s" as:"s" doc:"how long it was"`
	HotFrom  float64     `json:"hot_from" as:"share" doc:"share of its line rate from which on a link is hot"`
	Hot      int         `json:"hot" doc:"how many ports are hot"`
	Own      float64     `json:"own_cpu" as:"share" doc:"share of a core that watching has taken since it began; 0 on files"`
	Ports    []WatchPort `json:"ports" csv:"" most:"24" doc:"the busiest first"`
	Notes    []string    `json:"notes" note:"note"`
}

// WatchPort is an NVLink, a GPU's PCIe or a network adapter.
type WatchPort struct {
	Part     string  `json:"part" text:"port"`
	Links    string  `json:"links" text:"links" doc:"of the topology that it stands for"`
	Sent     float64 `json:"sent_GBps" text:"sent"`
	Received float64 `json:"received_GBps" text:"received"`
	Line     float64 `json:"line_GBps" text:"line rate" doc:"each way; 0 where it is not known"`
	Load     float64 `json:"load" text:"load" as:"share" doc:"share of the line rate that is carried the busier way"`
	Hot      bool    `json:"hot" text:"hot" yes:"hot"`
	Errors   string  `json:"errors" text:"errors" doc:"that came in the interval, by their kind"`
}

// Answer says it in a line.
func (d *WatchDocument) Answer() []string {
	where := "this machine"
	if d.Topology != "" {
		where = d.Topology
	}
	hot, errors := "no link is hot", ""
	if d.Hot > 0 {
		hot = fmt.Sprintf("HOT: %d of %d ports carry %.0f %% of their line rate or more", d.Hot, len(d.Ports), 100*d.HotFrom)
	}
	var bad []string
	unknown := 0
	for _, p := range d.Ports {
		if p.Line == 0 {
			unknown++
		}
		if p.Errors != "" {
			bad = append(bad, p.Part)
		}
	}
	if unknown > 0 {
		hot += fmt.Sprintf(" (of %d of %d ports no line rate is known", unknown, len(d.Ports))
		if d.Topology == "" {
			hot += ": name the topology with -t"
		}
		hot += ")"
	}
	if len(bad) > 0 {
		errors = fmt.Sprintf("; ERRORS at %s", strings.Join(bad[:min(len(bad), 4)], ", "))
	}
	text := fmt.Sprintf("%s in %.3g s: %s%s", where, d.Seconds, hot, errors)
	if d.At != "" {
		text = d.At + " " + text
	}
	if d.Own > 0 {
		text += fmt.Sprintf("; watching takes %.2g %% of a core", 100*d.Own)
	}
	return []string{text}
}

// Shows implements table.Showing: the line above says the facts.
func (d *WatchDocument) Shows(key string) bool { return key == "ports" }
