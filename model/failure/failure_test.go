package failure

import (
	"math"
	"strings"
	"testing"

	_ "railyard/internal/long" // accepts -long
)

// The run that the rates come from: its interruptions come out again.
func TestLlamaRatesGiveTheirOwnInterruptions(t *testing.T) {
	b, err := Get("llama-3")
	if err != nil {
		t.Fatal(err)
	}
	sum := b.Sum()
	if got := 54 * (16384*sum[GPU] + 2048*sum[Node] + 16384*sum[NIC]); math.Abs(got-419) > 1e-6 {
		t.Errorf("%v interruptions in 54 days, the paper has 419", got)
	}
}

const head = "schema: railyard.failures/v1\nname: mine\nsource: me\ndate: 2026-01-01\ncauses:\n"

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"  - {name: a, part: gpu, per_day: -1}":                             "f.yaml:6: cause a: per_day must be a positive number",
		"  - {name: a, part: gpu, per_day: .nan}":                           "per_day must be a positive number",
		"  - {name: a, part: disk, per_day: 1}":                             "part must be one of",
		"  - {name: a, part: gpu}":                                          "give per_day",
		"  - {name: a, part: gpu, count: 1, parts: 5}":                      "or count, parts and days",
		"  - {name: a, part: gpu, per_day: 1, count: 1, parts: 1, days: 1}": "give per_day",
		"  - {name: a, part: gpu, per_day: 1e9}":                            "surely a mistake",
		"  - {name: a, part: gpu, per_day: 1, colour: red}":                 "colour",
		"  - {name: a, part: gpu, per_day: 1, repair_hours: 0}":             "repair_hours must be a positive number",
		"  []": "at least one",
	} {
		if _, err := library.Read("f.yaml", []byte(head+text+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	if _, err := Get("nobody"); err == nil || !strings.Contains(err.Error(), "llama-3") {
		t.Errorf("an unknown book: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(head + "  - {name: a, part: gpu, per_day: 0.001, repair_hours: 4}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := library.Read("f.yaml", data)
		if err != nil {
			return
		}
		for _, c := range b.Causes {
			if !(c.PerDay > 0) || c.PerDay > maxPerDay {
				t.Errorf("accepted %+v", c)
			}
		}
	})
}
