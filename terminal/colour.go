package terminal

// Colour is one of the terminal's own colours, which its user has chosen to be readable.
type Colour string

// The colours; Plain is the text's own.
const (
	Plain  Colour = ""
	Bold   Colour = "1"
	Dim    Colour = "2"
	Red    Colour = "31"
	Green  Colour = "32"
	Yellow Colour = "33"
	Cyan   Colour = "36"
)

// Paint puts a text in a colour, where there are colours. A colour is never all that tells something: without it the text says the
// same.
func (s *Screen) Paint(c Colour, text string) string {
	if !s.colour || c == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}
