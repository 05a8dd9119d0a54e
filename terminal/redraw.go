package terminal

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// To is the same screen with another writer behind it: what is drawn there looks as it would here.
func (s *Screen) To(w io.Writer) *Screen {
	return &Screen{w: w, sized: s.sized, colour: s.colour}
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
