package fake_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"sendonce/fake"
)

const batch = `{"idempotency_key":"k1","messages":[{"body":"Hello tok_a1","to":"+15550100001"}]}`

// start serves a fake and returns its URL and a client with connections of its own.
func start(t *testing.T, o fake.Options) (*fake.Provider, string, *http.Client) {
	t.Helper()
	p := fake.New(o)
	url, err := p.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, url, &http.Client{Transport: transport}
}

// post returns the status and body that a plain client sees; an error of either reading.
func post(t *testing.T, c *http.Client, url, body string) (status int, answer string, header http.Header, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, io.NopCloser(strings.NewReader(body)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, "", nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), resp.Header, err
}

func TestBehaviour_SeenByAPlainClient(t *testing.T) {
	cases := map[fake.Behaviour]struct {
		status   int
		contains string
		fails    bool
		received int
	}{
		fake.Accept:        {status: 200, contains: `"message_id":"msg_fake_000001"`, received: 1},
		fake.AcceptSlow:    {status: 200, contains: `"ok":true`, received: 1},
		fake.AcceptReset:   {fails: true, received: 1},
		fake.AcceptError:   {status: 500, contains: `"ok":false`, received: 1},
		fake.AcceptGarbage: {status: 200, contains: "not json", received: 1},
		fake.AcceptCut:     {status: 200, fails: true, received: 1},
		fake.AcceptTwice:   {status: 200, contains: `"ok":true`, received: 1},
		fake.AcceptDrop:    {status: 200, contains: `"ok":true`, received: 1},
		fake.Throttle:      {status: 429, contains: "RATE_LIMITED"},
		fake.Unauthorized:  {status: 401, contains: "UNAUTHORIZED"},
		fake.NoCredit:      {status: 402, contains: "INSUFFICIENT_CREDIT"},
		fake.Refuse:        {status: 400, contains: "INVALID_RECIPIENT"},
		fake.Unavailable:   {status: 503, contains: "UNAVAILABLE"},
		fake.Defer:         {status: 429, contains: "RATE_LIMITED"}, // Infrai has no answer of that kind
		fake.Lose:          {fails: true},
	}
	for _, b := range fake.Behaviours {
		want, ok := cases[b]
		if !ok && b != fake.AcceptHang { // has a test of its own
			t.Errorf("no case for %s", b)
		}
		if !ok {
			continue
		}
		t.Run(string(b), func(t *testing.T) {
			p, url, client := start(t, fake.Options{Slow: time.Millisecond})
			p.Force(b)
			status, body, header, err := post(t, client, url+"/v1/sms/batch/send", batch)
			if (err != nil) != want.fails || status != want.status || !strings.Contains(body, want.contains) {
				t.Errorf("got %d %q, %v", status, body, err)
			}
			if b == fake.AcceptReset && !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("no reset: %v", err)
			}
			if b == fake.Throttle && header.Get("Retry-After") != "1" {
				t.Errorf("Retry-After is %q", header.Get("Retry-After"))
			}
			if p.Received("tok_a1") != want.received || p.Requests() != 1 || b.Accepts() != (want.received == 1) {
				t.Errorf("received %d, requests %d", p.Received("tok_a1"), p.Requests())
			}
		})
	}
}

func TestBehaviour_HangUntilReleasedOrTheClientGoes(t *testing.T) {
	read := make(chan fake.Request, 2)
	p, url, client := start(t, fake.Options{OnRequest: func(r fake.Request) { read <- r }})
	p.Behave(fake.AcceptHang)

	ctx, leave := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/sms/batch/send", strings.NewReader(batch))
		if err == nil {
			_, err = client.Do(req)
		}
		gone <- err
	}()
	if r := <-read; r.Token != "tok_a1" || r.Key != "k1" || r.Behaviour != fake.AcceptHang || r.N != 1 {
		t.Errorf("saw %+v", r)
	}
	leave()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the client that left got %v", err)
	}

	answered := make(chan int)
	go func() {
		status, _, _, _ := post(t, client, url+"/v1/sms/batch/send", batch)
		answered <- status
	}()
	<-read
	for status := 0; status == 0; { // the handler may come to wait only after one Release
		select {
		case status = <-answered:
			if status != 200 {
				t.Errorf("released with %d", status)
			}
		default:
			p.Release()
		}
	}
	if p.Received("tok_a1") != 2 {
		t.Errorf("received %d", p.Received("tok_a1"))
	}
}

