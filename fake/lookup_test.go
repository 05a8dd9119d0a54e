package fake_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/fake"
)

// asks are look-ups that find the one message of sends; a time in them is put in where DAY stands.
var asks = map[string]func(id string) *http.Request{
	"twilio": func(string) *http.Request {
		return signedIn(httptest.NewRequest(http.MethodGet, "/2010-04-01/Accounts/AC1/Messages.json?To=%2B15550100001&PageSize=1000", nil), "AC1")
	},
	"vonage sms": func(string) *http.Request {
		return signedIn(httptest.NewRequest(http.MethodGet, "/v2/reports/records?account_id=abcd1234&product=SMS&direction=outbound&client_ref=ref-1&"+day(), nil), "abcd1234")
	},
	"vonage messages": func(string) *http.Request {
		return signedIn(httptest.NewRequest(http.MethodGet, "/v2/reports/records?account_id=abcd1234&product=MESSAGES&direction=outbound&to=15550100001&"+day(), nil), "abcd1234")
	},
	"sendgrid": func(string) *http.Request {
		return jsonRequest("/v3/logs", `{"query":"to_email = 'a@example.test' AND sg_message_id_created_at > TIMESTAMP \"1999-12-31T23:59:00Z\" AND categories IN ('x', 'shop')","limit":1000}`)
	},
	"resend": func(string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/emails?limit=100", nil)
		r.Header.Set("Authorization", "Bearer key")
		return r
	},
}

// day is around the time at which a bubble begins.
func day() string {
	return url.Values{"date_start": {"1999-12-31T23:59:00Z"}, "date_end": {"2000-01-01T23:59:00Z"}}.Encode()
}

func signedIn(r *http.Request, user string) *http.Request {
	r.SetBasicAuth(user, "secret")
	return r
}

func answer(p *fake.Provider, r *http.Request) (int, string) {
	w := httptest.NewRecorder()
	func() {
		defer func() { _ = recover() }() // a recorder has no connection to break
		p.ServeHTTP(w, r)
	}()
	return w.Code, w.Body.String()
}

func TestLookUps_LagThenFound(t *testing.T) {
	for kind, ask := range asks {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := fake.New(fake.Options{WellBehaved: true, LookUps: fake.LookUps{Lag: 10 * time.Minute}})
				defer func() { _ = p.Close() }()
				p.ServeHTTP(httptest.NewRecorder(), sends[kind]("tok_a"))
				id := p.Accepted()[0].ID
				time.Sleep(10*time.Minute - time.Millisecond)
				if status, body := answer(p, ask(id)); status != 200 || strings.Contains(body, id) {
					t.Errorf("before its time: %d %s", status, body)
				}
				time.Sleep(time.Millisecond)
				status, body := answer(p, ask(id))
				if status != 200 || strings.Count(body, id) == 0 || !json.Valid([]byte(body)) || p.LookUps() != 2 || p.Requests() != 1 {
					t.Errorf("%d %s; %d look-ups, %d requests", status, body, p.LookUps(), p.Requests())
				}
			})
		})
	}
}

