package fake_test

import (
	"errors"
	"io"
	"net/smtp"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
)

// mailTo hands one mail over and returns the code of the reply that ended it; 0 with an error: none came.
func mailTo(t *testing.T, address, name string) (code int, err error) {
	t.Helper()
	c, err := smtp.Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	var w io.WriteCloser
	if err = c.Mail("shop@example.test"); err == nil {
		err = c.Rcpt(name + "@customer.example.test")
	}
	if err == nil {
		w, err = c.Data()
	}
	if err == nil {
		_, err = io.WriteString(w, "Subject: x\r\n\r\nOrder "+name+" shipped.\r\n.hidden\r\n")
		err = errors.Join(err, w.Close())
	}
	var refusal *textproto.Error
	switch {
	case err == nil:
		return 250, nil
	case errors.As(err, &refusal):
		return refusal.Code, nil
	}
	return 0, err
}

func TestMail_SeenByAPlainClient(t *testing.T) {
	cases := map[fake.Behaviour]struct{ code, received int }{
		fake.Accept: {250, 1}, fake.AcceptSlow: {250, 1}, fake.AcceptReset: {0, 1}, fake.AcceptError: {0, 1}, fake.AcceptGarbage: {0, 1},
		fake.AcceptCut: {0, 1}, fake.AcceptTwice: {250, 1}, fake.AcceptDrop: {250, 1}, fake.AcceptHang: {0, 1},
		fake.Throttle: {421, 0}, fake.Unauthorized: {530, 0}, fake.NoCredit: {530, 0}, fake.Refuse: {550, 0}, fake.Defer: {451, 0},
		fake.Unavailable: {421, 0}, fake.Lose: {0, 0},
	}
	for _, b := range fake.Behaviours {
		t.Run(string(b), func(t *testing.T) {
			want, ok := cases[b]
			if !ok {
				t.Fatal("no case")
			}
			var p *fake.Provider
			p = fake.New(fake.Options{Slow: time.Millisecond, OnRequest: func(r fake.Request) {
				if r.Behaviour == fake.AcceptHang {
					_ = p.Close() // ends what hangs
				}
			}})
			defer func() { _ = p.Close() }()
			address, err := p.ListenSMTP("127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			p.Force(b)
			code, err := mailTo(t, address, "tok_a1")
			if code != want.code || (err != nil) != (want.code == 0) {
				t.Errorf("ended with %d, %v", code, err)
			}
			if p.Received("tok_a1") != want.received || p.Requests() != 1 || b.Accepts() != (want.received == 1) {
				t.Errorf("received %d, requests %d", p.Received("tok_a1"), p.Requests())
			}
		})
	}
}

func TestMail_OneConnectionCarriesSeveral(t *testing.T) {
	seen := make(chan string, 3)
	p := fake.New(fake.Options{WellBehaved: true, OnRequest: func(r fake.Request) { seen <- r.Token + " " + string(r.Behaviour) }})
	defer func() { _ = p.Close() }()
	address, err := p.ListenSMTP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.Script("tok_b", fake.Refuse)
	p.Script("tok_c", fake.AcceptDrop)
	c, err := smtp.Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	var ends []string
	for _, name := range []string{"tok_a", "tok_b", "tok_c"} {
		err := c.Mail("shop@example.test")
		if err == nil {
			err = c.Rcpt(name + "@customer.example.test")
		}
		if err == nil {
			var w io.WriteCloser
			if w, err = c.Data(); err == nil {
				_, _ = io.WriteString(w, "Subject: x\r\n\r\n"+name)
				err = w.Close()
			}
		}
		end := "250"
		if err != nil {
			end, _, _ = strings.Cut(err.Error(), " ")
		}
		ends = append(ends, end)
	}
	if want := []string{"250", "550", "EOF"}; !slices.Equal(ends, want) {
		t.Errorf("ended with %q, want %q", ends, want)
	}
	for _, want := range []string{"tok_a accept", "tok_b refuse", "tok_c accept_drop"} {
		if got := <-seen; got != want {
			t.Errorf("saw %q, want %q", got, want)
		}
	}
	if p.Received("tok_a") != 1 || p.Received("tok_c") != 1 || p.Received("tok_b") != 0 {
		t.Errorf("counts %v", p.Counts())
	}
}
