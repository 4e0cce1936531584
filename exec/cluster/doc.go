// Package cluster is the control plane of a run over several processes and nodes: who is
// rank what and where rank 0 listens (Detect), who may come in (Secret), that all run the
// same (Hello), that all are there (Join) and stay there (Group), and one reason for an end
// that every rank hears.
//
// Control connections form a star: every rank holds one to rank 0, TLS 1.3, both ends pinned
// to a key derived from a secret that they share. Frames are bounded, heartbeats go both
// ways, whoever has said nothing for Options.Dead is lost, and whoever is lost ends the run on all
// ranks with the same line. Bulk data takes other ways (exec/net); what goes here is small:
// addresses, measured times, reasons.
package cluster
