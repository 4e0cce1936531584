package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows a bar on a terminal for what takes longer than a second.
type progress struct {
	bar   *progressbar.ProgressBar
	began time.Time
	w     io.Writer
	what  string
	total int
}

func newProgress(w io.Writer, what string, total int) *progress {
	p := &progress{began: time.Now(), what: what, total: total}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.w = w
		}
	}
	return p
}

func (p *progress) set(done, _ int) {
	if p.w == nil || time.Since(p.began) < time.Second {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(p.total, progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(p.what), progressbar.OptionClearOnFinish())
	}
	// A bar that cannot be drawn is no reason to stop.
	_ = p.bar.Set(done)
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
