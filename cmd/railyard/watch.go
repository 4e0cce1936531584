package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/exec/discover"
	"railyard/internal/outfile"
	"railyard/model/load"
	"railyard/model/topology"
	"railyard/report"
	"railyard/report/metrics"
	"railyard/report/table"
	"railyard/study"
)

// watchFlags say what is watched, and where what is seen goes.
type watchFlags struct {
	Topology string        `flag:"topology,t,complete={topologies},files"`
	Rounds   int           `flag:"iters,n,lo=0"` // 0: until interrupted
	Out      string        `flag:"output,o,writes"`
	Interval time.Duration `flag:"how interval,default=1s"`
	Hot      float64       `flag:"how hot"`
	Node     int           `flag:"how node,lo=0"`
	Listen   string        `flag:"how listen"`
	Record   string        `flag:"how record"`
	Format   cli.FormatFlag
}

// Args are files of samples.
func (f *watchFlags) Args(*cobra.Command, []string) error { return nil }

// Run shows what links carry, round by round.
func (f *watchFlags) Run(cmd *cobra.Command, files []string) error {
	if err := f.check(cmd, files); err != nil {
		return err
	}
	ctx, stop := cli.UntilInterrupt(cmd)
	defer stop()
	w := &watcher{flags: f, cmd: cmd, share: ownShare}
	if cli.OptionsOf(cmd, "how").Changed("interval") {
		w.share = 0
	}
	defer w.close()
	if err := w.open(files); err != nil {
		return err
	}
	err := w.rounds(ctx)
	if errors.Is(err, context.Cause(ctx)) || errors.Is(err, io.EOF) {
		err = nil // that is how it ends
	}
	if err == nil && w.shown == 0 && ctx.Err() == nil {
		err = errors.New("rates need two samples of a machine: there are fewer")
	}
	return err
}

func (f *watchFlags) check(cmd *cobra.Command, files []string) error {
	switch {
	case f.Interval < 10*time.Millisecond:
		return cli.Usagef("--how interval=%v: must be at least 10ms, or watching would be a load itself", f.Interval)
	case !(f.Hot > 0 && f.Hot <= 1):
		return cli.Usagef("--how hot=%v: must be a share of the line rate above 0, up to 1", f.Hot)
	case f.Format.Name == table.CSV && f.Rounds != 1:
		return cli.Usagef("--format csv is of one interval: give -n 1")
	case len(files) > 0:
		return cli.NoEffect(cmd, "on files, which are samples already", "how listen", "how record")
	}
	return cli.MayWrite(cmd, f.Record)
}

// ownShare of a core is what watching takes at most where nobody says how often. What beginning takes, 0.1 s on two H200, comes on top.
const ownShare = 0.007

// watcher is a watch that goes on.
type watcher struct {
	flags    *watchFlags
	cmd      *cobra.Command
	source   load.Source
	topology *topology.Topology // nil: none is known
	page     *metrics.Page
	record   *os.File
	first    time.Time     // moment of the first sample
	shown    int           // rounds
	live     bool          // not of files
	share    float64       // of a core that it may take; 0: as much as the interval does
	began    time.Time     // of the first sample
	taken    time.Duration // processor time until then
	closers  []io.Closer
}

func (w *watcher) close() {
	for _, c := range w.closers {
		_ = c.Close() // what is written is flushed
	}
}

// open finds the samples, the topology whose links ports stand for, and who is to be told.
func (w *watcher) open(files []string) error {
	name := w.flags.Topology
	if len(files) > 0 {
		if err := w.replay(files); err != nil {
			return err
		}
	} else {
		var c io.Closer
		var missing error
		w.source, c, missing = openCounters(w.flags.Interval, w.share)
		w.closers, w.live = append(w.closers, c), true
		switch {
		case missing != nil:
			fmt.Fprintf(w.cmd.ErrOrStderr(), "# GPUs are not seen: %v\n", missing)
		case name == "":
			name = liveTopology
		}
	}
	if err := w.loadTopology(name); err != nil {
		return err
	}
	if w.flags.Record != "" {
		var err error
		if w.record, err = os.Create(w.flags.Record); err != nil {
			return err
		}
		w.closers = append(w.closers, w.record)
	}
	return w.listen()
}

