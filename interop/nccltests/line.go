package nccltests

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"railyard/internal/lazy"
	"railyard/model/measurement"
	"railyard/model/units"
)

// A result line: size count type redop root, of which older versions leave out redop and
// root for some collectives; then time algbw busbw wrong, out of place and in place, each
// with four more columns where every iteration is timed; then, if asked for, the time of day.
const (
	head = 5
	body = 4
)

var (
	clock    = lazy.Regexp(`^\d\d:\d\d:\d\d$`)
	typeName = lazy.Regexp(`^(u?int(8|32|64)|half|float|double|bfloat16|fp?8_?e\dm\d(fn)?)$`)
)

// maxMicroseconds bounds what is a time.
const maxMicroseconds = 1e12

// parseRow reads a line that is a result.
func parseRow(line string) (measurement.Row, bool) {
	var none measurement.Row
	f := strings.Fields(line)
	if n := len(f); n > 2 && clock().MatchString(f[n-1]) {
		f = f[:n-2]
	}
	first := head
	for first > head-3 && (len(f)-first)%body != 0 {
		first--
	}
	results := (len(f) - first) / body
	if first == head-3 || results != 1 && results != 2 && results != 4 || strings.HasPrefix(f[0], "#") {
		return none, false
	}
	size, err1 := strconv.ParseInt(f[0], 10, 64)
	_, err2 := strconv.ParseInt(f[1], 10, 64)
	us, err3 := strconv.ParseFloat(f[first], 64)
	if err1 != nil || err2 != nil || size < 0 {
		return none, false
	}
	if err3 != nil && !errors.Is(err3, strconv.ErrRange) {
		if us = math.NaN(); first < head || !typeName().MatchString(f[2]) {
			return none, false // somebody else's line, or one that is cut
		}
	}
	redop := ""
	if first > head-2 {
		redop = f[3]
	}
	m := newRow(size, f[2], redop, f[first:first+3])
	take(&m, us, f[first+3])
	if results > 1 {
		inPlace := f[first+body*results/2:]
		takeInPlace(&m, inPlace[0], inPlace[3])
	}
	return m, true
}

// newRow has the time and the bandwidths out of place as they were printed.
func newRow(size int64, dtype, redop string, printed []string) measurement.Row {
	columns := append([]string{"", "", "", strconv.FormatInt(size, 10), dtype, redop}, printed...)
	return measurement.Row{Size: units.Bytes(size), DType: dtype, Columns: append(columns, "")}
}

// take takes a time, if it is one and the results were right.
func take(m *measurement.Row, us float64, wrong string) {
	if n, err := strconv.ParseFloat(wrong, 64); err == nil && n >= 1 { // older versions print the error of sums there
		m.Unusable = "nccl-tests found wrong results: fix that first"
	}
	if !(us >= 0 && us <= maxMicroseconds) {
		m.Unusable = "no time was measured"
		return
	}
	m.Time = units.FromMicroseconds(us)
}

// takeInPlace takes the time in place, the last column; wrong results there are wrong results.
func takeInPlace(m *measurement.Row, text, wrong string) {
	m.Columns[len(m.Columns)-1] = text
	one := measurement.Row{}
	if us, err := strconv.ParseFloat(text, 64); err == nil {
		take(&one, us, wrong)
	}
	m.InPlace = one.Time
	if m.Unusable == "" && one.Time > 0 {
		m.Unusable = one.Unusable
	}
}
