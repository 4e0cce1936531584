// Package kubernetes writes what Kubernetes and Kueue are told about a network, and about a job on it.
package kubernetes

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"

	"railyard/internal/lazy"
	"railyard/interop/foreign"
	"railyard/model/survey"
	"railyard/model/topology"
)

// Node labels as Topograph sets them: tier-0 is the nearest switch; GPUs of a domain share NVSwitches.
const (
	tierLabel   = "fabric.topograph.run/tier-"
	domainLabel = "accelerator.topograph.run/domain"
	hostLabel   = "kubernetes.io/hostname"
)

// Levels are the labels of a topology's levels of locality, widest first.
func Levels(t *topology.Topology) (labels []string) {
	labels = []string{hostLabel}
	if domains, _ := t.ScaleUpDomains(); slices.Max(domains)+1 < t.NumNodes() {
		labels = append(labels, domainLabel)
	}
	for i := range len(t.Tiers()) { // of which the first are the nodes, and the last is what joins all
		if t.NumNodes() > 1 {
			labels = append(labels, tierLabel+strconv.Itoa(i))
		}
	}
	slices.Reverse(labels)
	return labels
}

//go:embed topology.yaml.tmpl
var topologyText string

//go:embed job.yaml.tmpl
var jobText string

var forms = sync.OnceValue(func() *template.Template {
	return template.Must(template.Must(template.New("topology").Funcs(template.FuncMap{"line": foreign.OneLine, "quote": strconv.Quote}).
		Parse(topologyText)).New("job").Parse(jobText))
})

// WriteTopology writes a topology's levels as Kueue's Topology.
func WriteTopology(w io.Writer, t *topology.Topology) error {
	return write(w, "topology", struct {
		Name   string
		Levels []string
	}{Name(t.Name()), Levels(t)})
}

func write(w io.Writer, form string, what any) error {
	b := bufio.NewWriter(w)
	return errors.Join(forms().ExecuteTemplate(b, form, what), b.Flush())
}

// Job is an indexed Job with a pod for each node of a topology.
type Job struct {
	Title          string // what it was made of
	Topology       *topology.Topology
	Image, Command string
	Settings       []foreign.Setting
}

// Write writes the Job, with the headless Service that gives its first pod a name.
func (j Job) Write(w io.Writer) error {
	t := j.Topology
	gpus := t.NumRanks() / t.NumNodes()
	switch {
	case j.Image == "" || j.Command == "":
		return errors.New("a Job needs --how image=…,command=…: the container and what it runs")
	case gpus*t.NumNodes() != t.NumRanks():
		return fmt.Errorf("%s: its nodes have different numbers of GPUs, and the pods of a Job are all the same", t.Name())
	}
	within := "" // the widest label that all nodes share
	if labels := Levels(t); t.NumNodes() > 1 {
		within = labels[0]
	}
	return write(w, "job", struct {
		Job
		Name, Within string
		Resource     string
		Nodes, GPUs  int
	}{j, Name(t.Name()), within, resource(t), t.NumNodes(), gpus})
}

// resource is what the GPUs are called by the device plugin of their maker.
func resource(t *topology.Topology) string {
	if m := t.Devices()[t.Ranks()[0]].Model; m >= 0 && survey.IsAMD(t.Models()[m].Name) {
		return "amd.com/gpu"
	}
	return "nvidia.com/gpu"
}

var notInNames = lazy.Regexp(`[^a-z0-9]+`)

// Name is a text as Kubernetes takes names: small letters, digits and dashes.
func Name(text string) string {
	name := strings.Trim(notInNames().ReplaceAllString(strings.ToLower(text), "-"), "-")
	if name = strings.Trim(name[:min(len(name), 50)], "-"); name == "" {
		return "topology"
	}
	return name
}
