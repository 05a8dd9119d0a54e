package providers

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"

	"sendonce/ledger"
)

// parsedMail is a mail as its reader sees it. Line ends are those of the texts that went in.
type parsedMail struct {
	subject, from, fromName, to, replyTo, id string
	text, html                               string
	header                                   mail.Header
}

// parseMail reads a mail back with other code than that which wrote it.
func parseMail(t *testing.T, raw []byte) parsedMail {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%v in\n%s", err, raw)
	}
	word := mime.WordDecoder{}
	out := parsedMail{header: m.Header, id: strings.Trim(m.Header.Get("Message-Id"), "<>")}
	if out.subject, err = word.DecodeHeader(m.Header.Get("Subject")); err != nil {
		t.Errorf("subject: %v", err)
	}
	for name, to := range map[string]*string{"From": &out.from, "To": &out.to, "Reply-To": &out.replyTo} {
		if m.Header.Get(name) == "" {
			continue
		}
		list, err := m.Header.AddressList(name)
		if err != nil || len(list) != 1 || len(m.Header[name]) != 1 {
			t.Errorf("%s: %q, %v", name, m.Header[name], err)
			continue
		}
		*to = list[0].Address
		if name == "From" {
			out.fromName = list[0].Name
		}
	}
	out.part(t, m.Header.Get("Content-Type"), m.Header.Get("Content-Transfer-Encoding"), m.Body)
	return out
}

