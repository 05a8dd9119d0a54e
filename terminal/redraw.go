package terminal

import (
	"bytes"
	"fmt"
	"strings"
)

// gutter is what a redrawn page has for marks on its left.
const gutter = 2

// Frame takes a page that is shown later, through Redraw: it is as wide as the screen, less two columns for marks.
type Frame struct {
	text   bytes.Buffer
	screen *Screen
}

// Frame begins a page.
func (s *Screen) Frame() *Frame { return &Frame{screen: s} }

// Write adds to the page.
func (f *Frame) Write(p []byte) (int, error) { return f.text.Write(p) }

// Text is the page.
func (f *Frame) Text() string { return f.text.String() }

// Size implements Sized.
func (f *Frame) Size() (columns, rows int) {
	return max(f.screen.Columns()-gutter, 0), f.screen.Rows()
}

// Redraw puts a page in the place of what the screen shows. Lines that do not fit are counted in the last one.
func (s *Screen) Redraw(page []byte) error {
	lines := strings.Split(strings.TrimRight(string(page), "\n"), "\n")
	if room := s.Rows() - 1; room > 1 && len(lines) > room {
		hidden := len(lines) - room + 1
		lines = append(lines[:room-1], fmt.Sprintf("… %d more lines", hidden))
	}
	var b bytes.Buffer
	b.WriteString("\x1b[H") // the upper left corner; what is there is written over, so that nothing flickers
	for _, line := range lines {
		b.WriteString(line + "\x1b[K\n")
	}
	b.WriteString("\x1b[J")
	_, err := s.w.Write(b.Bytes())
	return err
}