func TestLookUps_OneMessage(t *testing.T) {
	p := fake.New(fake.Options{WellBehaved: true})
	id := func(r *http.Request) string {
		p.ServeHTTP(httptest.NewRecorder(), r)
		return p.Accepted()[len(p.Accepted())-1].ID
	}
	get := func(path string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer key")
		return r
	}
	sms, mail, infrai := id(sends["twilio"]("tok_a")), id(sends["resend"]("tok_b")), id(jsonRequest("/v1/sms/batch/send", batch))
	if status, body := answer(p, signedIn(get("/2010-04-01/Accounts/AC1/Messages/"+sms+".json"), "AC1")); status != 200 || !strings.Contains(body, `"body":"tok_a"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := answer(p, get("/emails/"+mail)); status != 200 || !strings.Contains(body, `"text":"tok_b"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := answer(p, get("/v1/sms/status/"+infrai)); status != 200 || !strings.Contains(body, `"ok":true`) || !strings.Contains(body, infrai) {
		t.Errorf("%d %s", status, body)
	}
	if status, body := answer(p, get("/v1/sms/status/none")); status != 404 || !strings.Contains(body, "SMS_MESSAGE_NOT_FOUND") {
		t.Errorf("%d %s", status, body)
	}
	id(sends["sendgrid"]("tok_c"))
	_, body := answer(p, jsonRequest("/v3/logs", `{"query":"to_email = \"a@example.test\""}`))
	var list struct {
		Messages []struct {
			ID string `json:"sg_message_id"`
		}
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Messages) != 1 || strings.Contains(body, "ref-1") {
		t.Fatalf("%v %s", err, body)
	}
	if status, body := answer(p, get("/v3/logs/"+list.Messages[0].ID)); status != 200 || !strings.Contains(body, `"custom_args":{"reference":"ref-1"}`) {
		t.Errorf("%d %s", status, body)
	}
}

func TestLookUps_Pages(t *testing.T) {
	p := fake.New(fake.Options{WellBehaved: true})
	for range 5 {
		p.ServeHTTP(httptest.NewRecorder(), sends["twilio"]("tok_a"))
		p.ServeHTTP(httptest.NewRecorder(), sends["resend"]("tok_b"))
	}
	seen, next := 0, "/2010-04-01/Accounts/AC1/Messages.json?To=%2B15550100001&PageSize=2"
	for pages := 0; next != "" && pages < 9; pages++ {
		status, body := answer(p, signedIn(httptest.NewRequest(http.MethodGet, next, nil), "AC1"))
		var page struct {
			Messages []any
			Next     string `json:"next_page_uri"`
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil || status != 200 {
			t.Fatalf("%d %s", status, body)
		}
		seen, next = seen+len(page.Messages), page.Next
	}
	after := ""
	for pages := 0; pages < 9; pages++ {
		r := httptest.NewRequest(http.MethodGet, "/emails?limit=2"+after, nil)
		r.Header.Set("Authorization", "Bearer key")
		_, body := answer(p, r)
		var page struct {
			More bool `json:"has_more"`
			Data []struct{ ID string }
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil {
			t.Fatal(err)
		}
		if seen += len(page.Data); !page.More {
			break
		}
		after = "&after=" + page.Data[len(page.Data)-1].ID
	}
	if seen != 10 {
		t.Errorf("the pages have %d messages, want 10", seen)
	}
}

// What the real ones refuse is refused.
func TestLookUps_Refused(t *testing.T) {
	p := fake.New(fake.Options{WellBehaved: true})
	reports := "/v2/reports/records?account_id=abcd1234&product=SMS&direction=outbound"
	get := func(path string) *http.Request { return httptest.NewRequest(http.MethodGet, path, nil) }
	bearer := func(path string) *http.Request {
		r := get(path)
		r.Header.Set("Authorization", "Bearer key")
		return r
	}
	cases := map[string]struct {
		request *http.Request
		status  int
	}{
		"twilio without a name":     {get("/2010-04-01/Accounts/AC1/Messages.json"), 401},
		"twilio page size":          {signedIn(get("/2010-04-01/Accounts/AC1/Messages.json?PageSize=1001"), "AC1"), 400},
		"twilio operator in value":  {signedIn(get("/2010-04-01/Accounts/AC1/Messages.json?DateSent=%3E=2026-01-01"), "AC1"), 400},
		"sendgrid without a key":    {form("/v3/logs", `{"limit":1}`), 401},
		"sendgrid custom_args":      {jsonRequest("/v3/logs", `{"query":"custom_args['reference'] = 'x'"}`), 400},
		"sendgrid OR":               {jsonRequest("/v3/logs", `{"query":"to_email = 'a' OR to_email = 'b'"}`), 400},
		"sendgrid time without a Z": {jsonRequest("/v3/logs", `{"query":"sg_message_id_created_at > TIMESTAMP \"2026-01-01\""}`), 400},
		"sendgrid limit":            {jsonRequest("/v3/logs", `{"limit":1001}`), 400},
		"sendgrid unknown id":       {bearer("/v3/logs/none"), 404},
		"vonage without a name":     {get(reports), 401},
		"vonage another account":    {signedIn(get(reports+"&"+day()), "other123"), 403},
		"vonage no dates":           {signedIn(get(reports), "abcd1234"), 422},
		"vonage more than a day":    {signedIn(get(reports+"&date_start=2000-01-01T00:00:00Z&date_end=2000-01-02T00:00:01Z"), "abcd1234"), 422},
		"vonage dates and ids":      {signedIn(get(reports+"&id=x&"+day()), "abcd1234"), 422},
		"vonage client_ref of MESSAGES": {
			signedIn(get(strings.Replace(reports, "SMS", "MESSAGES", 1)+"&client_ref=x&"+day()), "abcd1234"), 422,
		},
		"resend without a key": {get("/emails"), 401},
		"resend limit":         {bearer("/emails?limit=101"), 422},
		"resend both ends":     {bearer("/emails?after=a&before=b"), 422},
	}
	for name, c := range cases {
		if status, body := answer(p, c.request); status != c.status {
			t.Errorf("%s: %d %s, want %d", name, status, body, c.status)
		}
	}
}

func TestLookUps_FailNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fake.New(fake.Options{Weights: map[fake.Behaviour]int{fake.Accept: 1}, LookUps: fake.LookUps{Lag: time.Minute, Hidden: 10}})
		for range 50 {
			p.ServeHTTP(httptest.NewRecorder(), sends["sendgrid"]("tok_a"))
		}
		time.Sleep(time.Hour)
		kinds, shown := map[string]int{}, 0
		for range 200 {
			status, body := answer(p, asks["sendgrid"](""))
			switch {
			case status == 200 && json.Valid([]byte(body)) && body != "":
				kinds["good"]++
				shown = strings.Count(body, "sg_message_id\"")
			case status == 200 && body != "":
				kinds["garbage"]++
			default:
				kinds[http.StatusText(status)]++
			}
		}
		if kinds["good"] < 150 || kinds["good"] > 195 || len(kinds) < 4 || shown < 35 || shown > 49 {
			t.Errorf("answers %v, %d of 50 shown", kinds, shown)
		}
		p.Silence(true)
		if status, body := answer(p, asks["sendgrid"]("")); status != 500 || !strings.Contains(body, `"errors"`) {
			t.Errorf("silenced: %d %s", status, body)
		}
	})
}
