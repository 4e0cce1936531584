package main

import (
	"bufio"
	"cmp"
	"errors"
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
	"railyard/model/topology"
	"railyard/report"
	"railyard/study"
	"railyard/study/chosen"
	"railyard/study/doctor"
	"railyard/study/hang"
	"railyard/study/measured"
	"railyard/study/slow"
)

// words are what running jobs say of themselves. They are judged once all files are read: what one rank says means little without the
// others.
type words struct {
	dumps []string // files of flight recorders
	logs  []string // files of NCCL's logs
	rolls []*observed.Roll
	calls []observed.Call
	trace ncclprofiler.Trace // of all files of NCCL's profiler plugin
	given torchlog.Log       // collectives that PyTorch's watchdog gave up
	tests []*measurement.Set // results of nccl-tests

	setups  []report.DoctorSetup // what NCCL set up, and chose, and what collectives took, once it is judged
	choices []report.DoctorChoice
	series  []report.DoctorSeries
	timed   bool // something could be said of how long collectives take
}

// wordKind is a kind of file that a running job has written.
type wordKind struct {
	name    string
	detects func(head []byte) bool
	read    func(e *evidence, file string, r io.Reader) error
	times   bool // it says how long collectives took, and nothing else
}

// wordKinds are all of them. A file is of the first kind that detects it by its first bytes.
var wordKinds = []wordKind{
	{"PyTorch's flight recorder", flightrecorder.Is, func(e *evidence, file string, _ io.Reader) error {
		e.words.dumps = append(e.words.dumps, file)
		return nil
	}, false},
	{rasKind, ncclras.IsJSON, readRolls, false},
	{"NCCL's Inspector", inspector.Is, callsOf(inspector.Parse), true},
	{"PyTorch's profiler", kineto.Is, func(e *evidence, file string, r io.Reader) error {
		calls, note, err := kineto.Parse(r, file)
		e.words.calls = append(e.words.calls, calls...)
		if note != "" {
			e.state.Note("%s", note)
		}
		return err
	}, true},
	{"NCCL's profiler plugin", ncclprofiler.Is, func(e *evidence, file string, r io.Reader) error {
		return e.words.trace.Parse(r, file)
	}, true},
	{"railyard probe", measurement.AreLinks, func(e *evidence, file string, r io.Reader) error {
		rows, err := measurement.ReadLinks(r, file)
		e.rows = append(e.rows, rows...)
		return err
	}, false},
	{"nccl-tests -J FILE -I 1", nccltests.IsJSON, callsOf(nccltests.Calls), true},
	{"NCCL_DEBUG=INFO", nccllog.Is, func(e *evidence, file string, _ io.Reader) error {
		e.words.logs = append(e.words.logs, file)
		return nil
	}, false},
}

func callsOf(parse func(io.Reader, string) ([]observed.Call, error)) func(*evidence, string, io.Reader) error {
	return func(e *evidence, file string, r io.Reader) error {
		calls, err := parse(r, file)
		e.words.calls = append(e.words.calls, calls...)
		return err
	}
}

func readRolls(e *evidence, file string, r io.Reader) error {
	rolls, err := ncclras.Parse(r, file)
	e.words.rolls = append(e.words.rolls, rolls...)
	return err
}

const (
	rasKind   = "NCCL's RAS"
	testsKind = "nccl-tests"
)