// loadTopology loads the one of a name; "": none is known.
func (w *watcher) loadTopology(name string) (err error) {
	switch {
	case name == "" && w.flags.Out != "":
		return cli.Usagef("-o writes loads of a topology's links: name it with -t")
	case name == "":
		return cli.NoEffect(w.cmd, "without a topology: name it with -t", "how node")
	}
	if w.topology, err = (study.Site{Name: name, Source: source}).Load(); err != nil {
		return err
	}
	if n := w.topology.NumNodes(); w.flags.Node >= n {
		return cli.Usagef("--how node=%d: %s has nodes 0 to %d", w.flags.Node, w.topology.Name(), n-1)
	}
	return nil
}

// listen serves metrics.
func (w *watcher) listen() error {
	if w.flags.Listen == "" {
		return nil
	}
	address := w.flags.Listen
	if !strings.Contains(address, ":") {
		address = "127.0.0.1:" + address
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("--how listen: %w", err)
	}
	w.page = metrics.NewPage()
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", w.page)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute}
	w.closers = append(w.closers, server)
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintf(w.cmd.ErrOrStderr(), "# metrics are no longer served: %v\n", err)
		}
	}()
	fmt.Fprintf(w.cmd.ErrOrStderr(), "# metrics at http://%v/metrics\n", l.Addr())
	return nil
}

// rounds measures until there are enough, or no more.
func (w *watcher) rounds(ctx context.Context) error {
	w.began, w.taken = time.Now(), discover.OwnTime()
	last, err := w.sample(ctx)
	for err == nil && (w.flags.Rounds == 0 || w.shown < w.flags.Rounds) {
		var now load.Sample
		if now, err = w.sample(ctx); err != nil {
			break
		}
		var m *load.Measurement
		if m, err = load.Between(last, now); err == nil {
			err = w.round(m)
		}
		last = now
		w.shown++
	}
	return err
}

// sample takes one, and keeps it where that is asked for.
func (w *watcher) sample(ctx context.Context) (load.Sample, error) {
	s, err := w.source.Next(ctx)
	if err == nil && w.live { // so that pages of metrics say how far apart they are
		s.State.Set(s.State.Host(), "sampled", float64(s.At.UnixMicro())/1e6, "the clock")
	}
	if err != nil || w.record == nil {
		return s, err
	}
	if w.first.IsZero() {
		w.first = s.At
	}
	return s, load.Record(w.record, w.first, s)
}

// round tells everybody what was carried.
func (w *watcher) round(m *load.Measurement) error {
	var links []load.Link
	if w.topology != nil {
		var err error
		if m, links, err = m.On(w.topology, w.flags.Node); err != nil {
			return err
		}
	}
	if w.page != nil {
		w.page.Set(m, links, w.flags.Hot)
	}
	if w.flags.Out != "" {
		if len(links) == 0 {
			return fmt.Errorf("no counter stands for a link of %s: there is no load to write", w.topology.Name())
		}
		write := func(out io.Writer) error { return writeLoads(out, load.Background(links)) }
		if err := outfile.Write(w.flags.Out, write); err != nil {
			return err
		}
	}
	if w.flags.Format.Name == table.Text {
		switch terminal := cli.OnTerminal(w.cmd); {
		case terminal:
			fmt.Fprint(w.cmd.OutOrStdout(), "\x1b[H\x1b[2J")
		case w.page != nil && w.flags.Rounds == 0:
			return nil // a service, whose log would only grow
		}
	}
	return w.flags.Format.Emit(w.cmd, w.document(m))
}

func (w *watcher) document(m *load.Measurement) *report.WatchDocument {
	d := &report.WatchDocument{Schema: "railyard.watch/v1", Seconds: m.Took.Seconds(), HotFrom: w.flags.Hot, Ports: []report.WatchPort{},
		Notes: append([]string{}, m.Notes...)}
	if m.After.At.Year() > 1 { // else of files that do not say it
		d.At = m.After.At.UTC().Format(time.RFC3339)
	}
	if w.live {
		d.Own = float64(discover.OwnTime()-w.taken) / float64(time.Since(w.began))
	}
	if w.topology != nil {
		d.Topology = w.topology.Name()
	}
	for _, p := range m.Busiest() {
		x := report.WatchPort{Part: p.Part.String(), Links: firstOf(p.Links), Sent: p.Sent / 1e9, Received: p.Received / 1e9,
			Line: p.Line / 1e9,
			Load: p.Load(), Hot: p.Line > 0 && p.Load() >= w.flags.Hot}
		for i, e := range p.Errors {
			if i > 0 {
				x.Errors += ", "
			}
			x.Errors += fmt.Sprintf("%s %.0f", e.What, e.Times)
		}
		if x.Hot {
			d.Hot++
		}
		d.Ports = append(d.Ports, x)
	}
	return d
}

// firstOf is the first of several, and how many more there are.
func firstOf(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}
