package trace

import (
	"bytes"
	"encoding/json"
	"testing"

	"railyard/internal/golden"
	_ "railyard/internal/long" // accepts -long
)

func TestWriteChrome(t *testing.T) {
	tr := &Trace{Name: "ring", Source: "predicted (profile \"line\")", Ranks: 2, Events: []Event{
		{Rank: 0, Peer: 1, Op: "send", Bytes: 1024, Start: 1, End: 1_500_000, Route: "NVL"},
		{Rank: 1, Peer: -1, Channel: 1, Phase: 2, Slice: 3, Op: "reduce", Bytes: 512, Start: 1_500_000, End: 2_000_001},
	}}
	var buf bytes.Buffer
	if err := WriteChrome(&buf, tr); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(buf.Bytes()) {
		t.Error("not JSON")
	}
	golden.Equal(t, "two-events.json", buf.Bytes())
}
