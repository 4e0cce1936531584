package report

import (
	"strings"
	"testing"
)

// What disturbs a run of hosts stands below its rows: other programs, and more ranks than processors.
func TestDisturbances(t *testing.T) {
	for want, d := range map[string]RunDocument{
		"":                {},
		"# Busy machine ": {Others: 0.3},
		"# Crowded machine      : 2 ranks a processor": {Crowd: 2},
	} {
		d.Timed, d.Backend = true, "host"
		d.Rows = []RunRow{{SizeBytes: 1024, PredictedUS: 10, MeasuredUS: Percentiles{Min: 10, Median: 10}}}
		said := strings.Join(d.misses(), "\n")
		if !strings.HasPrefix(said, want) || want == "" && said != "" {
			t.Errorf("%+v: %q, want %q", d, said, want)
		}
	}
}
