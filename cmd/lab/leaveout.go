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

// machineOf is the machine file that a row's system is predicted by: that of its GPUs' model, or of GPUs behind such a PCIe.
func machineOf(x learnt) string { return x.profile }

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
	media := mediaOf(byProfile[name], in)
	var everything, rest []fit.KernelCase
	for _, p := range slices.Sorted(maps.Keys(byProfile)) {
		everything = append(everything, outside(byProfile[p], in, media)...)
		rest = append(rest, outside(byProfile[p], in, nil)...)
	}
	general.Kernels, general.Estimates = fit.General(everything), fit.Estimates(rest)
	profile := &cost.Profile{Name: name}
	like := name
	if len(outside(byProfile[name], in, nil)) == 0 {
		like = byLinks(byProfile[name], in)
	}
	profile.Kernels, _ = fit.Kernels(outside(byProfile[like], in, media), general, false)
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

// mediaOf are what a group's rows cross: its predictions take no kernels over others.
func mediaOf(rows []learnt, in func(learnt) bool) map[string]bool {
	out := map[string]bool{}
	for _, x := range rows {
		if in(x) {
			out[x.fit.Over] = true
		}
	}
	return out
}

// outside are the cases that are not in a group, over some media; nil: over all.
func outside(rows []learnt, in func(learnt) bool, media map[string]bool) []fit.KernelCase {
	var out []fit.KernelCase
	for _, x := range rows {
		if x.fits && !in(x) && (media == nil || media[x.fit.Over]) {
			out = append(out, x.fit)
		}
	}
	return out
}

// unseen are predictions with kernels that have not seen the row's system, any GPU of its model, its number of
// GPUs, or the row itself, though its neighbours.
func (v *validator) unseen() []report.Unseen {
	return []report.Unseen{
		{What: "its system", Comparison: v.systemsLeftOut()},
		{What: "its machine file", Comparison: v.leftOut(machineOf)},
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
