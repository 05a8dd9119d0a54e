package terminal

import (
	"strings"
)

// gap stands between columns.
const gap = 2

// narrow is how far a column may be cut to make a table fit.
const narrow = 8

// Table aligns columns. It is written by Flush.
type Table struct {
	screen *Screen
	heads  []string
	rows   [][]string
	spare  []string // columns to leave out when there is no room, the first one first
	fixed  string   // the column that is never cut: it is there to be copied
	blocks bool
	paint  func(row []string, column int) Colour
	left   []string // columns that were left out
	above  *Table   // that this one goes on below of, without a line of heads; nil: none
	taken  []int    // widths of the columns, once they are written
}

// Table begins a table; without heads its first column names the others.
func (s *Screen) Table(heads ...string) *Table {
	return &Table{screen: s, heads: heads, paint: func([]string, int) Colour { return Plain }}
}

// Painted says which colour the cell of a column of a row gets.
func (t *Table) Painted(paint func(row []string, column int) Colour) *Table {
	t.paint = paint
	return t
}

// Spare names the columns that are left out of a list which is too wide for its terminal, and the one that is never cut.
func (t *Table) Spare(fixed string, columns ...string) *Table {
	t.fixed, t.spare = fixed, columns
	return t
}

// Blocks makes a table that is too wide for its terminal a block for each row, so that nothing is left out of it.
func (t *Table) Blocks() *Table {
	t.blocks = true
	return t
}

// Below makes the table go on below another one of the same heads: it has none of its own, and its columns stand under that one's.
func (t *Table) Below(above *Table) *Table {
	t.above = above
	return t
}

// Row adds a line. An empty cell shows as a hyphen.
func (t *Table) Row(cells ...string) {
	for i, c := range cells {
		if cells[i] = Clean(c); cells[i] == "" {
			cells[i] = "-"
		}
	}
	t.rows = append(t.rows, cells)
}

// LeftOut names the columns for which there was no room.
func (t *Table) LeftOut() []string { return t.left }

// Flush writes the table.
func (t *Table) Flush() error {
	if len(t.rows) == 0 && (t.above != nil || len(t.heads) == 0) {
		return nil
	}
	room := t.screen.Columns()
	if t.above != nil {
		for _, column := range t.above.left {
			t.leaveOut(column)
		}
		t.spare = nil
	}
	widths := t.widths()
	if room > 0 && len(t.heads) > 0 && total(widths) > room {
		if t.blocks {
			return t.writeBlocks()
		}
		for _, column := range t.spare {
			if total(widths) <= room {
				break
			}
			t.leaveOut(column)
			widths = t.widths()
		}
		t.squeeze(widths, room)
	}
	var b strings.Builder
	t.taken = widths
	if len(t.heads) > 0 && t.above == nil {
		t.line(&b, t.heads, widths, func(int) Colour { return Bold })
	}
	for _, row := range t.rows {
		t.line(&b, row, widths, func(i int) Colour { return t.paint(row, i) })
	}
	_, err := t.screen.Write([]byte(b.String()))
	return err
}

// Name is what the cell of a column of a row is about: the head above it or, in a table without heads, the first cell of its row;
// empty for that cell itself.
func (t *Table) Name(row []string, column int) string {
	switch {
	case len(t.heads) > 0:
		return t.heads[column]
	case column == 0:
		return ""
	}
	return row[0]
}

func (t *Table) widths() []int {
	var widths []int
	see := func(row []string) {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(c))
		}
	}
	if t.above == nil {
		see(t.heads)
	}
	for _, row := range t.rows {
		see(row)
	}
	if t.above != nil {
		for i, w := range t.above.taken {
			widths[i] = max(widths[i], w)
		}
	}
	return widths
}

func total(widths []int) int {
	sum := gap * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

func (t *Table) leaveOut(column string) {
	for i, head := range t.heads {
		if head != column {
			continue
		}
		without := func(row []string) []string { return append(row[:i:i], row[i+1:]...) }
		t.heads = without(t.heads)
		for n, row := range t.rows {
			t.rows[n] = without(row)
		}
		t.left = append(t.left, column)
		return
	}
}

// squeeze cuts the widest columns until the table fits, if it can.
func (t *Table) squeeze(widths []int, room int) {
	for total(widths) > room {
		widest := -1
		for i, w := range widths {
			if t.heads[i] != t.fixed && w > narrow && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// line writes one line; the last column is not padded.
func (t *Table) line(b *strings.Builder, cells []string, widths []int, colour func(i int) Colour) {
	for i, c := range cells {
		shown := c
		if len(t.heads) > 0 && t.heads[i] != t.fixed {
			shown = Cut(c, widths[i])
		}
		pad := widths[i] - Width(shown) + gap
		if t.screen.Live() {
			shown = anchored(shown)
		}
		b.WriteString(t.screen.Paint(colour(i), shown))
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", pad))
		}
	}
	b.WriteByte('\n')
}

// writeBlocks writes each row as a list of its fields.
func (t *Table) writeBlocks() error {
	widths := 0
	for _, head := range t.heads {
		widths = max(widths, Width(head))
	}
	var b strings.Builder
	for n, row := range t.rows {
		if n > 0 {
			b.WriteByte('\n')
		}
		for i, c := range row {
			if c == "-" {
				continue
			}
			name := strings.ToLower(t.heads[i])
			b.WriteString("  " + t.screen.Paint(Dim, name) + strings.Repeat(" ", widths-Width(name)+gap) + t.screen.Paint(t.paint(row, i), anchored(c)) + "\n")
		}
	}
	_, err := t.screen.Write([]byte(b.String()))
	return err
}
