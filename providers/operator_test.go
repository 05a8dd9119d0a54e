package providers

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

var testAlert = ledger.Alert{
	ID: "0199b3a0-0000-4000-8000-000000000001", Kind: ledger.AlertWaiting, At: testTime, Count: 12,
	Subjects: []ledger.Subject{{
		ID: uuid.MustParse("0199b3a0-0000-7000-8000-000000000002"), Channel: ledger.SMS, Provider: "twilio_main",
		State: "ambiguous", Reason: "no_answer", Since: testTime.Add(-time.Minute),
	}},
}

// desk is a receiver of alerts that keeps what it got.
type desk struct {
	*httptest.Server
	mu     sync.Mutex
	header []http.Header
	body   []string
}

func newDesk(t *testing.T, answer http.HandlerFunc) *desk {
	d := &desk{}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			t.Errorf("%s: %v", r.Method, err)
		}
		d.mu.Lock()
		d.header, d.body = append(d.header, r.Header), append(d.body, string(text))
		d.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(d.Close)
	return d
}

// got lists the bodies so far.
func (d *desk) got() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.body
}

func newOperator(t *testing.T, s OperatorSettings, publicURL string) ledger.Operator {
	t.Helper()
	s.Secret, s.AllowPrivate = testSecret, []string{"127.0.0.0/8"}
	if faults := s.Validate(); faults != nil {
		t.Fatalf("%+v", faults)
	}
	o, err := s.New(publicURL)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// The signature is computed here as the text of Standard Webhooks says, with nothing of ours.
func TestOperator_SignedPost(t *testing.T) {
	d := newDesk(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	o := newOperator(t, OperatorSettings{URL: d.URL + "/alerts"}, "https://notify.example.test")
	for _, at := range []time.Time{testTime, testTime.Add(time.Minute)} { // told again
		if err := o.Tell(t.Context(), testAlert, at); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"type":"sendonce.waiting","timestamp":"2026-11-30T10:00:00.000Z","data":{"kind":"waiting","count":12,"at_least":false,` +
		`"url":"https://notify.example.test/v1/notifications?state=ambiguous","first":[{"id":"0199b3a0-0000-7000-8000-000000000002","channel":"sms",` +
		`"provider":"twilio_main","state":"ambiguous","reason":"no_answer","by":null,"since":"2026-11-30T09:59:00.000Z",` +
		`"url":"https://notify.example.test/v1/notifications/0199b3a0-0000-7000-8000-000000000002"}]}}`
	secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(testSecret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range d.header {
		id, at := h.Get("webhook-id"), h.Get("webhook-timestamp")
		if d.body[i] != want || h.Get("Content-Type") != "application/json" || id != "msg_"+testAlert.ID || at != []string{"1796032800", "1796032860"}[i] {
			t.Errorf("%v\n%s\nwant\n%s", h, d.body[i], want)
		}
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(id + "." + at + "." + d.body[i]))
		if h.Get("webhook-signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
			t.Errorf("signature %s", h.Get("webhook-signature"))
		}
	}
	if len(d.header) != 2 {
		t.Errorf("%d requests", len(d.header))
	}
}

func TestOperator_AGateWithoutPublicURL(t *testing.T) {
	d := newDesk(t, func(http.ResponseWriter, *http.Request) {})
	a := ledger.Alert{ID: testAlert.ID, Kind: ledger.AlertGate, At: testTime, Count: 1, Subjects: []ledger.Subject{
		{Provider: "mail", State: "paused", Reason: "credentials", By: "sendonce", Since: testTime},
	}}
	if err := newOperator(t, OperatorSettings{URL: d.URL}, "").Tell(t.Context(), a, testTime); err != nil {
		t.Fatal(err)
	}
	want := `{"type":"sendonce.gate_closed","timestamp":"2026-11-30T10:00:00.000Z","data":{"kind":"gate_closed","count":1,"at_least":false,"url":null,"first":[` +
		`{"id":null,"channel":null,"provider":"mail","state":"paused","reason":"credentials","by":"sendonce","since":"2026-11-30T10:00:00.000Z","url":null}]}}`
	if !slices.Equal(d.body, []string{want}) {
		t.Errorf("got  %s\nwant %s", d.body, want)
	}
}

// The longest alert is under the 20 kB that the scheme recommends.
func TestOperator_LongestBody(t *testing.T) {
	long := testAlert
	long.Subjects = slices.Repeat([]ledger.Subject{{
		ID: testAlert.Subjects[0].ID, Channel: ledger.Webhook, Provider: strings.Repeat("p", ledger.MaxProvider), State: "ambiguous",
		Reason: "unreadable_answer", By: strings.Repeat("k", 64), Since: testTime,
	}}, ledger.MaxSubjects)
	d := newDesk(t, func(http.ResponseWriter, *http.Request) {})
	if err := newOperator(t, OperatorSettings{URL: d.URL}, "https://"+strings.Repeat("h", 200)).Tell(t.Context(), long, testTime); err != nil {
		t.Fatal(err)
	}
	if n := len(d.body[0]); n > 20_000 {
		t.Errorf("%d bytes", n)
	}
}

// Only a 2xx is taken. A redirect is not followed: the alert would go where nobody configured it.
func TestOperator_Failures(t *testing.T) {
	elsewhere := newDesk(t, func(http.ResponseWriter, *http.Request) {})
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		err    string
	}{
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, "it answered 307"},
		"error": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, testSecret, http.StatusInternalServerError)
		}, "it answered 500"},
		"gone": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }, "it answered 410"},
		"slow": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no answer: time-out"},
		"cut":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "no answer: connection closed"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, c.answer)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := newOperator(t, OperatorSettings{URL: d.URL}, "").Tell(ctx, testAlert, testTime)
			if err == nil || err.Error() != c.err || len(d.got()) != 1 {
				t.Errorf("got %v after %d requests, want %s", err, len(d.got()), c.err)
			}
		})
	}
	if len(elsewhere.body) != 0 {
		t.Error("a redirect was followed")
	}
}

func TestOperator_Settings(t *testing.T) {
	if o, err := (&OperatorSettings{}).New(""); o != nil || err != nil {
		t.Errorf("without settings: %v, %v", o, err)
	}
	for _, c := range []struct {
		s      OperatorSettings
		fields []string
	}{
		{OperatorSettings{}, nil},
		{OperatorSettings{URL: "https://ops.example.test/x", Secret: testSecret}, nil},
		{OperatorSettings{URL: "http://10.1.2.3/x", Secret: testSecret, AllowPrivate: []string{"10.1.0.0/16"}}, nil},
		{OperatorSettings{Secret: testSecret}, []string{"url"}},
		{OperatorSettings{AllowPrivate: []string{"10.0.0.0/8"}}, []string{"url"}},
		{OperatorSettings{URL: "https://ops.example.test/x"}, []string{"secret"}},
		{OperatorSettings{URL: "http://ops.example.test/x", Secret: testSecret}, []string{"url"}},
		{OperatorSettings{URL: "https://127.0.0.1/x", Secret: testSecret}, []string{"url"}},
		{OperatorSettings{URL: "https://localhost/x", Secret: testSecret}, []string{"url"}},
		{OperatorSettings{URL: "https://10.2.2.3/x", Secret: testSecret, AllowPrivate: []string{"10.1.0.0/16"}}, []string{"url"}},
		{OperatorSettings{URL: "https://u:p@ops.example.test/x", Secret: "short", AllowPrivate: []string{"x"}}, []string{"allow_private[0]", "url", "secret"}},
	} {
		var got []string
		for _, f := range c.s.Validate() {
			got = append(got, f.Field)
			if strings.Contains(f.Detail, "short") || strings.Contains(f.Detail, "u:p") {
				t.Errorf("the fault shows a value: %s", f.Detail)
			}
		}
		if !slices.Equal(got, c.fields) {
			t.Errorf("%+v: faults at %v, want %v", c.s, got, c.fields)
		}
	}
	// A name that leads to a private address is refused when it is dialled.
	d := newDesk(t, func(http.ResponseWriter, *http.Request) {})
	o, err := (&OperatorSettings{URL: d.URL, Secret: testSecret}).New("")
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Tell(t.Context(), testAlert, testTime); err == nil || !strings.Contains(err.Error(), "address refused") || len(d.body) != 0 {
		t.Errorf("got %v", err)
	}
}
