package table

import (
	"bytes"
	"fmt"
	"regexp"
)

// Block is a part of a page that a command writes: it stands between <!-- NAME --> and <!-- end NAME -->; what stands around it people
// write.
type Block struct{ Name, Text string }

var blockBegin = regexp.MustCompile(`(?m)^<!-- (.+) -->$`)

// Blocks are those of a page, in order.
func Blocks(page []byte) (out []Block) {
	for _, m := range blockBegin.FindAllSubmatchIndex(page, -1) {
		name := string(page[m[2]:m[3]])
		text, _, whole := bytes.Cut(bytes.TrimPrefix(page[m[1]:], []byte("\n")), fmt.Appendf(nil, "<!-- end %s -->\n", name))
		if whole {
			out = append(out, Block{name, string(text)})
		}
	}
	return out
}

// Fill puts blocks into a page; without a page they are the page.
func Fill(page []byte, blocks []Block) ([]byte, error) {
	out := page
	for _, b := range blocks {
		begin, end := fmt.Sprintf("<!-- %s -->\n", b.Name), fmt.Sprintf("<!-- end %s -->\n", b.Name)
		text := begin + b.Text + end
		if len(page) == 0 {
			out = append(out, text...)
			continue
		}
		from, to := bytes.Index(out, []byte(begin)), bytes.Index(out, []byte(end))
		if from < 0 || to < from {
			return nil, fmt.Errorf("the page has no place for %q: write %q and %q where it belongs", b.Name, begin, end)
		}
		out = append(append(append([]byte{}, out[:from]...), text...), out[to+len(end):]...)
	}
	return out, nil
}
