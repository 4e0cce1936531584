package cli

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress shows a bar on a terminal for what takes longer than a second.
type Progress struct {
	bar   *progressbar.ProgressBar
	began time.Time
	w     io.Writer
	what  string
	total int
}

// NewProgress is a bar on w if that is a terminal.
func NewProgress(w io.Writer, what string) *Progress {
	return &Progress{began: time.Now(), what: what, w: terminal(w)}
}

// Set says how many parts are done, of how many.
func (p *Progress) Set(done, total int) {
	p.total = total
	if p.w == nil || time.Since(p.began) < time.Second {
		return
	}
	if p.bar == nil {
		barStands(true)
		p.bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(p.what),
			progressbar.OptionClearOnFinish())
	}
	// A bar that cannot be drawn is no reason to stop.
	_ = p.bar.Set(done)
}

// Say says how the part that is under way stands.
func (p *Progress) Say(standing string) {
	if p.bar == nil {
		p.Set(0, p.total)
	}
	if p.bar != nil {
		p.bar.Describe(p.what + " " + standing)
	}
}

// Finish takes the bar away.
func (p *Progress) Finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
		barStands(false)
	}
}
