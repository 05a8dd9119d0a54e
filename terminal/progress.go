package terminal

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// Progress is a bar below what was written so far, or nothing at all where nobody looks. It goes away when it ends.
type Progress struct {
	screen *Screen
	bar    *progressbar.ProgressBar // nil: nobody looks
}

// Progress begins a bar; total 0: nobody knows how much there is, so it only counts. Bytes are shown as such.
func (s *Screen) Progress(what string, total int64, bytes bool) *Progress {
	if !s.Live() {
		return &Progress{screen: s}
	}
	if total <= 0 {
		total = -1
	}
	// The width is the bar's own, beside the text and the counts of a narrow terminal.
	return &Progress{s, progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(s), progressbar.OptionSetDescription(Clean(what)), progressbar.OptionShowBytes(bytes), progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(max(min(s.Columns()-60, 40), 8)), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetSpinnerChangeInterval(0), progressbar.OptionSpinnerType(14), progressbar.OptionClearOnFinish(),
	)}
}

// Set says how much is done.
func (p *Progress) Set(done int64) {
	if p.bar != nil {
		_ = p.bar.Set64(done) // a bar that can't be drawn is no reason to stop
	}
}

// Add says that so much more is done.
func (p *Progress) Add(more int64) {
	if p.bar != nil {
		_ = p.bar.Add64(more)
	}
}

// Above writes a line above the bar.
func (p *Progress) Above(line string) {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	_, _ = p.screen.Write([]byte(line + "\n")) // what can't be shown is no reason to stop either
	if p.bar != nil {
		_ = p.bar.RenderBlank()
	}
}

// Say puts other words before the bar.
func (p *Progress) Say(what string) {
	if p.bar != nil {
		p.bar.Describe(Clean(what))
	}
}

// End takes the bar away.
func (p *Progress) End() {
	if p.bar != nil {
		_ = p.bar.Exit()
		_ = p.bar.Clear()
	}
}
