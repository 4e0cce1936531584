package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"railyard/interop/flightrecorder"
	"railyard/interop/foreign"
	"railyard/interop/inspector"
	"railyard/interop/kineto"
	"railyard/interop/nccllog"
	"railyard/interop/ncclprofiler"
	"railyard/interop/ncclras"
	"railyard/interop/nccltests"
	"railyard/interop/torchlog"
	"railyard/model/health"
	"railyard/model/measurement"
	"railyard/model/observed"
	"railyard/report"
	"railyard/study"
	"railyard/study/chosen"
	"railyard/study/hang"
	"railyard/study/slow"
)

// words are what running jobs say of themselves. They are judged once all files are read: what one rank says means little without the
// others.
type words struct {
	files int      // of all kinds
	dumps []string // files of flight recorders
	logs  []string // files of NCCL's logs
	rolls []*observed.Roll
	calls []observed.Call
	trace ncclprofiler.Trace // of all files of NCCL's profiler plugin
	given torchlog.Log       // collectives that PyTorch's watchdog gave up

	setups  []report.DoctorSetup // what NCCL set up, and chose, and what collectives took, once it is judged
	choices []report.DoctorChoice
	series  []report.DoctorSeries
}

// wordKind is a kind of file that a running job has written.
type wordKind struct {
	name    string
	detects func(head []byte) bool
	read    func(e *evidence, file string, r io.Reader) error
}

// wordKinds are all of them. A file is of the first kind that detects it by its first bytes.
var wordKinds = []wordKind{
	{"PyTorch's flight recorder", flightrecorder.Is, func(e *evidence, file string, _ io.Reader) error {
		e.words.dumps = append(e.words.dumps, file)
		return nil
	}},
	{"NCCL's RAS", ncclras.Is, func(e *evidence, file string, r io.Reader) error {
		roll, err := ncclras.Parse(r, file)
		e.words.rolls = append(e.words.rolls, roll)
		return err
	}},
	{"NCCL's Inspector", inspector.Is, callsOf(inspector.Parse)},
	{"PyTorch's profiler", kineto.Is, func(e *evidence, file string, r io.Reader) error {
		calls, note, err := kineto.Parse(r, file)
		e.words.calls = append(e.words.calls, calls...)
		if note != "" {
			e.state.Note("%s", note)
		}
		return err
	}},
	{"NCCL's profiler plugin", ncclprofiler.Is, func(e *evidence, file string, r io.Reader) error { return e.words.trace.Parse(r, file) }},
	{"railyard probe", measurement.AreLinks, func(e *evidence, file string, r io.Reader) error {
		rows, err := measurement.ReadLinks(r, file)
		e.rows = append(e.rows, rows...)
		return err
	}},
	{"nccl-tests -J FILE -I 1", nccltests.IsJSON, callsOf(nccltests.Calls)},
	{"NCCL_DEBUG=INFO", nccllog.Is, func(e *evidence, file string, _ io.Reader) error {
		e.words.logs = append(e.words.logs, file)
		return nil
	}},
}

func callsOf(parse func(io.Reader, string) ([]observed.Call, error)) func(*evidence, string, io.Reader) error {
	return func(e *evidence, file string, r io.Reader) error {
		calls, err := parse(r, file)
		e.words.calls = append(e.words.calls, calls...)
		return err
	}
}

// watchdog is what programs print, with the words of PyTorch's watchdog in it.
const watchdog = "PyTorch's watchdog"

func (e *evidence) takeWatchdog(file string, data []byte) error {
	if err := e.words.given.Read(bytes.NewReader(data), file); err != nil {
		return err
	}
	e.words.files++
	e.read = append(e.read, report.DoctorEvidence{File: file, Kind: watchdog})
	return nil
}

// headOfWords is how much of a file tells its kind, in bytes.
const headOfWords = 64 << 10

// takeWords reads a file of what a job says of itself; false where it is none.
func (e *evidence) takeWords(in *bufio.Reader, file string) (bool, error) {
	head, err := in.Peek(headOfWords)
	if err != nil && err != io.EOF {
		return true, fmt.Errorf("%s: %w", file, err)
	}
	i := slices.IndexFunc(wordKinds, func(k wordKind) bool { return k.detects(head) })
	if i < 0 {
		return false, nil
	}
	if err := wordKinds[i].read(e, file, in); err != nil {
		return true, fmt.Errorf("%s", oneLine(err))
	}
	e.words.files++
	e.read = append(e.read, report.DoctorEvidence{File: file, Kind: wordKinds[i].name})
	return true, nil
}