func (m *parsedMail) part(t *testing.T, contentType, encoding string, body io.Reader) {
	t.Helper()
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		t.Fatalf("content type %q: %v", contentType, err)
	}
	if kind == "multipart/alternative" {
		parts := multipart.NewReader(body, params["boundary"])
		for n := 0; ; n++ {
			p, err := parts.NextRawPart()
			if err == io.EOF {
				if n != 2 {
					t.Errorf("%d parts", n)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			m.part(t, p.Header.Get("Content-Type"), p.Header.Get("Content-Transfer-Encoding"), p)
		}
	}
	if encoding != "quoted-printable" || !strings.EqualFold(params["charset"], "utf-8") {
		t.Errorf("%s is in %q, %q", kind, encoding, params["charset"])
	}
	b, err := io.ReadAll(quotedprintable.NewReader(body))
	if err != nil {
		t.Error(err)
	}
	text := strings.ReplaceAll(string(b), "\r\n", "\n")
	switch kind {
	case "text/plain":
		m.text = text
	case "text/html":
		m.html = text
	default:
		t.Errorf("a part of type %s", kind)
	}
}

// compareMail holds a mail that was read against what was ordered.
func compareMail(t *testing.T, got parsedMail, m ledger.Message) {
	t.Helper()
	name := m.FromName
	if name == "" && m.From == "" {
		name = "Shop"
	}
	if got.subject != m.Subject || got.fromName != name {
		t.Errorf("subject %q, name %q; want %q, %q", got.subject, got.fromName, m.Subject, name)
	}
	text, html := m.Text, m.HTML
	if (text == "") != (html == "") { // a mail's only text ends with a line end
		text, html = withEnd(text), withEnd(html)
	}
	if got.text != text || got.html != html {
		t.Errorf("text %.200q, html %.200q; want %.200q, %.200q", got.text, got.html, text, html)
	}
	for name, value := range m.Headers {
		decoded, err := new(mime.WordDecoder).DecodeHeader(got.header.Get(name))
		if want := strings.Join(strings.Fields(value), " "); err != nil || decoded != want {
			t.Errorf("%s: %.100q, want %.100q", name, decoded, want)
		}
	}
}

func withEnd(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// checkLines wants what every server passes on: ASCII, whole line ends, lines that are not too long, none of blanks alone
// in the header.
func checkLines(t *testing.T, body []byte) {
	t.Helper()
	header := true
	for line := range bytes.SplitSeq(body, []byte("\r\n")) {
		header = header && len(line) > 0
		switch {
		case bytes.ContainsAny(line, "\r\n\x00"):
			t.Errorf("a bare line end or NUL in %.100q", line)
		case len(line) > 998:
			t.Errorf("a line of %d bytes", len(line))
		case header && len(bytes.TrimSpace(line)) == 0:
			t.Error("a line of blanks in the header")
		case !isASCII(string(line)):
			t.Errorf("not ASCII: %.100q", line)
		}
	}
}

// builtMail is what the adapter makes of an order.
func builtMail(t *testing.T, p *smtp, message []byte) *smtpMessage {
	t.Helper()
	r, err := p.Build(smtpOrder(string(message)))
	if err != nil {
		t.Fatal(err)
	}
	return r.(*smtpMessage)
}

func TestSMTP_MessagesComeBackAsTheyWent(t *testing.T) {
	p := newSMTP(t, nil)
	for name, m := range hardMail {
		t.Run(name, func(t *testing.T) {
			body := builtMail(t, p, messageJSON(t, m)).Body()
			checkLines(t, body)
			got := parseMail(t, body)
			compareMail(t, got, m)
			if got.to != testMailTo || got.id != testMailID || got.header.Get("Date") != "Mon, 30 Nov 2026 10:00:00 +0000" {
				t.Errorf("to %s, id %s, date %s", got.to, got.id, got.header.Get("Date"))
			}
			for _, name := range []string{"User-Agent", "X-Mailer", "Bcc", "Cc"} {
				if got.header.Get(name) != "" {
					t.Errorf("%s: %s", name, got.header.Get(name))
				}
			}
		})
	}
}

// No text gets out of its place: whatever a claim lets through has the header that it should have, and no line more.
func FuzzSMTPMessage(f *testing.F) {
	for _, m := range hardMail {
		f.Add(m.Subject, m.FromName, m.Text, m.HTML, m.Headers["X-Note"])
	}
	f.Add("s", "", "\r\x90\n", "0", "")
	f.Add("a\r\nBcc: eve@example.test", "n\nX: y", "\r\n.\r\n", "", "v\r\n\r\nbody")
	p := &smtp{from: mail.Address{Name: "Shop", Address: "shop@example.test"}}
	f.Fuzz(func(t *testing.T, subject, name, text, html, note string) {
		m := ledger.Message{Subject: subject, FromName: name, Text: text, HTML: html, Headers: map[string]string{"X-Note": note}}
		raw := messageJSON(t, m)
		parsed, err := ledger.ParseMessage(ledger.Email, raw)
		r, buildErr := p.Build(smtpOrder(string(raw)))
		if (err != nil) != (buildErr != nil) {
			t.Fatalf("a claim says %v, the adapter %v", err, buildErr)
		}
		if err != nil {
			return
		}
		checkLines(t, r.Body())
		got := parseMail(t, r.Body())
		want := 9 // Date, MIME-Version, Message-ID, Subject, X-Note, From, To, Content-Transfer-Encoding, Content-Type
		if text != "" && html != "" {
			want--
		}
		if len(got.header) != want {
			t.Errorf("the header %v", got.header)
		}
		parsed.Headers = nil
		parsed.Text, parsed.HTML = oneKind(parsed.Text), oneKind(parsed.HTML)
		compareMail(t, got, parsed)
	})
}

func oneKind(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// A lone carriage return is a line end too, and what stands behind it loses none.
func TestSMTP_LineEnds(t *testing.T) {
	m := ledger.Message{Subject: "s", Text: "\rx\ny\r\nz\r\r\n\n", HTML: "a\rb\n"}
	got := parseMail(t, builtMail(t, newSMTP(t, nil), messageJSON(t, m)).Body())
	if got.text != "\nx\ny\nz\n\n\n" || got.html != "a\nb\n" {
		t.Errorf("text %q, html %q", got.text, got.html)
	}
}
