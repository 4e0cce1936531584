package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
)

// WriteChrome writes the trace in Chrome's trace event format, which Perfetto opens:
// a process for each rank, a thread for each channel and phase, times in microseconds.
func WriteChrome(w io.Writer, t *Trace) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"name\":%s,\"source\":%s},\"traceEvents\":[\n", quote(t.Name),
		quote(t.Source))
	for _, r := range t.Shown() {
		fmt.Fprintf(out, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"rank %d\"}},\n", r, r)
	}
	for i := range t.Events {
		writeEvent(out, &t.Events[i])
		if i+1 < len(t.Events) {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
	}
	out.WriteString("]}\n")
	return out.Flush()
}

func quote(s string) string {
	b, _ := json.Marshal(s) // a string always marshals
	return string(b)
}

func writeEvent(out *bufio.Writer, e *Event) {
	name := e.Op
	if e.Peer >= 0 {
		name = fmt.Sprintf("%s %d", e.Op, e.Peer)
	}
	tid, times := e.Channel*64+e.Phase, "" // at most 64 phases a channel
	if e.Times > 1 {
		times = fmt.Sprintf(",\"stands_for\":%d", e.Times)
	}
	fmt.Fprintf(out, "{\"name\":%s,\"cat\":%s,\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%s,\"dur\":%s,"+
		"\"args\":{\"channel\":%d,\"phase\":%d,\"slice\":%d,\"bytes\":%d,\"route\":%s%s}}",
		quote(name), quote(e.Op), e.Rank, tid, micros(int64(e.Start)), micros(int64(e.End-e.Start)), e.Channel, e.Phase, e.Slice, e.Bytes,
		quote(e.Route), times)
}

// micros prints picoseconds as microseconds without rounding.
func micros(ps int64) string { return fmt.Sprintf("%d.%06d", ps/1e6, ps%1e6) }
