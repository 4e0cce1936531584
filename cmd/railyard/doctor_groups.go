package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"railyard/cmd/internal/cli"
	"railyard/interop/foreign"
	"railyard/interop/foreign/hostlist"
	"railyard/interop/nccltests"
	"railyard/model/collective"
	"railyard/model/measurement"
	"railyard/model/units"
	"railyard/report/table"
	"railyard/study"
	"railyard/study/groups"
)

// groupFlags say what is written of tests of groups of nodes.
type groupFlags struct {
	Plan    string  `flag:"plan,one=slurm|kubernetes"`
	Nodes   int     `flag:"nodes,lo=0"` // of the cluster; 0: as its topology says
	Repeats float64 `flag:"how repeats,default=0.05"`
}

// logHead is how much of a file is looked at to see whether it is a log.
const logHead = 1 << 20

// isGroupTest reports whether a file is a log of nccl-tests, or of messages between processes as probe keeps them.
func isGroupTest(head []byte) bool {
	return nccltests.Is(head) || measurement.AreLinks(head) && bytes.Contains(head, []byte("\n"+measurement.NetPair+","))
}

// groupTests are the files of group tests among some, and in directories; others says whether there are any besides. What cannot be read
// is none: whoever reads it says why.
func groupTests(files []string) (out []string, others bool) {
	for _, file := range files {
		_ = filepath.WalkDir(file, func(file string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				return nil
			}
			if head, err := headOf(file); err == nil && isGroupTest(head) {
				out = append(out, file)
			} else {
				others = true
			}
			return nil
		})
	}
	return out, others
}

func headOf(file string) ([]byte, error) {
	f, err := foreign.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, logHead))
}

// groups examines a cluster by tests of groups of its nodes; done says that it was asked for.
func (f *doctorFlags) groups(cmd *cobra.Command, files []string) (done bool, err error) {
	list, others := groupTests(files)
	others = others || f.RAS.Address != ""
	if len(list) == 0 && f.Groups.Plan == "" {
		return false, cli.NoEffect(cmd, "without logs of nccl-tests or messages of probe", "nodes", "repeats")
	}
	if f.Topology == "" { // other kinds may say something of them
		return f.Groups.Plan != "", cli.NoEffect(cmd, "without the cluster's topology: give it with -t", "plan", "nodes", "repeats")
	}
	t, err := study.Site{Name: f.Topology, Nodes: f.Groups.Nodes, Source: source}.Load()
	switch {
	case err != nil:
		return true, err
	case t.NumNodes() == 1 && f.Groups.Plan == "":
		return false, cli.NoEffect(cmd, "on one node", "nodes", "repeats")
	case others:
		return true, cli.Usagef("logs of nccl-tests and messages of probe are of a cluster, other files of one machine: give them by " +
			"themselves")
	case f.Groups.Plan != "" && f.Format.Name != table.Text:
		return true, cli.Usagef("--plan %s has a format of its own: leave --format out", f.Groups.Plan)
	}
	a := groups.Asked{Repeats: f.Groups.Repeats}
	kind, err := readGroupTests(list, &a)
	if err != nil {
		return true, err
	}
	if a.Asked, err = asked(cmd, &collFlags{Name: kind}, &f.Profile, t, nil); err != nil {
		return true, err
	}
	d, err := groups.Find(a)
	switch {
	case err != nil:
		return true, err
	case f.Groups.Plan != "" && len(d.Next) == 0:
		return true, fmt.Errorf("no test would say more: leave --plan out to see what is known")
	case f.Groups.Plan != "":
		return true, groups.Write(cmd.OutOrStdout(), f.Groups.Plan, d, hostlist.Write)
	}
	if err := f.Format.Emit(cmd, d); err != nil {
		return true, err
	}
	switch n := d.Faulty(); {
	case n > 0:
		return true, fmt.Errorf("faulty: %s", units.Counted(n, "part"))
	case len(d.Islands) > 0:
		return true, errors.New("what joins the islands of nodes is slow")
	case d.AllSlow():
		return true, errors.New("all of it is slow, or the cluster is not as the topology says")
	case d.Unhealthy():
		return true, errors.New("something is faulty: run the next test to find it")
	case len(a.Failed) > 0:
		return true, errors.New(a.Failed[0])
	}
	return true, nil
}

// readGroupTests reads tests, whose rows are named by their files, and messages. The tests judged are those of one collective, the first
// that all of them have run.
func readGroupTests(files []string, into *groups.Asked) (kind string, err error) {
	var rows []measurement.Row
	ran, tests := map[collective.Kind]map[string]bool{}, map[string]bool{}
	var kinds []collective.Kind // in the order in which they come
	for _, file := range files {
		data, err := readFile(file, maxEvidence)
		if err != nil {
			return "", err
		}
		if measurement.AreLinks(data) {
			links, err := measurement.ReadLinks(bytes.NewReader(data), file)
			if err != nil {
				return "", err
			}
			into.Messages = append(into.Messages, links...)
			continue
		}
		set, err := nccltests.ParseText(bytes.NewReader(data), file, "")
		if err != nil {
			return "", err
		}
		for _, x := range set.Failures {
			into.Failed = append(into.Failed, fmt.Sprintf("%s:%d: the test failed there, and what follows is missing: %s", file, x.Line,
				x.Says))
		}
		for _, m := range set.Rows {
			if len(m.Hosts) == 0 {
				return "", fmt.Errorf("%s: does not say on which hosts its ranks were: lines such as \"#  Rank  0 Group  0 Pid 1 "+
					"on host\" are missing", file)
			}
			m.ID = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
			if ran[m.Collective] == nil {
				ran[m.Collective] = map[string]bool{}
				kinds = append(kinds, m.Collective)
			}
			ran[m.Collective][file], tests[file] = true, true
			rows = append(rows, m)
		}
	}
	if len(kinds) == 0 {
		return "all_reduce", nil
	}
	at := slices.IndexFunc(kinds, func(k collective.Kind) bool { return len(ran[k]) == len(tests) })
	if at < 0 {
		return "", fmt.Errorf("no collective was run by all of these tests: give logs of the same one")
	}
	into.Rows = slices.DeleteFunc(rows, func(m measurement.Row) bool { return m.Collective != kinds[at] })
	return kinds[at].String(), nil
}
