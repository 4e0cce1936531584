package nccltuner

import (
	"fmt"
	"slices"

	"railyard/model/units"
)

// Proof is what a row takes at a size beside NCCL's own choice there.
type Proof struct {
	Size      units.Bytes
	Time, Own units.Time
	Measured  bool // else predicted
	Slower    bool // beyond what repeats differ by
}

// why is what the file says of a row: its note, and what was proven of it.
func (r *Row) why() []string {
	var out []string
	if r.Note != "" {
		out = append(out, r.Note)
	}
	what := ""
	if r.Own {
		what = "NCCL's own choice: "
	}
	for _, measured := range []bool{true, false} {
		if text := r.compared(measured); text != "" {
			out = append(out, what+text)
		}
	}
	return out
}

// Unproven is what files say of rows without a remark.
const Unproven = "Rows without a remark are what NCCL chooses by its own model: not proven."

// compared is by how much a row's times differ from those of NCCL's own choice, as far as they are measured, or predicted.
func (r *Row) compared(measured bool) string {
	var at []Proof
	for _, p := range r.Proofs {
		if p.Measured == measured {
			at = append(at, p)
		}
	}
	switch {
	case len(at) == 0 && (measured || len(r.Proofs) > 0) || r.Own && !measured:
		return ""
	case len(at) == 0:
		return "not proven, nor predicted"
	}
	how := "not proven, predicted"
	if measured {
		how = "proven"
	}
	share := func(p Proof) string { return fmt.Sprintf("%.0f", 100*float64(p.Time)/float64(p.Own)) }
	least, most := slices.MinFunc(at, byShare), slices.MaxFunc(at, byShare)
	where, shares := fmt.Sprintf("from %v to %v", at[0].Size, at[len(at)-1].Size), share(least)+" to "+share(most)
	if at[0].Size == at[len(at)-1].Size {
		where = fmt.Sprintf("at %v", at[0].Size)
	}
	if share(least) == share(most) {
		shares = share(most)
	}
	return fmt.Sprintf("%s %s: %s %% of the time of NCCL's own choice (%v against %v at %v)", how, where, shares, most.Time, most.Own,
		most.Size)
}

func byShare(a, b Proof) int {
	x, y := float64(a.Time)*float64(b.Own), float64(b.Time)*float64(a.Own)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// Slower is the error of rows that make NCCL slower than it is by itself; the worst is named.
func Slower(rows []Row) error {
	var worst *Proof
	var of *Row
	for i := range rows {
		for j, p := range rows[i].Proofs {
			if p.Slower && (worst == nil || byShare(p, *worst) > 0) {
				worst, of = &rows[i].Proofs[j], &rows[i]
			}
		}
	}
	if worst == nil {
		return nil
	}
	how := "is predicted to take"
	if worst.Measured {
		how = "was measured to take"
	}
	return fmt.Errorf("NCCL would be slower: %s %s/%s %s %v at %v, NCCL's own choice %v", names[of.Kind], of.Algorithm, of.Protocol, how,
		worst.Time, worst.Size, worst.Own)
}
