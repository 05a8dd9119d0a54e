package providers

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReadReply(t *testing.T) {
	for text, want := range map[string]struct {
		code     int
		enhanced string
		lines    int
		err      error
	}{
		"250 2.1.0 Ok\r\n": {250, "2.1.0", 1, nil},
		"250\r\n":          {250, "", 1, nil},
		"250 \r\n":         {250, "", 1, nil},
		"550-5.1.1 No\r\n550-\r\n550 5.1.1 x\r\n": {550, "5.1.1", 3, nil},
		"250-mx\r\n250\r\n":                       {250, "", 2, nil},
		"550 5.1.1\r\n":                           {550, "5.1.1", 1, nil},
		"550 4.1.1 other class\r\n":               {550, "", 1, nil},
		"550 5.1 short\r\n":                       {550, "", 1, nil},
		"550 5.1.1234 long\r\n":                   {550, "", 1, nil},
		"550 5.1.a\r\n":                           {550, "", 1, nil},
		"550 192.0.2.1 is listed\r\n":             {550, "", 1, nil},
		"250 caf\xe9 \x00\r\n":                    {250, "", 1, nil},
		"":                                        {err: io.EOF},
		"250 Ok":                                  {err: io.ErrUnexpectedEOF},
		"250-Ok\r\n":                              {err: io.ErrUnexpectedEOF},
		"250 Ok\n":                                {err: errReply},
		"250 Ok\r":                                {err: io.ErrUnexpectedEOF},
		"250 Ok\rno\r\n":                          {err: errReply},
		"250-a\r\n251 b\r\n":                      {err: errReply},
		"250-a\r\nb\r\n":                          {err: errReply},
		"25\r\n":                                  {err: errReply},
		"2500 Ok\r\n":                             {err: errReply},
		"250_Ok\r\n":                              {err: errReply},
		"150 Ok\r\n":                              {err: errReply},
		"199 Ok\r\n":                              {err: errReply},
		"600 Ok\r\n":                              {err: errReply},
		"260 Ok\r\n":                              {err: errReply},
		" 250 Ok\r\n":                             {err: errReply},
		"+250 Ok\r\n":                             {err: errReply},
		"\u0662\u0665\u0660 Ok\r\n":               {err: errReply},
		strings.Repeat("250-a\r\n", 99) + "250 a\r\n":  {250, "", 100, nil},
		strings.Repeat("250-a\r\n", 100) + "250 a\r\n": {err: errReply},
		"250 " + strings.Repeat("a", 2042) + "\r\n":    {250, "", 1, nil},
		"250 " + strings.Repeat("a", 2043) + "\r\n":    {err: errReply},
	} {
		r, err := readReply(bufio.NewReaderSize(strings.NewReader(text), maxReplyLine))
		if !errors.Is(err, want.err) || r.code != want.code || r.enhanced != want.enhanced || len(r.lines) != want.lines {
			t.Errorf("%.60q: %d %q, %d lines, %v", text, r.code, r.enhanced, len(r.lines), err)
		}
		if err == nil && string(r.raw) != text {
			t.Errorf("%.60q was kept as %.60q", text, r.raw)
		}
	}
}

// Whatever comes, a reply is read to its end and no further, and its bytes say what its code says.
func FuzzReadReply(f *testing.F) {
	for _, seed := range []string{
		"250 2.0.0 Ok\r\n250 Ok\r\n", "250-a\r\n250 b\r\n", "250-a\r\n550 b\r\n", "550 5.1.1\r\n", "250 a\nb\r\n", "250\r\n", "25", "354 Go\r\n", "421 4.3.2 x",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bufio.NewReaderSize(bytes.NewReader(data), maxReplyLine)
		r, err := readReply(in)
		if err != nil {
			if r.code != 0 || r.raw != nil {
				t.Fatalf("%q: %v, and still %d", data, err, r.code)
			}
			return
		}
		rest, err := io.ReadAll(in)
		if err != nil || string(r.raw)+string(rest) != string(data) {
			t.Fatalf("%q was read as %q, and %q is left", data, r.raw, rest)
		}
		lines := bytes.Split(bytes.TrimSuffix(r.raw, []byte("\r\n")), []byte("\r\n"))
		if r.code < 200 || r.code > 559 || len(lines) != len(r.lines) || len(lines) > maxReplyLines {
			t.Fatalf("%q: code %d, %d lines", data, r.code, len(r.lines))
		}
		for i, line := range lines {
			more := len(line) > 3 && line[3] == '-'
			if string(line[:3]) != itoa(r.code) || more != (i < len(lines)-1) || bytes.ContainsAny(line, "\r\n") || len(line) > maxReplyLine {
				t.Fatalf("%q: line %d is %q", data, i, line)
			}
		}
		if r.enhanced != "" && r.enhanced[:1] != itoa(r.code)[:1] {
			t.Fatalf("%q: %d with %s", data, r.code, r.enhanced)
		}
	})
}
