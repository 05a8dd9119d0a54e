package providers

import (
	"bufio"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"sendonce/ledger"
)

func TestResend_Body(t *testing.T) {
	p := build(t, &ResendSettings{APIKey: testKey, From: testSender}, Common{RepeatWindow: resendWindow})
	const tags = `"tags":[{"name":"reference","value":"` + mailID + `-2"},{"name":"dedupe_key","value":"` + testWire + `"}]`
	cases := []struct{ message, want string }{
		{
			`{"subject":"Grüße <1> & 👍","html":"<p>\"x\"</p>","text":"x\n\ny","reply_to":"desk@example.test","headers":{"X-Order":"A-1"}}`,
			`{"from":"Shop <shop@example.test>","headers":{"X-Order":"A-1"},"html":"<p>\"x\"</p>","reply_to":"desk@example.test",` +
				`"subject":"Grüße <1> & 👍",` + tags + `,"text":"x\n\ny","to":["Ada@example.test"]}`,
		},
		{
			`{"from":"desk@example.test","template":{"id":"order-shipped","variables":{"NAME":"Ada","SUM":-0.10}}}`,
			`{"from":"desk@example.test",` + tags + `,"template":{"id":"order-shipped","variables":{"NAME":"Ada","SUM":-0.10}},"to":["Ada@example.test"]}`,
		},
	}
	for _, c := range cases {
		r, err := p.Build(mailOrder(c.message))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(string(r.Body()), "\n"); got != c.want {
			t.Errorf("body %s\nwant %s", got, c.want)
		}
		req := r.(*request)
		if req.url != "https://api.resend.com/emails" || req.header.Get("Idempotency-Key") != testWire || req.header.Get("Authorization") != "Bearer "+testKey {
			t.Errorf("%s with %v", req.url, req.header)
		}
	}
}

// A key that a caller brought may have what no tag can hold; it still goes along as the header.
func TestResend_KeyThatNoTagCanHold(t *testing.T) {
	p := build(t, &ResendSettings{APIKey: testKey, From: testSender}, Common{RepeatWindow: resendWindow})
	o := mailOrder(`{"subject":"s","text":"t"}`)
	o.WireKey = "order:2291/shipped"
	r, err := p.Build(o)
	if err != nil || strings.Contains(string(r.Body()), "dedupe_key") || !strings.Contains(string(r.Body()), `"reference"`) {
		t.Errorf("%s, %v", r.Body(), err)
	}
	if key := r.(*request).header.Get("Idempotency-Key"); key != o.WireKey {
		t.Errorf("the header is %q", key)
	}
}

func TestResend_CheckTemplate(t *testing.T) {
	p := build(t, &ResendSettings{APIKey: testKey, From: testSender}, Common{}).(*resend)
	const field = "message.template.variables"
	for variables, want := range map[string]string{
		`{}`:                                          "",
		`{"NAME":"Ada","n_1":1,"SUM":-0.5}`:           "",
		`{"` + strings.Repeat("a", 50) + `":""}`:      "",
		`{"` + strings.Repeat("a", 51) + `":""}`:      field,
		`{"":"x"}`:                                    field,
		`{"first name":"x"}`:                          field,
		`{"größe":"x"}`:                               field,
		`{"FIRST_NAME":"x"}`:                          field,
		`{"UNSUBSCRIBE_URL":"https://example.test/"}`: field,
		`{"a":true}`:                                  field,
		`{"a":null}`:                                  field,
		`{"a":[1]}`:                                   field,
		`{"a":{"b":1}}`:                               field,
	} {
		message := `{"template":{"id":"t","variables":` + variables + `}}`
		checkInvalid(t, variables, p.Check(ledger.Event{Channel: ledger.Email, Recipient: testAddress, Message: []byte(message)}), want)
	}
}

// The two 409: one says that this very request is at work, the other that the key was used for something else. Neither says what
// became of the mail, and the code tells which it was.
func TestResend_Both409AreToldApart(t *testing.T) {
	k := kitNamed(t, "resend")
	for _, name := range []string{"concurrent_idempotent_requests", "invalid_idempotent_request"} {
		body := `{"statusCode":409,"name":"` + name + `","message":"m"}`
		r := k.send(t, Common{Dial: pipe(make(chan served, 1), []byte(answer{409, body}.raw()))}, k.base)
		check(t, r, expected{reason: ledger.ReasonUnlistedAnswer, code: name})
	}
}

// A mail whose answer was lost is asked for under its key: the same bytes, the same answer, one mail.
func TestResend_RepeatAfterALostAnswer(t *testing.T) {
	var mu sync.Mutex
	mails := map[string]string{} // by key, as Resend keeps them
	requests := make(chan served, 8)
	address := listen(t, func(conn net.Conn) {
		req, err := readRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		key := req.Header.Get("Idempotency-Key")
		before, known := mails[key]
		mails[key] = string(req.body)
		requests <- req
		if known && before == string(req.body) { // the first answer is lost
			_, _ = io.WriteString(conn, answer{200, `{"id":"49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"}`}.raw())
		}
	})
	k := kitNamed(t, "resend")
	p := k.make(t, Common{BaseURL: "http://" + address, RepeatWindow: 24 * time.Hour})
	o := mailOrder(`{"subject":"s","text":"t"}`)
	first, err := p.Build(o)
	if err != nil {
		t.Fatal(err)
	}
	check(t, p.Send(t.Context(), first), expected{reason: ledger.ReasonNoAnswer})
	o.Kind, o.Number, o.Stored, o.At = ledger.KindRepeat, 3, first.Body(), testTime.Add(time.Hour)
	second, err := p.Build(o)
	if err != nil {
		t.Fatal(err)
	}
	check(t, p.Send(t.Context(), second), expected{outcome: ledger.Accepted, id: "49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"})
	mu.Lock()
	defer mu.Unlock()
	if len(requests) != 2 || len(mails) != 1 {
		t.Errorf("%d requests, %d mails", len(requests), len(mails))
	}
}
