package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"railyard/interop/foreign"
	"railyard/interop/nvidiasmi"
	"railyard/model/health"
	"railyard/report"
)

// evidenceKind is a kind of file that says something of a machine.
type evidenceKind struct {
	name    string // the command whose output it is
	file    string // that a bundle should have it in; "": it is not asked for
	detects func(data []byte) bool
	read    func(s *health.State, file string, data []byte) error // adds facts, or findings; its mistakes have lines
}

// evidenceKinds are all of them. A file is of the first kind that detects it.
var evidenceKinds = []evidenceKind{
	{"nvidia-smi -q -x", "nvidia-smi.xml", nvidiasmi.IsXML, nvidiasmi.ReadXML},
	{"nvidia-smi -q", "", nvidiasmi.IsText, nvidiasmi.ReadText},
}

// maxEvidence is the largest file that is read, in MiB.
const maxEvidence = 64

// evidence is what is known of a machine, and from which files.
type evidence struct {
	state health.State
	read  []report.DoctorEvidence
	words words
}

// unknownKind is the error of a file that is of none of the kinds.
type unknownKind struct{ file string }

func (e unknownKind) Error() string {
	return fmt.Sprintf("%s: of no kind that is known here, which are the outputs of %s", e.file, strings.Join(evidenceNames(), ", "))
}

func evidenceNames() (names []string) {
	for _, k := range evidenceKinds {
		names = append(names, k.name)
	}
	for _, k := range wordKinds {
		names = append(names, k.name)
	}
	return names
}

// take reads a file.
func (e *evidence) take(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if known, err := e.takeWords(f, file); known {
		return err
	}
	data, err := foreign.Read(f, maxEvidence)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	i := slices.IndexFunc(evidenceKinds, func(k evidenceKind) bool { return k.detects(data) })
	if i < 0 {
		return unknownKind{file}
	}
	if err := evidenceKinds[i].read(&e.state, file, data); err != nil {
		return fmt.Errorf("%s: %s", file, oneLine(err))
	}
	e.read = append(e.read, report.DoctorEvidence{File: file, Kind: evidenceKinds[i].name})
	return nil
}

// bundle reads all files of a directory; those of unknown kinds are named.
func (e *evidence) bundle(dir string) error {
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if err = e.take(file); errors.As(err, new(unknownKind)) {
			e.state.Note("%s is of no kind that is known here: it was not read", file)
			return nil
		}
		return err
	})
	if err == nil && len(e.read) == 0 {
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

// collect are the commands of kinds that were not read.
func (e *evidence) collect() []string {
	out := []string{}
	for _, k := range evidenceKinds {
		was := func(r report.DoctorEvidence) bool { return strings.HasPrefix(k.name, r.Kind) }
		if k.file != "" && !slices.ContainsFunc(e.read, was) {
			out = append(out, k.name+" > "+k.file)
		}
	}
	return out
}
