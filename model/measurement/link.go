package measurement

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"railyard/model/units"
)

// Link is something measured about links, copies or launches, without a collective.
type Link struct {
	Kind   string      // what, such as flag_oneway_relaxed or ll_ring
	Src    string      // number of a GPU, "host", or "*" for all at once
	Dst    string      // the same
	Blocks int         // thread blocks of the kernel; 0: does not apply
	Bytes  units.Bytes // of a copy or message; 0: does not apply
	Value  float64
	Unit   string // us, ns, GBps
}

// linkHeader are the columns of a file of links, in order.
var linkHeader = []string{"kind", "src", "dst", "blocks", "bytes", "value", "unit"}

// ReadLinks reads what WriteLinks writes. Lines that begin with # before the header are
// comments. Errors name file, line and column, all of them at once.
func ReadLinks(r io.Reader, file string) ([]Link, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = len(linkHeader)
	in.Comment = '#'
	header, err := in.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s:1: the file is empty: the first line must be %s", file, strings.Join(linkHeader, ","))
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, err)
	case !slices.Equal(header, linkHeader):
		line, _ := in.FieldPos(0)
		return nil, fmt.Errorf("%s:%d: the header is %s, and must be %s", file, line, strings.Join(header, ","),
			strings.Join(linkHeader, ","))
	}
	var out []Link
	var errs []error
	for len(errs) < maxErrors {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", file, err))
			break
		}
		line, _ := in.FieldPos(0)
		l, err := parseLink(cells)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", file, line, err))
			continue
		}
		out = append(out, l)
	}
	return out, errors.Join(errs...)
}

func parseLink(cells []string) (Link, error) {
	l := Link{Kind: cells[0], Src: cells[1], Dst: cells[2], Unit: cells[6]}
	if l.Kind == "" || l.Unit == "" {
		return l, errors.New("kind and unit must be given")
	}
	if cells[3] != "" {
		n, err := strconv.Atoi(cells[3])
		if err != nil || n < 0 || n > 1<<20 {
			return l, fmt.Errorf("blocks: %q is not a number of blocks", cells[3])
		}
		l.Blocks = n
	}
	if cells[4] != "" {
		b, err := units.ParseBytes(cells[4])
		if err != nil || b < 0 {
			return l, fmt.Errorf("bytes: %q is not a size", cells[4])
		}
		l.Bytes = b
	}
	v, err := strconv.ParseFloat(cells[5], 64)
	if err != nil || !(v >= 0 && v <= maxTimeUS) {
		return l, fmt.Errorf("value: %q is not a number of zero or more", cells[5])
	}
	l.Value = v
	return l, nil
}

// WriteLinks writes rows as CSV; 0 blocks and bytes are left empty.
func WriteLinks(w io.Writer, rows []Link) error {
	out := csv.NewWriter(w)
	if err := out.Write(linkHeader); err != nil {
		return err
	}
	count := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	for _, l := range rows {
		value := strconv.FormatFloat(l.Value, 'f', -1, 64)
		if err := out.Write([]string{l.Kind, l.Src, l.Dst, count(int64(l.Blocks)), count(int64(l.Bytes)), value, l.Unit}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