func TestAcceptDrop_OnAReusedConnection(t *testing.T) {
	p, url, client := start(t, fake.Options{})
	p.Behave(fake.AcceptDrop)
	if status, _, _, err := post(t, client, url+"/v1/sms/batch/send", batch); err != nil || status != 200 {
		t.Fatalf("first: %d, %v", status, err)
	}
	_, _, _, err := post(t, client, url+"/v1/sms/batch/send", batch)
	if !errors.Is(err, io.EOF) {
		t.Errorf("second: %v, want EOF", err)
	}
	if p.Requests() != 2 || p.Received("tok_a1") != 2 {
		t.Errorf("requests %d, received %d", p.Requests(), p.Received("tok_a1"))
	}
}

func TestHonourKeys(t *testing.T) {
	for _, honour := range []bool{true, false} {
		p, url, client := start(t, fake.Options{WellBehaved: true, HonourKeys: honour})
		_, first, _, _ := post(t, client, url+"/v1/sms/batch/send", batch)
		_, second, _, _ := post(t, client, url+"/v1/sms/batch/send", batch)
		_, _, _, _ = post(t, client, url+"/v1/sms/batch/send", strings.Replace(batch, "Hello", "Other", 1))
		id := func(s string) string {
			var a struct {
				Data struct {
					Results []struct {
						MessageID string `json:"message_id"`
					}
				}
			}
			if err := json.Unmarshal([]byte(s), &a); err != nil || len(a.Data.Results) != 1 {
				t.Fatalf("answer %q: %v", s, err)
			}
			return a.Data.Results[0].MessageID
		}
		want, conflicts := 3, 0
		if honour {
			want, conflicts = 1, 1
		}
		if p.Received("tok_a1") != want || len(p.Accepted()) != want || p.Conflicts() != conflicts {
			t.Errorf("honour %v: received %d, conflicts %d", honour, p.Received("tok_a1"), p.Conflicts())
		}
		if (id(first) == id(second)) != honour {
			t.Errorf("honour %v: ids %s and %s", honour, id(first), id(second))
		}
	}
}

func TestRoutes(t *testing.T) {
	p, url, client := start(t, fake.Options{WellBehaved: true})
	cases := []struct {
		path, body string
		status     int
		contains   string
	}{
		{"/v1/sms/send", `{"to":"+15550100001","body":"tok_single"}`, 200, `"sms_id":"msg_fake_000001"`},
		{"/hook/any/path", `{"data":{"n":"tok_hook"}}`, 200, `"ok":true`},
		{"/v1/sms/batch/send", `{"messages":[{"body":"tok_x"},{"body":"tok_y"}]}`, 200, "msg_fake_000004"},
		{"/v1/sms/batch/send", `{"messages":[]}`, 400, "NO_MESSAGES"},
		{"/v1/sms/batch/send", `{`, 400, "INVALID_JSON"},
		{"/v1/nothing", `{}`, 400, "NOT_FOUND"},
	}
	for _, c := range cases {
		status, body, _, err := post(t, client, url+c.path, c.body)
		if err != nil || status != c.status || !strings.Contains(body, c.contains) {
			t.Errorf("%s %s: %d %q, %v", c.path, c.body, status, body, err)
		}
	}
	want := map[string]int{"tok_single": 1, "tok_hook": 1, "tok_x": 1, "tok_y": 1}
	resp, err := client.Get(url + "/counts")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var counts map[string]int
	if err := json.NewDecoder(resp.Body).Decode(&counts); err != nil {
		t.Fatal(err)
	}
	for token, n := range want {
		if counts[token] != n || len(counts) != len(want) {
			t.Errorf("counts %v, want %v", counts, want)
		}
	}
	if p.Requests() != len(cases) {
		t.Errorf("%d requests, want %d", p.Requests(), len(cases))
	}
}
