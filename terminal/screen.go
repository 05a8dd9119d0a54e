package terminal

import (
	"errors"
	"io"
	"os"

	"golang.org/x/term"
)

// When says when to use colours.
type When string

// The words of --color.
const (
	Auto   When = "auto" // on a terminal, unless NO_COLOR is set or TERM is dumb
	Always When = "always"
	Never  When = "never"
)

// String is the word.
func (w *When) String() string { return string(*w) }

// Set reads the word.
func (w *When) Set(s string) error {
	switch When(s) {
	case Auto, Always, Never:
		*w = When(s)
		return nil
	}
	return errors.New("must be auto, always or never")
}

// Type names what a flag takes.
func (*When) Type() string { return "when" }

// Sized is a writer that is a terminal, whatever it is made of; a file is asked by its descriptor.
type Sized interface {
	Size() (columns, rows int)
}

// Screen is one place where output goes.
type Screen struct {
	w      io.Writer
	sized  func() (columns, rows int) // nil: no terminal
	colour bool
}

// Open looks at a writer. lookUp reads a variable of the environment; "": it is not set.
func Open(w io.Writer, when When, lookUp func(name string) string) *Screen {
	s := &Screen{w: w}
	switch w := w.(type) {
	case *Frame:
		if w.screen.Live() {
			s.sized = w.Size
		}
	case Sized:
		s.sized = w.Size
	case *os.File:
		if fd := int(w.Fd()); term.IsTerminal(fd) {
			s.sized = func() (int, int) {
				columns, rows, err := term.GetSize(fd)
				if err != nil {
					return 0, 0
				}
				return columns, rows
			}
		}
	}
	dumb := lookUp("TERM") == "dumb"
	if dumb {
		s.sized = nil // it can't go back, so it is written to as a file is
	}
	s.colour = when == Always || when != Never && s.sized != nil && lookUp("NO_COLOR") == ""
	return s
}

// Write writes as it is.
func (s *Screen) Write(p []byte) (int, error) { return s.w.Write(p) }

// Live reports whether a person looks at it now.
func (s *Screen) Live() bool { return s.sized != nil }

// Columns is how many letters fit into a line; 0: as many as there are.
func (s *Screen) Columns() int {
	if s.sized == nil {
		return 0
	}
	columns, _ := s.sized()
	return max(columns, 0)
}

// Rows is how many lines fit; 0: as many as there are.
func (s *Screen) Rows() int {
	if s.sized == nil {
		return 0
	}
	_, rows := s.sized()
	return max(rows, 0)
}
