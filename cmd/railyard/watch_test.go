package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"railyard/interop/prometheus"
	"railyard/model/health"
	"railyard/model/load"
	"railyard/model/topology"
	"railyard/report"
	"railyard/report/metrics"
	"railyard/topologies"
)

// fakeCounters are those of a DGX-1 whose GPUs know where their NVLinks lead; of each sample, links carry shares of their rate more.
type fakeCounters struct {
	t       *topology.Topology
	shares  func(sample int) map[string]float64 // by link
	samples int
	sent    map[string]float64
	fails   error
}

// Next implements load.Source: a second after the one before, without waiting for it.
func (f *fakeCounters) Next(context.Context) (load.Sample, error) {
	if f.fails != nil {
		return load.Sample{}, f.fails
	}
	s := load.Sample{At: time.Unix(1e9+int64(f.samples), 0), State: &health.State{}}
	shares := f.shares(f.samples)
	f.samples++
	for r, d := range f.t.Ranks() {
		s.State.Say(s.State.GPU(r), "bus", fmt.Sprintf("0000:%02x:00.0", r), "")
		s.State.Say(s.State.GPU(r), "utilization", 50.0, "")
		for i, l := range f.t.Out(d) {
			x := f.t.Links()[l]
			to := f.t.RankOf(x.To)
			if f.t.Class(l).Medium != topology.NVLink {
				continue
			}
			name := f.t.LinkName(l)
			f.sent[name] += shares[name] * float64(f.t.Rate(l))
			p := s.State.Part(health.NVLink, fmt.Sprintf("%d/%d", r, i))
			s.State.Say(p, "sent", f.sent[name], "")
			s.State.Say(p, "received", 0.0, "")
			s.State.Say(p, "replays", float64(f.samples*r), "")
			s.State.Say(p, "to", fmt.Sprintf("0000:%02x:00.0", to), "")
		}
	}
	return s, nil
}

