package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"railyard/interop/amdsmi"
	"railyard/interop/foreign"
	"railyard/interop/ibstat"
	"railyard/interop/linux"
	"railyard/interop/lspci"
	"railyard/interop/ncclgraph"
	"railyard/interop/nccltopo"
	"railyard/interop/nvidiasmi"
	"railyard/interop/prometheus"
	"railyard/interop/smitopo"
	"railyard/model/health"
	"railyard/model/measurement"
	"railyard/model/topology"
	"railyard/report"
	"railyard/study/doctor"
)

// evidenceKind is a kind of file that says something of a machine.
type evidenceKind struct {
	name    string // the command whose output it is, or what it is
	file    string // that a bundle should have it in; "": it is not asked for
	detects func(data []byte) bool
	read    func(s *health.State, file string, data []byte) error // adds facts, or findings; its mistakes have lines
	maker   string                                                // of the GPUs that it is of; "": of any machine
}

// evidenceKinds are all of them. A file is of the first kind that detects it.
var evidenceKinds = []evidenceKind{
	{"nvidia-smi -q -x", "nvidia-smi.xml", nvidiasmi.IsXML, nvidiasmi.ReadXML, health.NVIDIA},
	{"nvidia-smi -q", "", nvidiasmi.IsText, nvidiasmi.ReadText, health.NVIDIA},
	{"nvidia-smi nvlink -s", "nvlink-s.txt", nvidiasmi.IsRates, nvidiasmi.ReadNVLink, health.NVIDIA},
	{"nvidia-smi nvlink -e", "nvlink-e.txt", nvidiasmi.IsErrors, nvidiasmi.ReadNVLink, health.NVIDIA},
	{"nvidia-smi nvlink -gt d", "", nvidiasmi.IsTraffic, nvidiasmi.ReadNVLink, health.NVIDIA},
	{"a Prometheus exporter", "", prometheus.Is, prometheus.Read, ""},
	{"nvidia-smi topo -p2p r", "topo-p2p.txt", smitopo.IsAccess, smitopo.ReadAccess, health.NVIDIA},
	{"amd-smi topology", "amd-topology.txt", amdsmi.Begins, amdsmi.ReadHealth, health.AMD},
	{"amd-smi xgmi", "amd-xgmi.txt", amdsmi.HasLinks, amdsmi.ReadHealth, health.AMD},
	{"amd-smi metric", "amd-metric.txt", amdsmi.HasMetrics, amdsmi.ReadHealth, health.AMD},
	{"amd-smi static", "amd-static.txt", amdsmi.Is, amdsmi.ReadHealth, health.AMD},
	{"nvidia-smi topo -m", "topo-m.txt", topologyFormatNamed("topo-m").begins, readMatrix, health.NVIDIA},
	{"NCCL_TOPO_DUMP_FILE", "", topologyFormatNamed("nccl-topo").begins, readNCCL, ""},
	{"ibstat", "ibstat.txt", ibstat.Is, ibstat.Read, ""},
	{"lspci -vv", "lspci.txt", lspci.Is, lspci.Read, ""},
	{"lsmod", "lsmod.txt", linux.IsModules, linux.ReadModules, ""},
	{"ulimit -a", "ulimit.txt", linux.IsLimits, linux.ReadLimits, ""},
	{"env", "env.txt", linux.IsEnvironment, linux.ReadEnvironment, ""},
	{"taskset -pc", "taskset.txt", linux.IsAffinity, linux.ReadAffinity, ""},
	{"NCCL_GRAPH_DUMP_FILE", "", ncclgraph.Is, ncclgraph.ReadHealth, ""},
	{"cat /proc/meminfo", "meminfo.txt", linux.IsMemory, linux.ReadMemory, ""},
	{"cat /proc/cmdline", "cmdline.txt", linux.IsCommandLine, linux.ReadCommandLine, ""},
	{"cat /proc/driver/nvidia/version", "driver.txt", linux.IsDriver, linux.ReadDriver, health.NVIDIA},
	{"railyard discover", "", topologyHead.Match, readTopology, ""},
}

