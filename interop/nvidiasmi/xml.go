package nvidiasmi

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"railyard/interop/foreign"
	"railyard/model/health"
)

// maxDepth bounds how deep elements may nest.
const maxDepth = 32

// IsXML reports whether a file is what `nvidia-smi -q -x` writes.
func IsXML(data []byte) bool {
	return bytes.Contains(data[:min(len(data), 1024)], []byte("<nvidia_smi_log"))
}

// ReadXML reads what `nvidia-smi -q -x` writes. GPUs are numbered as they stand there.
func ReadXML(s *health.State, file string, data []byte) error {
	r := &report{state: s, file: file}
	d := xml.NewDecoder(bytes.NewReader(data))
	var path []string
	var text strings.Builder
	for {
		tok, err := d.Token()
		line, _ := d.InputPos()
		switch {
		case errors.Is(err, io.EOF) && len(path) == 0:
			return r.end()
		case err != nil:
			return foreign.At(line, "%w", err)
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if path = append(path, t.Name.Local); len(path) > maxDepth {
				return foreign.At(line, "elements nest deeper than %d", maxDepth)
			}
			text.Reset()
			if r.opens(path) {
				r.begin(line, attribute(t, "id"))
			}
		case xml.CharData:
			text.Write(t)
		case xml.EndElement:
			r.element(line, path, strings.TrimSpace(text.String()))
			path = path[:len(path)-1]
			text.Reset()
		}
	}
}

func (r *report) opens(path []string) bool {
	return len(path) == 2 && path[0] == "nvidia_smi_log" && path[1] == "gpu"
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// element notes what an element said.
func (r *report) element(line int, path []string, text string) {
	if path[0] != "nvidia_smi_log" {
		return
	}
	switch inside := strings.Join(path[1:], "/"); {
	case inside == "driver_version":
		r.host(line, "driver", text)
	case inside == "cuda_version":
		r.host(line, "cuda", text)
	case inside == "attached_gpus":
		r.attached(line, text)
	case strings.HasPrefix(inside, processes):
		r.process(line, strings.TrimPrefix(inside, processes), text)
	case strings.HasPrefix(inside, "gpu/"):
		if e := byXML[strings.TrimPrefix(inside, "gpu/")]; e != nil {
			r.value(line, e, text)
		}
	}
}

// processes are where a GPU's stand.
const processes = "gpu/processes/process_info"

// process notes one that computes on a GPU (type C, or M+C under MPS), at its end; others draw (G).
func (r *report) process(line int, inside, text string) {
	switch inside {
	case "/pid":
		r.pid = text
	case "/type":
		r.computes = strings.Contains(text, "C")
	case "":
		if _, err := strconv.ParseUint(r.pid, 10, 31); err == nil && r.computes && r.gpu != nil {
			r.state.Set(r.gpu, "processes", strings.TrimSpace(r.gpu.Text("processes")+" "+r.pid), r.at(line))
		}
		r.pid, r.computes = "", false
	}
}
