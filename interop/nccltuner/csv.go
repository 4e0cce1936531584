package nccltuner

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"railyard/model/collective"
	"railyard/model/units"
)

// maxLine is the longest line that the plugin reads as one.
const maxLine = 255

// OneThread is the example plugin's trap that no table avoids (WritePlugin).
const OneThread = "For one GPU a process. NCCL's example plugin reads this with strtok in several threads at once where a process has " +
	"several GPUs or communicators: ranks may then hold different rows and hang. There take railyard export --to nccl-tuner-plugin, or " +
	"build the example with strtok_r."

// WriteCSV writes the table: comments, rows, then the rows for everything else. What it
// has written passes ReadCSV.
func WriteCSV(w io.Writer, comments []string, rows []Row, otherChannels int) error {
	var b bytes.Buffer
	for _, c := range comments {
		comment(&b, c)
	}
	for i := range rows {
		if err := rows[i].check(); err != nil {
			return err
		}
		for _, why := range rows[i].why() {
			comment(&b, why)
		}
		line(&b, &rows[i])
	}
	comment(&b, "Everything else: without a row that matches, the plugin leaves one channel.")
	for _, r := range CatchAll(otherChannels) {
		line(&b, &r)
	}
	if _, err := ReadCSV(bytes.NewReader(b.Bytes())); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// comment writes a comment in lines that are short enough.
func comment(b *bytes.Buffer, text string) {
	at := 0
	for _, word := range strings.Fields(text) {
		if at == 0 || at+1+len(word) > 100 {
			if at > 0 {
				b.WriteByte('\n')
			}
			b.WriteString("#")
			at = 1
		}
		b.WriteString(" " + word)
		at += 1 + len(word)
	}
	b.WriteByte('\n')
}

func line(b *bytes.Buffer, r *Row) {
	fmt.Fprintf(b, "%s,%d,%d,%s,%s,%d,%d,%d\n", names[r.Kind], r.Min, r.Max, r.Algorithm, r.Protocol, r.Channels, r.Nodes, r.Ranks)
}

// ReadCSV reads a table and refuses what the plugin would misread: unknown names, empty
// fields, long lines, channels left to the plugin, rows that are never reached, and
// collectives that have no row for any size and communicator.
func ReadCSV(r io.Reader) ([]Row, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 4096), 1<<20)
	var rows []Row
	for n := 1; in.Scan(); n++ {
		text := strings.TrimSuffix(in.Text(), "\r")
		if len(text) > maxLine {
			return nil, fmt.Errorf("line %d: %d characters: the plugin reads at most %d as one line", n, len(text), maxLine)
		}
		if text == "" || text[0] == '#' {
			continue
		}
		row, err := parse(text)
		if err == nil {
			err = reachable(rows, &row)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		rows = append(rows, row)
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	return rows, complete(rows)
}

func parse(text string) (Row, error) {
	f := strings.Split(text, ",")
	if len(f) < 8 || len(f) > 10 {
		return Row{}, fmt.Errorf("%d fields: must be 8 to 10", len(f))
	}
	for i := range f {
		if f[i] = strings.Trim(f[i], " \t"); f[i] == "" {
			return Row{}, fmt.Errorf("field %d is empty: the plugin would take the next one for it", i+1)
		}
	}
	if len(f) > 8 && slices.ContainsFunc(f[8:], func(s string) bool { return s != "-1" }) {
		return Row{}, errors.New("numPipeOps and regBuff must be -1: other values leave calls without a row")
	}
	r := Row{Algorithm: f[3], Protocol: f[4]}
	var err error
	if r.Kind, err = kindOf(f[0]); err != nil {
		return r, err
	}
	var v [5]int64
	for i, field := range []int{1, 2, 5, 6, 7} {
		if v[i], err = strconv.ParseInt(f[field], 10, 64); err != nil {
			return r, fmt.Errorf("field %d: %q is not a number", field+1, f[field])
		}
		if i > 1 && (v[i] < -1 || v[i] > 1<<24) {
			return r, fmt.Errorf("field %d: %d is out of range", field+1, v[i])
		}
	}
	r.Min, r.Max, r.Channels, r.Nodes, r.Ranks = units.Bytes(v[0]), units.Bytes(v[1]), int(v[2]), int(v[3]), int(v[4])
	return r, r.check()
}

func kindOf(name string) (collective.Kind, error) {
	for k, n := range names {
		if n == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("collective %q cannot be tuned: the plugin would take it for all_reduce", name)
}

// reachable refuses a row that one before it hides.
func reachable(rows []Row, r *Row) error {
	for i, o := range rows {
		if o.Kind == r.Kind && o.Min <= r.Min && o.Max >= r.Max && (o.Nodes == -1 || o.Nodes == r.Nodes) &&
			(o.Ranks == -1 || o.Ranks == r.Ranks) {
			return fmt.Errorf("row %d before covers all of this one: the first match wins", i+1)
		}
	}
	return nil
}

// complete checks that every collective has rows for all sizes and communicators.
func complete(rows []Row) error {
	for _, k := range Kinds {
		var next units.Bytes
		for more := true; more && next >= 0; {
			more = false
			for _, r := range rows {
				if r.Kind == k && r.Nodes == -1 && r.Ranks == -1 && r.Min <= next && r.Max >= next {
					next, more = r.Max+1, true // wraps to negative after the last size
					break
				}
			}
		}
		if next >= 0 {
			return fmt.Errorf("%s has no row for any communicator from %d bytes on: the plugin would leave one channel there", names[k],
				next)
		}
	}
	return nil
}
