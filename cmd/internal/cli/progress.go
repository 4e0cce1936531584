package cli

import (
	"fmt"
	"io"
)

// Progress says how far a command is, on the line that tells how long it has taken.
type Progress struct {
	x              *watched // nil where nobody looks
	what, standing string
	done, total    int
}

// NewProgress is that of something, if the command's w is a terminal: commands that others run have none.
func NewProgress(w io.Writer, what string) *Progress {
	p := &Progress{what: what}
	if terminal(w) != nil {
		p.x = now.Load()
	}
	return p
}

// Set says how many parts are done, of how many.
func (p *Progress) Set(done, total int) { p.update(func() { p.done, p.total = done, total }) }

// Say says how the part that is under way stands.
func (p *Progress) Say(standing string) { p.update(func() { p.standing = " " + standing }) }

// Finish takes it away.
func (p *Progress) Finish() { p.update(func() { p.what = "" }) }

func (p *Progress) update(change func()) {
	if p.x == nil {
		return
	}
	p.x.mu.Lock()
	defer p.x.mu.Unlock()
	change()
	if p.x.far = ""; p.what != "" {
		p.x.far = fmt.Sprintf(", %s %d of %d%s", p.what, p.done, p.total, p.standing)
	}
}
