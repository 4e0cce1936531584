package amdsmi

import (
	"bytes"

	"railyard/internal/lazy"
)

var (
	rocm    = lazy.Regexp(`(?m)^=+ ROCm System Management Interface =+\s*$|^\s*\{\s*"(?:system|card\d+)": ?\{`)
	ofGPU   = lazy.Regexp(`(?m)^GPU: \d+\s*\n\s+[A-Z_ ]+:|[[{,]\s*"gpu": ?\d+,`)
	static  = lazy.Regexp(`(?m)^\s+(?:MARKET_NAME|BDF):|"(?:asic|bus|bdf|vram)":`)
	metric  = lazy.Regexp(`(?m)^\s+(?:USAGE|PCIE|ECC|MEM_USAGE|THROTTLE):\s*$|"(?:usage|pcie|ecc|mem_usage|throttle)": ?\{`)
	links   = lazy.Regexp(`(?m)^(?:XGMI LINK STATUS|LINK METRIC TABLE):\s*$|"link_(?:metrics|status)": ?[{[]`)
	matched = lazy.Regexp(`"num_hops"|"link_accessibility"|"link_status": ?"|\(Topology\) (?:Link type|Weight) between DRM devices`)
)

// Begins reports whether a file has matrices of how GPUs are joined.
func Begins(data []byte) bool {
	if isJSON(data) {
		return matched().Match(data)
	}
	for line := range bytes.Lines(data) {
		if s := sectionOf(string(line)); s != nil && s.matrix() && s.cell != nil {
			return true
		}
	}
	return false
}

// HasLinks reports whether a file has what amd-smi xgmi prints.
func HasLinks(data []byte) bool { return links().Match(data) && (!isJSON(data) || ofGPU().Match(data)) }

// HasMetrics reports whether a file has what amd-smi metric prints.
func HasMetrics(data []byte) bool { return ofGPU().Match(data) && metric().Match(data) }

// Is reports whether a file is an output of AMD's tools.
func Is(data []byte) bool {
	return Begins(data) || HasLinks(data) || HasMetrics(data) || rocm().Match(data) || ofGPU().Match(data) && static().Match(data)
}

// isJSON reports whether a text is an object or a list of JSON.
func isJSON(data []byte) bool {
	text := bytes.TrimSpace(data)
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}