// printedKinds are those that stand anywhere in what programs print, among one another and among NCCL's own words too.
var printedKinds = []wordKind{
	{rasKind, ncclras.IsText, readRolls, false},
	{"PyTorch's watchdog", torchlog.Is, func(e *evidence, file string, r io.Reader) error { return e.words.given.Read(r, file) }, false},
	{testsKind, nccltests.Is, func(e *evidence, file string, r io.Reader) error {
		set, err := nccltests.ParseText(r, file, "")
		if err != nil {
			return err
		}
		e.words.tests = append(e.words.tests, set)
		for _, x := range set.Failures[:min(len(set.Failures), 1)] { // the others follow from it
			e.state.Findings = append(e.state.Findings, health.Finding{Rule: "nccl-tests/failed", Level: health.Broken, Part: file,
				Says: fmt.Sprintf("failed at line %d: %s", x.Line, x.Says), Why: "what it would have measured is missing",
				Do:     "run it again with NCCL_DEBUG=INFO, and look at what the first rank that fails says",
				Source: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting/gpu_troubleshooting.html",
				From:   []string{file}})
		}
		for _, m := range set.Rows[:min(len(set.Rows), 1)] {
			for gpu := range m.GPUs / max(m.Nodes, 1) {
				if m.GPU != "" {
					e.state.Say(e.state.GPU(gpu), "product", m.GPU, file)
				}
			}
		}
		return nil
	}, true},
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
	return true, e.takeKind(&wordKinds[i], file, in)
}

func (e *evidence) takeKind(k *wordKind, file string, r io.Reader) error {
	if err := k.read(e, file, r); err != nil {
		return fmt.Errorf("%s", oneLine(err))
	}
	e.read = append(e.read, report.DoctorEvidence{File: file, Kind: k.name})
	return nil
}

// judgeWords adds what follows from a job's own words to the findings.
func (e *evidence) judgeWords(site study.Site, profile string) error {
	recordings, log := e.readDumps(), e.readLogs()
	if len(recordings) == 0 { // which say the same, and more
		var notes []string
		recordings, notes = e.words.given.Recordings()
		e.noteAll(notes)
	}
	found := append(hang.OfRecordings(recordings), hang.OfRolls(e.words.rolls)...)
	if len(recordings) == 0 {
		found = append(found, hang.OfTimeouts(e.words.given.Timeouts())...)
	}
	if log != nil {
		e.sayVariables(log.Variables)
		e.saySends(log.Sends)
		found = append(found, e.judgeLog(log, site, profile)...)
	}
	if log := e.words.trace.Log(); len(log.Choices) > 0 {
		found = append(found, e.judgeLog(log, site, profile)...)
	}
	calls, notes := e.words.trace.Calls()
	e.noteAll(notes)
	tests, expect, err := e.tests(site, profile)
	if err != nil {
		return err
	}
	times := slow.Find(slices.Concat(e.words.calls, calls, tests), expect)
	e.noteAll(times.Notes)
	e.words.series, e.words.timed = times.Series, times.Judged > 0
	e.state.Findings = append(append(e.state.Findings, found...), times.Findings...)
	return e.nothing()
}

// tests are the results of nccl-tests as calls, of which each stands for many, with what predicts them as compare does, and all others.
func (e *evidence) tests(site study.Site, profile string) (calls []observed.Call, expect slow.Expect, err error) {
	others := slow.By(site, profile)
	if len(e.words.tests) == 0 {
		return nil, others, nil
	}
	rows, all, predict := map[observed.Place]measurement.Row{}, []measurement.Row(nil), report.Predictor(nil)
	for _, set := range e.words.tests {
		all = append(all, set.Rows...)
		for _, m := range set.Rows {
			at := observed.Place{File: set.File, Line: m.Line}
			if m.Unusable != "" || m.GPUs == 0 {
				e.state.Note("%v is not judged: %s", at, cmp.Or(m.Unusable, "nothing says of how many ranks it is"))
				continue
			}
			rows[at] = m
			calls = append(calls, observed.Call{Place: at, Group: "nccl-tests", Rank: -1, Ranks: m.GPUs, Nodes: m.Nodes, Kind: m.Collective,
				Size: m.Size, Seq: -1, Time: m.Time, Mean: true})
		}
	}
	known := site.Name != ""
	if !known {
		site.Name = doctor.Assumed(&e.state)
	}
	if site.Name != "" {
		if predict, err = predictTests(site, profile, all); err != nil {
			return nil, nil, err
		}
	}
	return calls, func(c *observed.Call) (slow.Expected, error) {
		m, isTest := rows[c.Place]
		switch {
		case !isTest || predict == nil:
			return others(c)
		case !known && c.Nodes > 1:
			return slow.Expected{}, errors.New("what joins its nodes is not known: name the topology of a node, or of the cluster, with -t")
		}
		x, err := predict(m)
		return slow.Expected{Time: x.Time, High: x.High, How: "expected as " + x.Schedule + " by profile " + x.Profile}, err
	}, nil
}