// judgeWords adds what follows from a job's own words to the findings.
func (e *evidence) judgeWords(site study.Site, profile string) error {
	recordings, err := readDumps(e.words.dumps)
	if err != nil {
		return err
	}
	if err := e.readWatchdogs(); err != nil {
		return err
	}
	if len(recordings) == 0 { // which say the same, and more
		var notes []string
		recordings, notes = e.words.given.Recordings()
		e.noteAll(notes)
	}
	found := append(hang.OfRecordings(recordings), hang.OfRolls(e.words.rolls)...)
	if len(e.words.logs) > 0 {
		log, err := readLogs(e.words.logs)
		if err != nil {
			return err
		}
		e.sayVariables(log.Variables)
		e.saySends(log.Sends)
		found = append(found, e.judgeLog(log, site, profile)...)
	}
	if log := e.words.trace.Log(); len(log.Choices) > 0 {
		found = append(found, e.judgeLog(log, site, profile)...)
	}
	calls, note := e.words.trace.Calls()
	if note != "" {
		e.state.Note("%s", note)
	}
	times := slow.Find(append(e.words.calls, calls...), slow.By(site, profile))
	e.noteAll(times.Notes)
	e.words.series = times.Series
	e.state.Findings = append(append(e.state.Findings, found...), times.Findings...)
	return nil
}

// judgeLog finds what NCCL chose, beside what was expected.
func (e *evidence) judgeLog(log *observed.Log, site study.Site, profile string) []health.Finding {
	f := chosen.Find(log, chosen.Machine{Site: site, Profile: profile})
	e.noteAll(f.Notes)
	e.words.setups, e.words.choices = append(e.words.setups, f.Setups...), append(e.words.choices, f.Choices...)
	return f.Findings
}

// hostID tells hosts apart, so that they differ in it (NCCL's user guide, NCCL_HOSTID).
const hostID = "NCCL_HOSTID"

// sayVariables adds what variables are set to; where processes differ, the first value is judged, and that is said once a variable.
func (e *evidence) sayVariables(list []observed.Variable) {
	differ := map[string]bool{hostID: true}
	for _, v := range list {
		p := e.state.Part(health.Variable, v.Name)
		first, known := p.Fact("value")
		switch {
		case !known:
			e.state.Say(p, "value", v.Value, v.Place.String())
		case first.Is != v.Value && !differ[v.Name]:
			differ[v.Name] = true
			e.state.Note("processes differ in %s: %v in %s, %s in %v; the first is judged", v.Name, first.Is, first.From, v.Value, v.Place)
		}
	}
}

// saySends adds over which adapters GPUs send, by their numbers or by their PCI addresses, where it is known how far adapters are.
func (e *evidence) saySends(list []observed.Send) {
	if len(e.state.Parts(health.Path)) == 0 {
		return
	}
	host, several := "", ""
	for _, x := range list {
		gpu := x.GPU
		for _, p := range e.state.Parts(health.GPU) {
			if x.Bus != "" && p.Text("bus") == x.Bus {
				gpu, _ = strconv.Atoi(p.Name)
			}
		}
		if gpu < 0 {
			continue
		}
		if host = cmp.Or(host, x.Host); host != x.Host {
			several = x.Host
		}
		w := e.state.PathTo(gpu, x.Adapter)
		e.state.Set(w, "taken", true, x.Place.String())
		if direct, known := w.Fact("direct"); !known || direct.Is == true { // one that is not decides
			e.state.Set(w, "direct", x.Direct, x.Place.String())
		}
	}
	if several != "" {
		e.state.Note("over which adapters GPUs of %s and %s send is judged by one machine's PCIe: it is assumed to be that of both", host,
			several)
	}
}

func (e *evidence) noteAll(notes []string) {
	for _, n := range notes {
		e.state.Note("%s", n)
	}
}

// readDumps reads the dumps of all ranks, as many at once as there are processors.
func readDumps(files []string) ([]*observed.Recording, error) {
	out := make([]*observed.Recording, len(files))
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())
	for i, file := range files {
		g.Go(func() error {
			f, err := foreign.Open(file)
			if err != nil {
				return err
			}
			defer f.Close()
			out[i], err = flightrecorder.Parse(f, file)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("%s", oneLine(err))
	}
	return out, nil
}

// readWatchdogs reads what PyTorch's watchdog has printed into NCCL's logs.
func (e *evidence) readWatchdogs() error {
	for _, file := range e.words.logs {
		f, err := foreign.Open(file)
		if err != nil {
			return err
		}
		err = e.words.given.Read(f, file)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// readLogs reads all logs of a job as one.
func readLogs(files []string) (*observed.Log, error) {
	var open []nccllog.File
	for _, file := range files {
		f, err := foreign.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		open = append(open, nccllog.File{Name: file, Reader: f})
	}
	log, err := nccllog.Parse(open...)
	if err != nil {
		return nil, fmt.Errorf("%s", oneLine(err))
	}
	return log, nil
}