// onFakes has everybody count with fakes; the topology is that of a DGX-1.
func onFakes(t *testing.T, shares func(sample int) map[string]float64) *fakeCounters {
	topo, err := topology.Load(topologies.Source, "dgx1-v100", topology.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeCounters{t: topo, shares: shares, sent: map[string]float64{}}
	real, rest := openCounters, loadRest
	openCounters = func(time.Duration, float64) (load.Source, io.Closer, error) { return f, closing(func() {}), nil }
	loadRest = 0
	t.Cleanup(func() { openCounters, loadRest = real, rest })
	return f
}

func always(shares map[string]float64) func(int) map[string]float64 {
	return func(int) map[string]float64 { return shares }
}

// TestWatchFindsHotLinks: what the counters say stands in the document, in the load file and in the recording.
func TestWatchFindsHotLinks(t *testing.T) {
	onFakes(t, always(map[string]float64{"gpu2->gpu6": 0.75, "gpu0->gpu1": 0.25}))
	dir := t.TempDir()
	file, record := filepath.Join(dir, "load.json"), filepath.Join(dir, "samples.jsonl")
	args := []string{"watch", "-t", "dgx1-v100", "-n", "3", "--format", "json", "-o", file, "--how", "record=" + record}
	check := func(args []string) {
		dec := json.NewDecoder(strings.NewReader(answered(t, args)))
		for range 3 {
			var d report.WatchDocument
			if err := dec.Decode(&d); err != nil {
				t.Fatal(err)
			}
			p := d.Ports[0]
			if d.Hot != 1 || p.Links != "gpu2->gpu6" || !p.Hot || p.Load != 0.75 || p.Errors != "replays 2" || d.Ports[1].Load != 0.25 {
				t.Errorf("%+v", d)
			}
		}
	}
	check(args)
	list, err := parseLoads([]byte(read(t, file)))
	if err != nil {
		t.Fatal(err)
	}
	loads := map[string]float64{}
	for _, b := range list {
		loads[b.Link] += b.Utilisation
	}
	if loads["gpu2->gpu6"] != 0.75 || loads["gpu0->gpu1"] != 0.25 || loads["gpu6->gpu2"] != 0 || len(loads) != 32 {
		t.Errorf("%v", loads)
	}
	check([]string{"watch", record, "-t", "dgx1-v100", "--format", "json"})
}

// TestPlanAvoidsHotLinksOfTheLiveMachine: a plan for the live load is no slower there than the plan of the idle machine, and faster
// where that goes over the hot link.
func TestPlanAvoidsHotLinksOfTheLiveMachine(t *testing.T) {
	onFakes(t, always(map[string]float64{"gpu0->gpu3": 0.9, "gpu3->gpu0": 0.9}))
	type document struct {
		Rows []struct {
			TimeUS float64 `json:"time_us"`
			IdleUS float64 `json:"idle_us"`
		} `json:"rows"`
	}
	ask := func(load string) (d document) {
		args := []string{"plan", "-t", "dgx1-v100", "-c", "all_gather", "-s", "256M", "--profile", "ideal", "--format", "json", "--load",
			load}
		if err := json.Unmarshal([]byte(answered(t, args)), &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	live := ask("live")
	file := filepath.Join(t.TempDir(), "load.json")
	answered(t, []string{"watch", "-t", "dgx1-v100", "-n", "1", "-o", file})
	if of := ask(file); live.Rows[0] != of.Rows[0] {
		t.Errorf("live %+v, by watch's file %+v", live.Rows[0], of.Rows[0])
	}
	// The rings of the idle machine would go at the pace of the link, a tenth: 15.66 ms.
	if r := live.Rows[0]; r.TimeUS > 2*r.IdleUS || r.TimeUS <= r.IdleUS {
		t.Errorf("%+v", r)
	}
	if half := ask("live@0.5").Rows[0]; half.TimeUS >= live.Rows[0].TimeUS {
		t.Errorf("half of the load: %+v", half)
	}
}

// TestRunPlansAgain: between repetitions, where the load has changed by more than the threshold and only there; what was planned is shown
// with what is planned now, and both with what they took.
func TestRunPlansAgain(t *testing.T) {
	hot := map[string]float64{"gpu0->gpu3": 0.9, "gpu3->gpu0": 0.9}
	slight := map[string]float64{"gpu0->gpu3": 0.85, "gpu3->gpu0": 0.85}
	byMeasurement := []map[string]float64{nil, nil, hot, slight} // before each of four repetitions
	onFakes(t, func(sample int) map[string]float64 { return byMeasurement[min(sample/2, 3)] })
	dir := filepath.Join(t.TempDir(), "results")
	args := []string{"run", "-t", "dgx1-v100", "-c", "all_gather", "-s", "1M", "-n", "2", "-w", "0", "--load", "live", "--repeat", "4",
		"--how", "replan=0.1", "-o", dir, "--profile", "ideal"}
	text := answered(t, args)
	if !regexp.MustCompile(`(?m)^# Before repetition 3  : the load has changed: gpu0->gpu3 0 % → 90 %, gpu3->gpu0 0 % → 90 %$`).MatchString(text) ||
		strings.Count(text, "the load has changed") != 1 {
		t.Error(text)
	}
	var d report.RunDocument
	if err := json.Unmarshal([]byte(read(t, filepath.Join(dir, "run.json"))), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Rows) != 4 || len(d.Replans) != 1 {
		t.Fatalf("%d rows, %+v", len(d.Rows), d.Replans)
	}
	x := d.Replans[0]
	if x.Repetition != 3 || x.Before != d.Rows[1].Schedule || x.After != d.Rows[2].Schedule || x.Before == x.After ||
		x.PredictedUS != d.Rows[2].PredictedUS || x.PredictedUS >= x.KeptUS || x.KeptUS <= d.Rows[0].PredictedUS {
		t.Errorf("%+v of %+v", x, d.Rows)
	}
	for i, r := range d.Rows {
		if r.Repetition != i+1 || r.Wrong != 0 || (r.Schedule == d.Rows[0].Schedule) != (i < 2) {
			t.Errorf("%+v", r)
		}
	}
	if plans, err := filepath.Glob(filepath.Join(dir, "schedule-*.json")); err != nil || len(plans) != 2 {
		t.Errorf("%v, %v", plans, err)
	}
}

// TestLiveLoadsThatCannotBe say so.
func TestLiveLoadsThatCannotBe(t *testing.T) {
	f := onFakes(t, always(nil))
	for args, want := range map[string]string{
		"plan -t superpod-h100 --nodes 4 -c all_reduce -s 1M --load live": "--load live is of this machine alone, and " +
			"superpod-h100 has 4 nodes",
		"watch -t dgx1-v100 --how node=1 -n 1":                                       "dgx1-v100 has nodes 0 to 0",
		"watch -t dgx1-v100 --how hot=1.5":                                           "must be a share of the line rate",
		"watch -t dgx1-v100 --how interval=1us":                                      "must be at least 10ms",
		"watch -t dgx1-v100 --format csv":                                            "give -n 1",
		"watch -t dgx1-v100 -n 1 --how listen=300.0.0.1:x":                           "--how listen",
		"run -t dgx1-v100 -c all_gather -s 1M --how replan=0.2":                      "replan has no effect without --load and --repeat",
		"run -t dgx1-v100 -c all_gather -s 1M --load live --repeat 2 --how replan=2": "must be a share",
		"run -t dgx1-v100 -c all_gather -s 1M --load live --repeat 2 --how blocks=4": "blocks has no effect without --backend cuda",
	} {
		var out, complaints bytes.Buffer
		if code := run(strings.Fields(args), &out, &complaints); code != 2 && !strings.Contains(args, "listen") ||
			!strings.Contains(complaints.String(), want) {
			t.Errorf("%s: %d, %s", args, code, complaints.String())
		}
	}
	f.fails = errors.New("GPU is lost")
	var out, complaints bytes.Buffer
	if code := run(strings.Fields("plan -t dgx1-v100 -c all_reduce -s 1M --load live"), &out, &complaints); code != 1 ||
		!strings.Contains(complaints.String(), "--load live: GPU is lost") {
		t.Errorf("%d, %s", code, complaints.String())
	}
}

// served is what Prometheus fetches after a measurement of a machine on which every fact is known.
func served(t *testing.T) string {
	t.Helper()
	sample := func(at int64, grown float64) load.Sample {
		s := load.Sample{At: time.Unix(at, 0), State: &health.State{}}
		for kind, name := range map[health.Kind]string{health.Host: "", health.GPU: "0", health.NVLink: "0/3", health.NIC: "mlx5_0"} {
			for _, f := range health.FactsOf(kind) {
				values := map[health.Type]any{health.Number: grown, health.YesNo: true, health.Text: "x"}
				s.State.Say(s.State.Part(kind, name), f.Name, values[f.Type], "")
			}
		}
		return s
	}
	m, err := load.Between(sample(1e9, 1000), sample(1e9+2, 3000))
	if err != nil {
		t.Fatal(err)
	}
	p := metrics.NewPage()
	get := func() string {
		answer := httptest.NewRecorder()
		p.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if answer.Code != http.StatusOK {
			t.Fatal(answer.Body)
		}
		return answer.Body.String()
	}
	get() // before there is anything
	p.Set(m, []load.Link{{Name: "gpu0->gpu1", Class: "nvlink2", Carry: 20e9, Rate: 25e9}}, 0.5)
	return get()
}

// TestMetrics: all facts but counters that go round too soon are there under base units, with help; loads of
// links too; and watch reads what it serves.
func TestMetrics(t *testing.T) {
	text := served(t)
	for _, want := range []string{
		"# HELP railyard_nvlink_sent_bytes_total NVLinks: payload sent.\n# TYPE railyard_nvlink_sent_bytes_total counter\n" +
			`railyard_nvlink_sent_bytes_total{gpu="0",port="3"} 3000`,
		"# TYPE railyard_gpu_clock_hertz gauge\n" + `railyard_gpu_clock_hertz{gpu="0"} 3e+09`,
		`railyard_gpu_utilization_ratio{gpu="0"} 30`,
		`railyard_nic_rate_bytes_per_second{device="mlx5_0"} 3.75e+11`,
		`railyard_nvlink_carried_sent_bytes_per_second{gpu="0",port="3"} 1000`,
		`railyard_link_carried_bytes_per_second{class="nvlink2",link="gpu0->gpu1"} 2e+10`,
		`railyard_link_carried_ratio{class="nvlink2",link="gpu0->gpu1"} 0.8`,
		`railyard_link_hot{class="nvlink2",link="gpu0->gpu1"} 1`,
		"railyard_interval_seconds 2", "process_cpu_seconds_total ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s", want)
		}
	}
	var s health.State
	if err := prometheus.Read(&s, "page", []byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []health.Kind{health.GPU, health.NVLink, health.NIC} {
		for _, f := range health.FactsOf(kind) {
			if v, ok := s.Parts(kind)[0].Fact(f.Name); f.Counter && f.Wraps == 0 && (!ok || v.Is != 3000.0) {
				t.Errorf("%s of %s: %v", f.Name, kind, v.Is)
			}
		}
	}
}

// TestDashboard: the metrics and labels of the Grafana dashboard are exported.
func TestDashboard(t *testing.T) {
	text, shown := read(t, "../../docs/grafana-dashboard.json"), served(t)
	var d struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	metric, label := regexp.MustCompile(`\b(railyard|process)_[a-z0-9_]+`), regexp.MustCompile(`\{\{(\w+)\}\}`)
	seen := 0
	for _, p := range d.Panels {
		for _, x := range p.Targets {
			for _, name := range metric.FindAllString(x.Expr, -1) {
				seen++
				line := regexp.MustCompile(`(?m)^` + name + `(\{.*\})? `).FindString(shown)
				if line == "" {
					t.Errorf("%s: %s is not exported", p.Title, name)
				}
				for _, l := range label.FindAllStringSubmatch(x.LegendFormat, -1) {
					if l[1] != "instance" && !strings.Contains(line, l[1]+`="`) { // which Prometheus itself adds
						t.Errorf("%s: %s has no label %s", p.Title, name, l[1])
					}
				}
			}
		}
	}
	if len(d.Panels) < 10 || seen < 20 || !slices.Contains(metric.FindAllString(text, -1), "railyard_interval_seconds") {
		t.Errorf("%d panels, %d metrics", len(d.Panels), seen)
	}
}

// TestWatchServes: a watch answers Prometheus, at the loopback address.
func TestWatchServes(t *testing.T) {
	onFakes(t, always(map[string]float64{"gpu2->gpu6": 0.75}))
	f := &watchFlags{Topology: "dgx1-v100", Interval: time.Second, Hot: 0.5, Listen: "0"}
	w := &watcher{flags: f, cmd: newRoot()}
	var said bytes.Buffer
	w.cmd.SetErr(&said)
	w.cmd.SetOut(io.Discard)
	defer w.close()
	if err := w.open(nil); err != nil {
		t.Fatal(err)
	}
	f.Rounds = 1
	f.Format.Name = "text"
	if err := w.rounds(t.Context()); err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/metrics`).FindString(said.String())
	r, err := http.Get(address)
	if err != nil {
		t.Fatalf("%q: %v", said.String(), err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || !strings.Contains(string(body), `railyard_link_hot{class="nvlink2",link="gpu2->gpu6"} 1`) {
		t.Errorf("%v: %s", err, body)
	}
	var s health.State // two pages are files of samples, of moments that they say
	if err := prometheus.Read(&s, "page", body); err != nil || s.Host().Number("sampled") != 1e9+1 {
		t.Errorf("%v: sampled at %v", err, s.Host().Number("sampled"))
	}
}
