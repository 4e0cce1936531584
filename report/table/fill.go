package table

import (
	"bytes"
	"fmt"
)

// Block is a part of a page that a command writes: it stands between <!-- NAME --> and <!-- end NAME -->; what stands around it people
// write.
type Block struct{ Name, Text string }

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