var topologyHead = regexp.MustCompile(`(?m)^schema:\s*` + regexp.QuoteMeta(topology.Schema))

func readMatrix(s *health.State, file string, data []byte) error {
	m, err := smitopo.Read(bytes.NewReader(data))
	if err == nil {
		m.Say(s, file)
	}
	return err
}

func readNCCL(s *health.State, file string, data []byte) error {
	x, err := nccltopo.Read(bytes.NewReader(data))
	if err != nil {
		return err
	}
	n, err := x.Node()
	if err == nil {
		s.SayNode(n, file)
	}
	return err
}

func readTopology(s *health.State, file string, data []byte) error {
	t, err := topology.Parse(file, data, source, topology.Options{})
	if err == nil {
		err = describeTo(s, t, file)
	}
	return err
}

// describeTo adds what a topology says of its one node.
func describeTo(s *health.State, t *topology.Topology, from string) error {
	if n := t.NumNodes(); n != 1 {
		return fmt.Errorf("%d nodes: a machine is one node", n)
	}
	doctor.Describe(s, t, from)
	return nil
}

// maxEvidence is the largest file that is read, in MiB.
const maxEvidence = 64

// evidence is what is known of a machine, and from which files.
type evidence struct {
	state health.State
	read  []report.DoctorEvidence
	lost  []error // why files could not be read
	words words
	rows  []measurement.Link // that probe measured
}

// unknownKind is the error of a file that is of none of the kinds.
type unknownKind struct {
	file  string
	empty bool   // as of a command that had nothing to say, or failed
	other string // what another command reads it as
}

func (e unknownKind) Error() string {
	if e.empty {
		return e.file + ": empty: run the command that was to fill it again, and see what it says"
	}
	if e.other != "" {
		return fmt.Sprintf("%s: %s, of which nothing is judged here: railyard import reads it", e.file, e.other)
	}
	return e.file + ": of no kind that is known here: railyard doctor --help lists those that are"
}

func evidenceNames() (names []string) {
	for _, k := range evidenceKinds {
		names = append(names, k.name)
	}
	for _, k := range wordKinds {
		names = append(names, k.name)
	}
	for _, k := range printedKinds {
		if !slices.Contains(names, k.name) {
			names = append(names, k.name)
		}
	}
	return names
}

// takeAll reads files, and those of directories. What cannot be read is kept for the report, as the others may say enough; that none could
// be, or that a file is not there, is an error.
func (e *evidence) takeAll(files []string) error {
	for _, file := range files {
		info, err := os.Stat(file)
		switch {
		case err != nil:
			return err
		case info.IsDir():
			err = e.bundle(file)
		default:
			err = e.take(file)
		}
		if err != nil {
			e.lose(file, err)
		}
	}
	return e.nothing()
}

// lose takes a file for one that says nothing.
func (e *evidence) lose(file string, err error) {
	e.lost = append(e.lost, err)
	e.read = slices.DeleteFunc(e.read, func(r report.DoctorEvidence) bool { return r.File == file })
}

// nothing is why nothing could be read, nil where something was or nothing was given.
func (e *evidence) nothing() error {
	if len(e.read) == 0 && len(e.lost) > 0 {
		return e.lost[0]
	}
	return nil
}

// take reads a file.
func (e *evidence) take(file string) error {
	f, err := foreign.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, headOfWords)
	if known, err := e.takeWords(in, file); known {
		return err
	}
	data, err := foreign.Read(in, maxEvidence)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return e.takeText(file, data)
}

