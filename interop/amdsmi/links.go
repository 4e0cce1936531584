package amdsmi

import (
	"fmt"
	"strings"
)

// linkMetric reads a row of amd-smi xgmi's table of rates, of which only the GPU's address is taken.
func (r *reader) linkMetric(text string) error {
	_, _, err := r.linksOf(text)
	return err
}

// linkStatus reads a row of states: the GPU, its address, and for each GPU SELF, N/A, or a letter a link, as in U/U/D.
func (r *reader) linkStatus(text string) error {
	gpu, rest, err := r.linksOf(text)
	if err != nil || gpu < 0 {
		return err
	}
	return r.states(gpu, strings.Fields(rest))
}

// linksOf is the GPU that a row of amd-smi xgmi is of, −1 for other lines, and what stands behind its address.
func (r *reader) linksOf(text string) (gpu int, rest string, err error) {
	m := linksRow().FindStringSubmatch(text)
	if m == nil {
		return -1, "", nil
	}
	if gpu, err = r.numbered(m[1]); err == nil && !bus(&r.m.GPUs[gpu], m[2]) {
		err = fmt.Errorf("GPU %d is %s and %s: a file describes one machine", gpu, r.m.GPUs[gpu].Bus, m[2])
	}
	return gpu, m[3], err
}

// states counts the links of a GPU that are up: U, not D (down) or X (disabled). Where the driver does not tell (N/A), nothing is known.
func (r *reader) states(gpu int, cells []string) error {
	if r.others > 0 && r.others != len(cells) {
		return fmt.Errorf("states of GPU %d to %d GPUs, where others have %d: the text is cut off", gpu, len(cells), r.others)
	}
	r.others = len(cells)
	up, known := 0, false
	for _, cell := range cells {
		if cell == "SELF" || cell == "N/A" {
			continue
		}
		for _, state := range strings.Split(cell, "/") {
			if state != "U" && state != "D" && state != "X" {
				return fmt.Errorf("%.40q is no state of a link", cell)
			}
			known = true
			if state == "U" {
				up++
			}
		}
	}
	if known {
		r.m.GPUs[gpu].Up = up
	}
	return nil
}
