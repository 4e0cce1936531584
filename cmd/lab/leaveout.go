package main

import (
	"fmt"
	"maps"
	"slices"

	"railyard/model/cost"
	"railyard/model/measurement"
	"railyard/report"
	"railyard/report/fit"
	"railyard/study/measured"
)

// leftOut predicts every row with kernels fitted on the rows of other groups: what a
// profile is worth on a run, or a number of GPUs, that it has never seen.
func (v *validator) leftOut(group func(learnt) string) *report.Comparison {
	byProfile, groups := v.learnt(), map[string]map[string]bool{} // profiles of each group
	for name, rows := range byProfile {
		for _, x := range rows {
			g := group(x)
			if groups[g] == nil {
				groups[g] = map[string]bool{}
			}
			groups[g][name] = true
		}
	}
	all := &report.Comparison{}
	for _, g := range slices.Sorted(maps.Keys(groups)) {
		for _, name := range slices.Sorted(maps.Keys(groups[g])) {
			predictGroup(all, byProfile, name, func(x learnt) bool { return group(x) == g })
		}
	}
	return all
}

// systemOf is the machine that a row was measured on.
func systemOf(x learnt) string { return measuredOn(x.row) }

// learnt is a measured row with all that it takes to fit and to predict it.
type learnt struct {
	row     measurement.Row
	file    string
	profile string
	cases   *measured.Cases
	fit     fit.KernelCase
	fits    bool
}

// learnt are the rows that can be learnt from, by profile; compare says why others cannot.
func (v *validator) learnt() map[string][]learnt {
	out := map[string][]learnt{}
	for _, set := range v.Sets {
		for _, m := range set.Rows {
			s, c, err := v.Of(m)
			if err != nil || m.Time <= 0 || m.Size <= 0 {
				continue
			}
			x := learnt{row: m, file: set.File, profile: s.Profile, cases: c}
			x.fit, err = c.KernelCase(m)
			x.fits = err == nil
			out[s.Profile] = append(out[s.Profile], x)
		}
	}
	return out
}

// predictGroup fits on the rows outside a group of a profile, the general kernels on
// those of all profiles, and predicts the group.
func predictGroup(all *report.Comparison, byProfile map[string][]learnt, name string, in func(learnt) bool) {
	general := &cost.Profile{Name: cost.General}
	needed := neededFor(byProfile[name], in)
	var everything, rest []fit.KernelCase
	for _, p := range slices.Sorted(maps.Keys(byProfile)) {
		everything = append(everything, outside(byProfile[p], in, needed)...)
		rest = append(rest, outside(byProfile[p], in, nil)...)
	}
	general.Kernels, general.Estimates = fit.General(everything), fit.Estimates(rest)
	profile := &cost.Profile{Name: name}
	like := name
	if len(outside(byProfile[name], in, nil)) == 0 {
		like = byLinks(byProfile[name], in)
	}
	profile.Kernels, _ = fit.Kernels(outside(byProfile[like], in, needed), general, false)
	for _, x := range byProfile[name] {
		if !in(x) {
			continue
		}
		one := &measurement.Set{File: x.file, Rows: []measurement.Row{x.row}}
		all.Append(report.Compare(one, func(m measurement.Row) (report.Predicted, error) {
			return x.cases.PredictWith(profile, general, m)
		}))
	}
}

// byLinks is the machine whose links are like those of a group: what it is predicted by where nothing of its own is left.
func byLinks(rows []learnt, in func(learnt) bool) string {
	i := slices.IndexFunc(rows, in)
	name, err := rows[i].cases.ByLinks(rows[i].row)
	if err != nil {
		return ""
	}
	return name
}

// kernelKind is how a kernel moves data, over a medium; without algorithm and protocol it stands for all ways.
type kernelKind struct{ algorithm, protocol, over string }

// neededFor are the kernels that a group's predictions may take: those that NCCL chooses
// for its rows. Where its choice is not modelled, all over their media may be taken.
func neededFor(rows []learnt, in func(learnt) bool) map[kernelKind]bool {
	out := map[kernelKind]bool{}
	for _, x := range rows {
		if !in(x) {
			continue
		}
		kind := kernelKind{x.fit.Algorithm, x.fit.Protocol, x.fit.Over}
		if r, err := x.cases.Library(x.row); err != nil || !r.Chooses() {
			kind = kernelKind{over: x.fit.Over}
		}
		out[kind] = true
	}
	return out
}

// outside are the cases that are not in a group, of the kernels that are needed; nil: of all.
func outside(rows []learnt, in func(learnt) bool, needed map[kernelKind]bool) []fit.KernelCase {
	var out []fit.KernelCase
	for _, x := range rows {
		all, one := kernelKind{over: x.fit.Over}, kernelKind{x.fit.Algorithm, x.fit.Protocol, x.fit.Over}
		if x.fits && !in(x) && (needed == nil || needed[all] || needed[one]) {
			out = append(out, x.fit)
		}
	}
	return out
}

// unseen are predictions with kernels that have not seen the row's machine, its number of
// GPUs, or the row itself, though its neighbours.
func (v *validator) unseen() []report.Unseen {
	return []report.Unseen{
		{What: "its system", Comparison: v.systemsLeftOut()},
		{What: "its number of GPUs", Comparison: v.leftOut(func(x learnt) string { return fmt.Sprint(x.profile, x.row.GPUs) })},
		{What: "every fifth row (interpolation)",
			Comparison: v.leftOut(func(x learnt) string { return fmt.Sprint(x.profile, x.row.Line%folds) })},
	}
}

// systemsLeftOut predicts each system's rows with what all others say, its bands too.
func (v *validator) systemsLeftOut() *report.Comparison {
	all := v.leftOut(systemOf)
	banded(all)
	return all
}

// folds are the parts of a file that are left out in turn.
const folds = 5
