package block

import (
	"strings"
	"testing"

	"railyard/model/schedule"
)

// TestMechanismNames: each is read as itself, and no other name is.
func TestMechanismNames(t *testing.T) {
	for m := Pull; m <= Copies; m++ {
		if got, err := ParseMechanism(m.String()); err != nil || got != m || !strings.Contains(MechanismNames(), m.String()) {
			t.Errorf("%v is read as %v, %v", m, got, err)
		}
	}
	if _, err := ParseMechanism("smoke"); err == nil || !strings.Contains(err.Error(), "words_push or copies") {
		t.Errorf("a mechanism that does not exist: %v", err)
	}
}

// TestPacketsOfProtocols: what LL, LL128 and words send is their own flag; nothing else is.
func TestPacketsOfProtocols(t *testing.T) {
	want := map[schedule.Protocol]Mechanism{schedule.LL: Packets, schedule.LL128: Lines, schedule.Words: Words}
	for _, p := range []schedule.Protocol{schedule.Simple, schedule.LL, schedule.LL128, schedule.Words, schedule.Pulled,
		schedule.CopyEngine} {
		m, ok := FlaggedFor(p)
		if w, flagged := want[p]; ok != flagged || m != w || ok && (m.Protocol() != p || !m.Flagged()) {
			t.Errorf("%s: %v, %v", p, m, ok)
		}
	}
}

// TestOperationsOfMechanisms: operations on packets know whose they are, sent or taken.
func TestOperationsOfMechanisms(t *testing.T) {
	for k := Multi; k <= WordReduce; k++ {
		m, ok := k.Mechanism()
		if ok != (k >= LLPut) || k.puts() == k.takes() && ok || ok && k.puts() != strings.HasSuffix(k.String(), "_put") {
			t.Errorf("%v: of %v (%v), puts %v, takes %v", k, m, ok, k.puts(), k.takes())
		}
		if ok && (m.form(LLPut) != k && m.form(LLReduce) != k || m.packetBytes(lineData) < lineData) {
			t.Errorf("%v is no operation of %v", k, m)
		}
	}
}

// TestCopiesAreNoProgram: they are compiled for themselves.
func TestCopiesAreNoProgram(t *testing.T) {
	s := &schedule.Schedule{}
	s.Spec.Ranks = 2
	if _, err := Compile(s, Options{Count: 2, Size: 4, Instances: 1, Mechanism: Copies}); err == nil ||
		!strings.Contains(err.Error(), "CompileCopies") {
		t.Error(err)
	}
}
