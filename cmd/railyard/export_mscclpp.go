package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"railyard/interop/mscclpp"
	"railyard/model/schedule"
	"railyard/study/proof"
)

// prove has a file say what was measured of its plan, beside MSCCL++'s own kernels and NCCL, and serve the sizes alone at which it was
// no slower.
func (f *exportFlags) prove(x *mscclpp.File, s *schedule.Schedule) error {
	x.Proven = "not proven"
	rows, err := f.measured(s.Spec.Ranks)
	if err != nil {
		return err
	}
	if rows != nil {
		if err := f.within(x, rows.Plan(s.Spec.Kind, stem(f.Out), stem(f.Plan), x.Name)); err != nil {
			return err
		}
	}
	f.note(x.Proven)
	return nil
}

// within bounds the sizes of a file.
func (f *exportFlags) within(x *mscclpp.File, at []proof.Sized) error {
	if len(at) == 0 {
		return fmt.Errorf("%s: no rows of the plan (mscclpp_plan) with those of MSCCL++ (native) or NCCL (default): name the file of "+
			"the plan, or the file to write, as the rows name it in algo", f.Measured)
	}
	kept := proof.Range(at)
	if len(kept) == 0 {
		v := at[len(at)-1]
		if err := f.mayBeSlower(fmt.Errorf("the plan would be slower at all %d sizes that were measured: %v at %v, MSCCL++ or NCCL %v",
			len(at), v.Time, v.Size, v.Own)); err != nil {
			return err
		}
		x.Proven = fmt.Sprintf("proven slower by %s", filepath.Base(f.Measured))
		return nil
	}
	first, last := kept[0], kept[len(kept)-1]
	x.MinBytes, x.MaxBytes = max(x.MinBytes, int64(first.Size)), min(x.MaxBytes, uint64(last.Size))
	x.Proven = fmt.Sprintf("proven by %s: from %v (%v, MSCCL++ or NCCL %v) to %v (%v, %v) no slower; for these sizes only",
		filepath.Base(f.Measured), first.Size, first.Time, first.Own, last.Size, last.Time, last.Own)
	return nil
}

// stem is a file's name without folder and extension.
func stem(file string) string { return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) }
