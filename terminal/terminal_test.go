package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
)

// fakeTerminal is a terminal of a size.
type fakeTerminal struct {
	bytes.Buffer
	columns, rows int
}

func (f *fakeTerminal) Size() (int, int) { return f.columns, f.rows }

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if value, ok := strings.CutPrefix(p, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestOpen_ColourOnlyWhereItIsSeen(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tty := &fakeTerminal{columns: 80, rows: 24}
	for _, tc := range []struct {
		screen       *Screen
		live, colour bool
	}{
		{Open(&bytes.Buffer{}, Auto, env()), false, false},
		{Open(file, Auto, env()), false, false},
		{Open(file, Always, env("NO_COLOR=1")), false, true},
		{Open(tty, Auto, env()), true, true},
		{Open(tty, Auto, env("NO_COLOR=1")), true, false},
		{Open(tty, Auto, env("NO_COLOR=")), true, true},
		{Open(tty, Never, env()), true, false},
		{Open(tty, Always, env("NO_COLOR=1")), true, true},
		{Open(tty, Auto, env("TERM=dumb")), false, false},
	} {
		if got := tc.screen.Paint(Red, "x") != "x"; got != tc.colour || tc.screen.Live() != tc.live {
			t.Errorf("colour %v, live %v, want %v and %v", got, tc.screen.Live(), tc.colour, tc.live)
		}
	}
}

// Keeps out texts of others that steer the terminal, leave their line or turn the letters around them.
func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"Ünïcode 漢字 😀":                      "Ünïcode 漢字 😀",
		"a\x1b[2Jb\x07\x00\u009b31m":        "a·[2Jb···31m",
		"a\u202eb\u2066c\u200fd\ufeff":      "a·b·c·d·",
		"one\ntwo\tthree\r\u2028four":       "one two three  four",
		"\U000e0041\ue000\xff":              "···",
		"e" + strings.Repeat("\u0301", 900): "e" + strings.Repeat("\u0301", maxMarks),
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// JSON on a terminal steers nothing, and means what it meant.
func TestEscapeJSON(t *testing.T) {
	const in, want = "{\"a\\n\":\"x\u009b31m\u202e\u007f漢字\U000e0041\",\n\t\"b\":1}\n", "{\"a\\n\":\"x\\u009b31m\\u202e\\u007f漢字\\udb40\\udc41\",\n\t\"b\":1}\n"
	got := EscapeJSON([]byte(in))
	if string(got) != want {
		t.Errorf("it becomes %q, want %q", got, want)
	}
	var before, after any
	if err := errors.Join(json.Unmarshal([]byte(in), &before), json.Unmarshal(got, &after)); err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("%v: %v means %v", err, before, after)
	}
}

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		in    string
		width int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"漢字漢字", 8, "漢字漢字"}, {"漢字漢字", 6, "漢字…"}, {"漢字漢字", 4, "漢…"}, {"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{strings.Repeat("x", 10_000), 1, "…"},
	} {
		if got := Cut(tc.in, tc.width); got != tc.want || Width(got) > tc.width {
			t.Errorf("%q at %d: %q, want %q", tc.in, tc.width, got, tc.want)
		}
	}
}

// Columns stand under one another also where letters are wide, and a pipe gets everything.
func TestTable_Aligns(t *testing.T) {
	var out bytes.Buffer
	table := Open(&out, Auto, env()).Table("NAME", "STATE", "NOTE")
	table.Row("漢字", "sent", strings.Repeat("n", 100))
	table.Row("e\u0301", "", "x")
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "NAME  STATE  NOTE\n漢字  sent   " + strings.Repeat("n", 100) + "\ne\u0301     -      x\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func wide(tty *fakeTerminal) *Table {
	t := Open(tty, Never, env()).Table("ID", "STATE", "CHANNEL", "RECIPIENT")
	t.Row("0123456789", "ambiguous (no_answer), maybe sent", "sms", "+14155550142")
	t.Row("0123456789", "sent", "email", "a@example.test")
	return t
}

