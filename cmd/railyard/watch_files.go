package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"railyard/cmd/internal/cli"
	"railyard/model/health"
	"railyard/model/load"
)

// replay makes samples of files: a recording has many; each other file, or directory of files of one moment, is one. When that was, all say
// themselves, as Prometheus exporters do, or none; then each was an interval after the one before.
func (w *watcher) replay(files []string) error {
	const timed = "on files that say when they were taken"
	if len(files) == 1 {
		if is, err := w.recording(files[0]); is {
			return cli.NoEffect(w.cmd, timed, "how interval")
		} else if err != nil {
			return err
		}
	}
	var list samples
	say := 0
	for i, file := range files {
		s, err := stateOf(file)
		if err != nil {
			return err
		}
		at := time.Time{}.Add(time.Duration(i) * w.flags.Interval)
		if said, ok := s.Host().Fact("sampled"); ok {
			at, say = time.UnixMicro(int64(said.Is.(float64)*1e6)), say+1
		}
		list = append(list, load.Sample{State: s, At: at})
	}
	w.source = &list
	switch say {
	case 0:
		return nil
	case len(files):
		return cli.NoEffect(w.cmd, timed, "how interval")
	}
	return fmt.Errorf("%d of %d files say when they were taken: give only these, or only the others with --how interval", say, len(files))
}

// recording plays a file where it is one.
func (w *watcher) recording(file string) (is bool, err error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	head := make([]byte, 64)
	n, _ := io.ReadFull(f, head)
	if !load.IsRecording(head[:n]) {
		return false, f.Close()
	}
	w.closers = append(w.closers, f)
	w.source = load.Recording(f, file)
	_, err = f.Seek(0, io.SeekStart)
	return err == nil, err
}

// stateOf is what a file, or a directory of files of one moment, says of a machine.
func stateOf(file string) (*health.State, error) {
	var e evidence
	read := e.take
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		read = e.bundle
	}
	if err := read(file); err != nil {
		return nil, err
	}
	if s := &e.state; len(s.Parts(health.GPU))+len(s.Parts(health.NVLink))+len(s.Parts(health.NIC)) > 0 {
		return s, nil
	}
	return nil, fmt.Errorf("%s: it has no counters: give a recording (railyard watch --how record=FILE), pages of a Prometheus exporter, "+
		"or outputs of nvidia-smi nvlink -gt d", file)
}

// samples are those that are there already.
type samples []load.Sample

// Next implements load.Source.
func (s *samples) Next(context.Context) (load.Sample, error) {
	if len(*s) == 0 {
		return load.Sample{}, io.EOF
	}
	first := (*s)[0]
	*s = (*s)[1:]
	return first, nil
}
