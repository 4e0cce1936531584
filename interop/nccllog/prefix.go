package nccllog

import (
	"bytes"
	"strings"

	"railyard/internal/lazy"
)

// prefix is what NCCL writes before each message, whatever launchers and timestamps add before it: host:pid:tid [GPU], and of warnings the
// line of NCCL's source.
var prefix = lazy.Regexp(`([^\s:<>\[\]]+):(\d+):\d+ \[(-?\d+)\] (?:\S+:\d+ (?:\([^)]*\) )?)?NCCL (INFO|WARN) (.*)$`)

// bare is a message of which somebody has cut that off, or made a part of it unreadable.
var bare = lazy.Regexp(`^(.*?)(?:\[(-?\d+)\] )?(\S+\.\w+:\d+ (?:\([^)]*\) )?)?NCCL (INFO|WARN) (.*)$`)

// times are what launchers and collectors of logs write before lines, other on each.
var times = lazy.Regexp(`\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?|` +
	`\b\d\d:\d\d:\d\d(?:[.,]\d+)?|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d+\b|\b\d{10,}(?:\.\d+)?`)

// line is one of NCCL's lines.
type line struct {
	host    string // "": not said
	process string // the same for all GPUs of a process, as far as lines tell
	gpu     string
	warning bool
	text    string
}

// parted takes a line apart; false where it is none of NCCL's. Without host and process, a message counts that is understood, or a warning
// that nothing stands before but its place in NCCL's source: so do not sentences about NCCL.
func parted(text string) (line, bool) {
	if m := prefix().FindStringSubmatch(text); m != nil {
		return line{m[1], m[1] + " " + m[2], m[3], m[4] == "WARN", m[5]}, true
	}
	m := bare().FindStringSubmatch(text)
	if m == nil {
		return line{}, false
	}
	before := strings.TrimSpace(times().ReplaceAllString(m[1], ""))
	l := line{"", before, m[2], m[4] == "WARN", m[5]}
	if l.warning {
		return l, m[3] != "" || before == ""
	}
	x, _ := understood(l.text)
	return l, x != nil
}

// understood is the rule that a message is of, with what it finds; nil: of none.
func understood(text string) (*rule, []string) {
	for i := range rules {
		x := &rules[i]
		if !strings.Contains(text, x.text) {
			continue
		}
		if found := x.match().FindStringSubmatch(text); found != nil {
			return x, found
		}
	}
	return nil, nil
}

// Is reports whether a file looks like a log of NCCL: a line of its first bytes is one of NCCL's.
func Is(head []byte) bool {
	for text := range bytes.Lines(head) {
		if !bytes.Contains(text, ours) {
			continue
		}
		if _, ok := parted(strings.TrimRight(string(text), "\r\n")); ok {
			return true
		}
	}
	return false
}

// ours is in every line of NCCL's.
var ours = []byte("NCCL ")
