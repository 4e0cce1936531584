package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/discover"
	"railyard/model/health"
	"railyard/model/topology"
	"railyard/model/units"
	"railyard/report"
	"railyard/study"
	"railyard/study/doctor"
)

// doctorFlags say which machine is examined, and what it should be.
type doctorFlags struct {
	Topology string `flag:"topology,t,complete={topologies},files"`
	Bundle   string `flag:"how bundle"`
	RAS      rasFlags
	Profile  profileFlag
	Format   cli.FormatFlag
	Groups   groupFlags
}

// Args are files, and directories of them.
func (f *doctorFlags) Args(*cobra.Command, []string) error { return nil }

// Run says what is wrong.
func (f *doctorFlags) Run(cmd *cobra.Command, files []string) error {
	if done, err := f.groups(cmd, files); done || err != nil {
		return err
	}
	if err := f.RAS.check(cmd); err != nil {
		return err
	}
	var e evidence
	if f.Bundle != "" {
		files = append(files, f.Bundle)
	}
	if err := e.takeAll(files); err != nil {
		return err
	}
	switch {
	case f.RAS.Address != "":
		if err := e.ask(cmd, &f.RAS); err != nil {
			return err
		}
	case len(files) == 0:
		if err := e.live(); err != nil {
			return err
		}
	}
	d, err := e.diagnose(f.Topology, f.Profile.Name)
	if err != nil {
		return err
	}
	doc := doctorDocument(d, &e)
	if err := f.Format.Emit(cmd, doc); err != nil {
		return err
	}
	switch n := doc.Faults(); {
	case n > 0:
		return fmt.Errorf("%s of what breaks jobs or costs time", units.Counted(n, "finding"))
	case !doc.Healthy:
		return errors.New("nothing could be judged: no rule's facts are known, and nothing could be predicted; --wide and the notes " +
			"say what is missing")
	case len(e.lost) > 0:
		return fmt.Errorf("%s could not be read", units.Counted(len(e.lost), "file"))
	}
	return nil
}

// diagnose judges what was read; the topology is what the machine should be, "" as its GPUs are called.
func (e *evidence) diagnose(topology, profile string) (*doctor.Diagnosis, error) {
	site := study.Site{Name: topology, Source: source}
	if err := e.judgeWords(site, profile); err != nil {
		return nil, err
	}
	return doctor.Examine(doctor.Asked{State: &e.state, Intended: site, Profile: profile, Rows: e.rows})
}

// liveEvidence is what is asked of the machine that railyard runs on, besides liveFiles.
const liveEvidence = "NVML and sysfs"

// watched is how long NVLinks and adapters are watched for the traffic of others.
const watched = 200 * time.Millisecond

// liveFiles are those of the kinds that a bundle has, where the kernel writes them.
var liveFiles = []string{"/proc/self/limits", "/proc/meminfo", "/proc/modules", "/proc/cmdline", "/proc/driver/nvidia/version"}

// live asks this machine.
func (e *evidence) live() error {
	l, err := discover.Open()
	if err != nil {
		e.state.Note("GPUs are not seen: %v", err)
		l = nil
	} else {
		defer l.Close()
	}
	if err := discover.Health(&e.state, l, "/"); err != nil {
		return err
	}
	e.read = append(e.read, report.DoctorEvidence{File: "this machine", Kind: liveEvidence})
	if l != nil {
		t, err := topology.Load(source, liveTopology, topology.Options{})
		if err != nil {
			return err
		}
		doctor.Describe(&e.state, t, liveEvidence)
	}
	if err := discover.Load(&e.state, l, "/", watched); err != nil {
		return err
	}
	if err := e.takeText("environment", []byte(strings.Join(os.Environ(), "\n"))); err != nil && !errors.As(err, new(unknownKind)) {
		return err
	}
	for _, file := range liveFiles {
		err := e.take(file)
		gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.As(err, new(unknownKind))
		if err != nil && !gone {
			return err
		}
	}
	return nil
}

func doctorDocument(d *doctor.Diagnosis, e *evidence) *report.DoctorDocument {
	words := e.judgedWords()
	out := &report.DoctorDocument{Schema: "railyard.doctor/v1", Topology: d.Topology, Assumed: d.Assumed, GPUs: d.GPUs,
		Healthy: !d.Faulty() && d.Judged+words > 0, Judged: d.Judged, Coverage: coverage(d.Coverage), Words: words,
		Setups: some(e.words.setups), Choices: some(e.words.choices), Series: some(e.words.series),
		Findings: []report.DoctorFinding{}, Unjudged: []report.DoctorUnjudged{}, Read: e.read, Collect: e.collect(),
		Notes: append([]string{}, d.Notes...)}
	for _, err := range e.lost {
		out.Notes = append(out.Notes, "not read: "+err.Error())
	}
	if d.Uncosted != "" && !out.OfJob() {
		out.Notes = append(out.Notes, "costs are not known: "+d.Uncosted)
	}
	for i := range d.Findings {
		out.Findings = append(out.Findings, doctorFinding(&d.Findings[i]))
	}
	for _, u := range d.Unjudged {
		out.Unjudged = append(out.Unjudged, report.DoctorUnjudged{Rule: u.Rule, Missing: strings.Join(u.Missing, ", ")})
	}
	return out
}

// some is a list that is none in no document.
func some[T any](list []T) []T { return append([]T{}, list...) }

// coverage says how many rules of each kind of part were judged.
func coverage(list []doctor.Coverage) string {
	var out []string
	for _, c := range list {
		out = append(out, fmt.Sprintf("%d of %d of %s", c.Judged, c.Rules, c.Of.Plural()))
	}
	return strings.Join(out, ", ")
}

func doctorFinding(f *health.Finding) report.DoctorFinding {
	out := report.DoctorFinding{Level: string(f.Level), Part: f.Part, Says: f.Says, Why: f.Why, Do: f.Do, Rule: f.Rule, Source: f.Source,
		From: strings.Join(f.From, "; ")}
	if c := f.Cost; c.Known {
		out.Share, out.Best, out.Of, out.How = &c.Share, &c.Best, c.Of, c.How
	}
	return out
}