// predictTests predicts rows as compare does.
func predictTests(site study.Site, profile string, rows []measurement.Row) (report.Predictor, error) {
	t, err := site.Load()
	if err != nil {
		return nil, err
	}
	p, err := (&profileFlag{Name: profile}).ran(t)
	if err != nil {
		return nil, err
	}
	c := measured.NewCases(func(nodes, gpus int) (*topology.Topology, error) { return site.Part(nodes, gpus/max(nodes, 1)) }, p)
	c.Floors = c.AutoFloors(rows)
	return c.Predict, nil
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

// judgedWords is how many files of a job's own words were judged: of those that only say how long collectives took, all where something
// could be said of that.
func (e *evidence) judgedWords() int {
	files := map[string]bool{}
	for _, r := range e.read {
		if of, word := wordOf(r); word && (e.words.timed || !of.times) {
			files[r.File] = true
		}
	}
	return len(files)
}

// wordOf is the kind of a job's own words that a file is; false where it is of a machine.
func wordOf(r report.DoctorEvidence) (wordKind, bool) {
	for _, k := range slices.Concat(wordKinds, printedKinds) {
		if k.name == r.Kind {
			return k, true
		}
	}
	return wordKind{}, false
}

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
func (e *evidence) readDumps() (out []*observed.Recording) {
	read, errs := make([]*observed.Recording, len(e.words.dumps)), make([]error, len(e.words.dumps))
	var g errgroup.Group
	g.SetLimit(runtime.NumCPU())
	for i, file := range e.words.dumps {
		g.Go(func() error {
			errs[i] = opened(file, func(r io.Reader) (err error) {
				read[i], err = flightrecorder.Parse(r, file)
				return err
			})
			return nil
		})
	}
	_ = g.Wait() // each has its own error
	for i, err := range errs {
		if err != nil {
			e.lose(e.words.dumps[i], err)
			continue
		}
		out = append(out, read[i])
	}
	return out
}

// opened reads a file whose mistakes are one line.
func opened(file string, read func(io.Reader) error) error {
	f, err := foreign.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := read(f); err != nil {
		return errors.New(oneLine(err))
	}
	return nil
}

// readLogs reads all of NCCL's logs of a job as one, with what else was printed into them; nil where there is none.
func (e *evidence) readLogs() *observed.Log {
	log, err := parseLogs(e.words.logs)
	if err != nil { // which is in one of them or in several
		e.words.logs = slices.DeleteFunc(e.words.logs, func(file string) bool {
			_, err := parseLogs([]string{file})
			if err != nil {
				e.lose(file, err)
			}
			return err != nil
		})
		if log, err = parseLogs(e.words.logs); err != nil {
			e.lost = append(e.lost, err)
			return nil
		}
	}
	for _, file := range e.words.logs {
		for _, k := range printedKinds {
			err := opened(file, func(r io.Reader) error {
				if err := k.read(e, file, r); !errors.Is(err, nccltests.ErrNone) && !errors.Is(err, ncclras.ErrNone) {
					return err
				}
				return nil
			})
			if err != nil {
				e.state.Note("of %s's words in it: %v", k.name, err)
			}
		}
	}
	return log
}

// parseLogs reads logs as one; nil where there are none.
func parseLogs(files []string) (*observed.Log, error) {
	if len(files) == 0 {
		return nil, nil
	}
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
		return nil, errors.New(oneLine(err))
	}
	return log, nil
}