// A list that is too wide loses its spare columns first, then the ends of its widest cells, but never what is there to be copied.
func TestTable_Fits(t *testing.T) {
	for _, tc := range []struct {
		columns int
		want    string
		left    int
	}{
		{100, "ID          STATE                              CHANNEL  RECIPIENT\n" +
			"0123456789  ambiguous (no_answer), maybe sent  sms      +14155550142\n" +
			"0123456789  sent                               email    a@example.test\n", 0},
		{64, "ID          STATE                              RECIPIENT\n" +
			"0123456789  ambiguous (no_answer), maybe sent  +14155550142\n" +
			"0123456789  sent                               a@example.test\n", 1},
		{40, "ID          STATE          RECIPIENT\n" +
			"0123456789  ambiguous (n…  +14155550142\n" +
			"0123456789  sent           a@example.te…\n", 1},
	} {
		tty := &fakeTerminal{columns: tc.columns, rows: 24}
		table := wide(tty).Spare("ID", "CHANNEL")
		if err := table.Flush(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(tty.String()) {
			if Width(strings.TrimSuffix(line, "\n")) > tc.columns || !strings.Contains(line, "ID") && !strings.HasPrefix(line, "0123456789  ") {
				t.Errorf("at %d columns: %q", tc.columns, line)
			}
		}
		if tty.String() != tc.want || len(table.LeftOut()) != tc.left {
			t.Errorf("at %d columns, without %v:\n%s", tc.columns, table.LeftOut(), tty.String())
		}
	}
}

// Pages of a list read as one: the columns of a later page stand under the first one's, and the same ones are left out.
func TestTable_GoesOnBelow(t *testing.T) {
	tty := &fakeTerminal{columns: 64, rows: 24}
	first := wide(tty).Spare("ID", "CHANNEL")
	if err := first.Flush(); err != nil {
		t.Fatal(err)
	}
	tty.Reset()
	second := Open(tty, Never, env()).Table("ID", "STATE", "CHANNEL", "RECIPIENT").Below(first)
	second.Row("1", "sent", "sms", "x")
	third := Open(tty, Never, env()).Table("ID", "STATE", "CHANNEL", "RECIPIENT").Below(second)
	third.Row("0123456789", "sent", "sms", strings.Repeat("r", 40))
	for _, table := range []*Table{second, third} {
		if err := table.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	want := "1           sent                               x\n" +
		"0123456789  sent                       " + strings.Repeat("r", 24) + "…\n"
	if tty.String() != want {
		t.Errorf("got\n%s\nwant\n%s", tty.String(), want)
	}
}

// A record that is too wide shows as blocks, with nothing left out.
func TestTable_Blocks(t *testing.T) {
	tty := &fakeTerminal{columns: 40, rows: 24}
	table := wide(tty).Blocks()
	table.Row("9", "", "sms", "שלום")
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
	want := `  id         0123456789
  state      ambiguous (no_answer), maybe sent
  channel    sms
  recipient  +14155550142

  id         0123456789
  state      sent
  channel    email
  recipient  a@example.test

  id         9
  channel    sms
` + "  recipient  שלום\u200e\n"
	if tty.String() != want {
		t.Errorf("got\n%s\nwant\n%s", tty.String(), want)
	}
}

func TestProgress_OnlyOnATerminal(t *testing.T) {
	var pipe bytes.Buffer
	tty := &fakeTerminal{columns: 80, rows: 24}
	for _, screen := range []*Screen{Open(&pipe, Always, env()), Open(tty, Auto, env())} {
		p := screen.Progress("rows", 100, false)
		p.Set(50)
		p.Say("a\x1b[2Jb")
		p.Set(100)
		p.End()
	}
	if pipe.Len() > 0 || !strings.Contains(tty.String(), "50%") || strings.Contains(tty.String(), "\x1b[2J") {
		t.Errorf("pipe %q, terminal %q", pipe.String(), tty.String())
	}
}

func TestRedraw(t *testing.T) {
	tty := &fakeTerminal{columns: 80, rows: 4}
	if err := Open(tty, Auto, env()).Redraw([]byte("a\nb\nc\nd\n")); err != nil {
		t.Fatal(err)
	}
	if want := "\x1b[Ha\x1b[K\nb\x1b[K\n… 2 more lines\x1b[K\n\x1b[J"; tty.String() != want {
		t.Errorf("got %q", tty.String())
	}
}
