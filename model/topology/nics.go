package topology

import (
	"fmt"
	"regexp"
	"strconv"

	"gopkg.in/yaml.v3"
)

// nicRange is how a node type counts its adapters: nic[0-7].
var nicRange = regexp.MustCompile(`^([a-z_]+)\[0-(\d+)\]$`)

const maxNICs = 64

// setNICs gives every node type so many adapters: they serve its GPUs evenly and take the
// places of those there were. A fabric with a rail for each adapter keeps that.
func setNICs(root *yaml.Node, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > maxNICs {
		return fmt.Errorf("--set node.nics=%s: must be from 1 to %d", value, maxNICs)
	}
	before := 0
	parts := []*yaml.Node{root}
	if t := child(root, "templates"); t != nil {
		for i := 1; i < len(t.Content); i += 2 {
			parts = append(parts, t.Content[i])
		}
	}
	for _, p := range parts {
		before = max(before, resizeNICs(p, n))
	}
	if before == 0 {
		return fmt.Errorf("--set node.nics=%d: no node type has its adapters in one range such as nic[0-7]: change devices and links "+
			"instead", n)
	}
	fabrics := child(root, "fabrics")
	for i := 0; fabrics != nil && i < len(fabrics.Content); i++ {
		if rails := child(fabrics.Content[i], "rails"); rails != nil && rails.Value == strconv.Itoa(before) {
			rails.Value = strconv.Itoa(n)
		}
	}
	return nil
}

// resizeNICs changes the adapters of a node type, and how many there were; 0 without any.
func resizeNICs(t *yaml.Node, n int) (before int) {
	devices := child(t, "devices")
	for i := 0; devices != nil && i < len(devices.Content); i++ {
		d := devices.Content[i]
		id, kind := child(d, "id"), child(d, "kind")
		if id == nil || kind == nil || kind.Value != "nic" {
			continue
		}
		m := nicRange.FindStringSubmatch(id.Value)
		if m == nil {
			continue
		}
		last, err := strconv.Atoi(m[2])
		if err != nil {
			continue
		}
		old := id.Value
		before, id.Value = last+1, fmt.Sprintf("%s[0-%d]", m[1], n-1)
		relink(child(t, "links"), old, id.Value)
	}
	return before
}

func relink(links *yaml.Node, old, new string) {
	for i := 0; links != nil && i < len(links.Content); i++ {
		for _, end := range []string{"from", "to"} {
			if e := child(links.Content[i], end); e != nil && e.Value == old {
				e.Value = new
				if how := child(links.Content[i], "how"); how != nil && how.Value == "each" {
					how.Value = "block" // which is the same where there are as many
				}
			}
		}
	}
}
