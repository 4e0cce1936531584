package report_test

import (
	"testing"

	"railyard/report"
)

func TestNumbersForPeople(t *testing.T) {
	for got, want := range map[string]string{
		report.Thousands(0): "0", report.Thousands(999.4): "999", report.Thousands(1000): "1,000", report.Thousands(1234567.8): "1,234,568",
		report.Rate(0): "0", report.Rate(12.3456): "12.35", report.Rate(1000): "1,000", report.Rate(434951.2): "435,000", report.Rate(9.2968e5): "929,700", report.Rate(6.45e6): "6,450,000",
		report.Milliseconds(0.04): "0.0 ms", report.Milliseconds(842.14): "842.1 ms", report.Milliseconds(38569.4): "38.57 s",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