func (e *evidence) takeText(file string, data []byte) error {
	if format := importedAs(data); format != "" {
		return unknownKind{file: file, other: format}
	}
	i := slices.IndexFunc(evidenceKinds, func(k evidenceKind) bool { return k.detects(data) })
	if i < 0 {
		return e.takePrinted(file, data)
	}
	if err := evidenceKinds[i].read(&e.state, file, data); err != nil {
		return fmt.Errorf("%s: %s", file, oneLine(err))
	}
	e.read = append(e.read, report.DoctorEvidence{File: file, Kind: evidenceKinds[i].name})
	return nil
}

// takePrinted reads what a program has printed, as all kinds that it is of.
func (e *evidence) takePrinted(file string, data []byte) error {
	known := false
	for i := range printedKinds {
		if k := &printedKinds[i]; k.detects(data) {
			known = true
			if err := e.takeKind(k, file, bytes.NewReader(data)); err != nil {
				return err
			}
		}
	}
	if !known {
		return unknownKind{file: file, empty: len(bytes.TrimSpace(data)) == 0}
	}
	return nil
}

// bundle reads all files of a directory; those of unknown kinds are named.
func (e *evidence) bundle(dir string) error {
	var unknown, empty []string
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		var kind unknownKind
		switch err = e.take(file); {
		case err == nil:
		case !errors.As(err, &kind):
			e.lose(file, err)
		case kind.empty:
			empty = append(empty, file)
		default:
			unknown = append(unknown, file)
		}
		return nil
	})
	if len(empty) > 0 {
		e.state.Note("empty: %s", strings.Join(empty, ", "))
	}
	if len(unknown) > 0 {
		e.state.Note("not read, as of no kind that is known here: %s", strings.Join(unknown, ", "))
	}
	if err == nil && len(e.read)+len(e.lost) == 0 {
		err = fmt.Errorf("%s: there is no file of a kind that is known here; railyard doctor --help says how to make one", dir)
	}
	return err
}

// oneLine is the first of an error's mistakes, with how many more there are.
func oneLine(err error) string {
	first, rest, more := strings.Cut(err.Error(), "\n")
	if more {
		first += fmt.Sprintf(" (and %d more)", 1+strings.Count(rest, "\n"))
	}
	return first
}

// collects are commands that are more than the name of a kind: one wants root, one the processes that compute while they run, and an
// environment has what is nobody's business.
var collects = map[string]string{"lspci -vv": "sudo lspci -vv",
	"taskset -pc": "nvidia-smi --query-compute-apps=pid --format=csv,noheader | xargs -rn1 taskset -pc",
	"env":         "env | grep -E '^(PATH|OMP_NUM_THREADS|NCCL_|TORCH_NCCL_|CUDA_|UCX_|FI_)'"}

// collect are the commands of kinds that were not read; none where only a job was asked about.
func (e *evidence) collect() []string {
	out := []string{}
	if !slices.ContainsFunc(e.read, func(r report.DoctorEvidence) bool { _, word := wordOf(r); return !word }) {
		return out
	}
	others := e.otherMaker()
	for _, k := range evidenceKinds {
		was := func(r report.DoctorEvidence) bool {
			return r.Kind == liveEvidence || strings.TrimSuffix(k.name, " -x") == strings.TrimSuffix(r.Kind, " -x")
		}
		if k.file != "" && k.maker != others && !slices.ContainsFunc(e.read, was) {
			out = append(out, cmp.Or(collects[k.name], k.name)+" > "+k.file)
		}
	}
	return out
}

// otherMaker is the one whose GPUs the machine does not have, by what was read of it: AMD where nothing says.
func (e *evidence) otherMaker() string {
	made := func(maker string) bool {
		return slices.ContainsFunc(e.read, func(r report.DoctorEvidence) bool {
			return slices.ContainsFunc(evidenceKinds, func(k evidenceKind) bool { return k.name == r.Kind && k.maker == maker })
		})
	}
	if made(health.AMD) && !made(health.NVIDIA) {
		return health.NVIDIA
	}
	return health.AMD
}
