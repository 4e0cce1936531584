package slurm

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"text/template"

	"railyard/interop/foreign"
	"railyard/model/topology"
)

//go:embed job.sh.tmpl
var jobText string

var jobTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("job").Funcs(template.FuncMap{"quote": foreign.Quote, "line": foreign.OneLine}).Parse(jobText))
})

// Job is a batch script that runs a command on all GPUs of a topology.
type Job struct {
	Title    string // what it was made of
	Topology *topology.Topology
	Settings []foreign.Setting
	Notes    []string
}

// jobFields are what the script says.
type jobFields struct {
	Job
	Nodes, GPUs, Switches int    // Switches 0: not known
	Whole                 bool   // all GPUs of each node
	Bind                  string // NUMA node of each rank of a node; "" where there is one
}

// Write writes the script; sbatch takes the command behind it.
func (j Job) Write(w io.Writer) error {
	t := j.Topology
	f := jobFields{Job: j, Nodes: t.NumNodes(), GPUs: t.NumRanks() / t.NumNodes(), Switches: leaves(t)}
	if f.GPUs*f.Nodes != t.NumRanks() {
		return fmt.Errorf("%s: its nodes have different numbers of GPUs, and srun starts equally many tasks on each", t.Name())
	}
	inFirst := 0
	for _, d := range t.Devices() {
		if d.Kind == topology.GPU && d.Node == 0 {
			inFirst++
		}
	}
	f.Whole, f.Bind = inFirst == f.GPUs, binding(t, f.GPUs)
	b := bufio.NewWriter(w)
	return errors.Join(jobTemplate().Execute(b, f), b.Flush())
}

// leaves are the leaf switches that the nodes stand under; 0 without a network.
func leaves(t *topology.Topology) int {
	if t.NumNodes() < 2 {
		return 0
	}
	if tiers := t.Tiers(); len(tiers) > 1 {
		return tiers[1].Groups
	}
	return 1
}

// binding is the NUMA node of each GPU of the first node; "" where all have the same.
func binding(t *topology.Topology, gpus int) string {
	router := topology.NewRouter(t)
	var numbers []string
	differ := false
	for rank := range gpus {
		cpus := router.NearestCPUs(t.Ranks()[rank])
		if len(cpus) == 0 {
			return ""
		}
		numbers = append(numbers, fmt.Sprint(router.NUMA(cpus[0])))
		differ = differ || numbers[rank] != numbers[0]
	}
	if !differ {
		return ""
	}
	return strings.Join(numbers, ",")
}
