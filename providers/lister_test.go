package providers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
	"sendonce/ledger"
)

var (
	listFrom  = time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC)
	listUntil = time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)
)

// askList asks a lister over real HTTP. It waits for nothing, and notes what it would have waited for.
func askList(t *testing.T, settings Settings, answer http.HandlerFunc) (list []ledger.Listed, waits []time.Duration, err error) {
	t.Helper()
	return askListAt(t, settings, testTime, answer)
}

// askListAt asks at a time.
func askListAt(t *testing.T, settings Settings, now time.Time, answer http.HandlerFunc) (list []ledger.Listed, waits []time.Duration, err error) {
	t.Helper()
	s := httptest.NewServer(answer)
	defer s.Close()
	l := build(t, settings, Common{BaseURL: s.URL}).(ledger.Lister)
	err = l.List(t.Context(), ledger.ListQuery{
		From: listFrom, Until: listUntil, Now: func() time.Time { return now },
		Visit: func(m ledger.Listed) error { list = append(list, m); return nil },
		Wait:  func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil },
	})
	return list, waits, err
}

func twilioLister() Settings {
	return &TwilioSettings{AccountSID: "AC00000000000000000000000000000000", AuthToken: "example-token", From: "+15005550006"}
}

func vonageLister() Settings {
	return &VonageSettings{API: vonageSMSAPI, APIKey: "abcd1234", APISecret: "example-secret", From: "AcmeShip"}
}

func sendGridLister() Settings {
	return &SendGridSettings{APIKey: "example-key", From: "shop@example.test", Category: "sendonce"}
}

// Page by page, day by day; only what was sent by the API, and with the operators in the names of the parameters.
func TestList_TwilioPages(t *testing.T) {
	var asked []string
	list, waits, err := askList(t, twilioLister(), func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		asked = append(asked, q.Get("DateSent>")+" "+q.Get("DateSent<")+" "+q.Get("PageSize")+" "+q.Get("Page"))
		if user, _, _ := r.BasicAuth(); user == "" || r.Method != http.MethodGet {
			t.Errorf("%s by %q", r.Method, user)
		}
		next := "null"
		if q.Get("Page") == "" && len(asked) == 1 {
			next = `"` + r.URL.Path + "?" + strings.ReplaceAll(r.URL.RawQuery, `"`, "") + `&Page=1"`
		}
		_, _ = fmt.Fprintf(w, `{"messages":[{"sid":"SM%d","to":"+15550100001","status":"delivered","direction":"outbound-api","date_created":"Mon, 30 Nov 2026 09:00:00 +0000"},
 {"sid":"SMin%d","to":"+15005550006","status":"received","direction":"inbound","date_created":"Mon, 30 Nov 2026 09:00:00 +0000"}],"next_page_uri":%s}`, len(asked), len(asked), next)
	})
	want := []string{"2026-11-29T08:00:00Z 2026-11-30T08:00:00Z 500 ", "2026-11-29T08:00:00Z 2026-11-30T08:00:00Z 500 1", "2026-11-30T08:00:00Z 2026-11-30T10:00:00Z 500 "}
	if err != nil || !slices.Equal(asked, want) || len(list) != 3 || !slices.Equal(waits, []time.Duration{listPause, listPause}) {
		t.Fatalf("%v, asked %q, waited %v, %d messages", err, asked, waits, len(list))
	}
	if m := list[0]; m != (ledger.Listed{MessageID: "SM1", Name: "SM1", Recipient: "+15550100001", Status: "delivered", At: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)}) &&
		!m.At.Equal(time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", m)
	}
}

// A page that leads elsewhere would carry our credentials there, and one that leads to itself would never end.
func TestList_TwilioPagesThatLeadAstray(t *testing.T) {
	for _, next := range []string{"https://evil.example.test/2010-04-01/Accounts/x", "@evil.example.test/2010-04-01/Accounts/x", "/other", "SELF"} {
		asked := 0
		_, _, err := askList(t, twilioLister(), func(w http.ResponseWriter, r *http.Request) {
			asked++
			_, _ = fmt.Fprintf(w, `{"messages":[],"next_page_uri":%q}`, strings.ReplaceAll(next, "SELF", r.URL.RequestURI()))
		})
		var failed *ledger.LookUpError
		if !errors.As(err, &failed) || asked != 1 {
			t.Errorf("%s: %v after %d requests", next, err, asked)
		}
	}
}

var sendGridSpan = regexp.MustCompile(`^categories IN \('sendonce'\) AND sg_message_id_created_at >= TIMESTAMP "([^"]+)" AND sg_message_id_created_at < TIMESTAMP "([^"]+)"$`)

// The logs have no pages: a time with as many mails as one answer lists is halved until it has fewer. No mail is missed, none comes twice.
func TestList_SendGridHalvesTheTime(t *testing.T) {
	var at []time.Time
	for i := range 2500 {
		at = append(at, listFrom.Add(time.Duration(i)*2*time.Second)) // all in an hour and a half
	}
	asked := 0
	list, _, err := askList(t, sendGridLister(), func(w http.ResponseWriter, r *http.Request) {
		asked++
		var ask struct {
			Limit int
			Query string
		}
		text, _ := io.ReadAll(r.Body)
		span := sendGridSpan.FindStringSubmatch(string(text))
		if json.Unmarshal(text, &ask) == nil {
			span = sendGridSpan.FindStringSubmatch(ask.Query)
		}
		if span == nil || ask.Limit != 1000 {
			t.Fatalf("asked %s", text)
		}
		from, _ := time.Parse(time.RFC3339, span[1])
		until, _ := time.Parse(time.RFC3339, span[2])
		rows := []string{}
		for i, a := range at {
			if !a.Before(from) && a.Before(until) && len(rows) < ask.Limit {
				rows = append(rows, fmt.Sprintf(`{"sg_message_id":"m%d.rest","to_email":"a@example.test","status":"delivered","sg_message_id_created_at":%q}`, i, a.Format(time.RFC3339)))
			}
		}
		_, _ = fmt.Fprintf(w, `{"messages":[%s]}`, strings.Join(rows, ","))
	})
	seen := map[string]bool{}
	for _, m := range list {
		seen[m.MessageID] = true
	}
	if err != nil || len(list) != 2500 || len(seen) != 2500 || asked > 30 || list[7].Name != "m7.rest" {
		t.Errorf("%v: %d mails, %d different, %d requests", err, len(list), len(seen), asked)
	}
	at = slices.Repeat([]time.Time{listFrom.Add(time.Second)}, 1000) // too many in one second
	if _, _, err := askList(t, sendGridLister(), func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"messages":[%s]}`, strings.TrimSuffix(strings.Repeat(`{"sg_message_id":"m.r","to_email":"a","status":"x","sg_message_id_created_at":"2026-11-29T08:00:01Z"},`, 1000), ","))
	}); !errors.Is(err, errTooMany) {
		t.Errorf("got %v", err)
	}
}

func TestList_VonageRecords(t *testing.T) {
	const row = "01939c7e-0000-7000-8000-000000000001"
	asked := 0
	list, _, err := askList(t, vonageLister(), func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		asked++
		next := "" // the first answer has further pages, so its time is halved
		if asked == 1 {
			next = `,"next":{"href":"https://api.nexmo.com/v2/reports/records?cursor=x"}`
		}
		if q.Get("product") != "SMS" || q.Get("direction") != "outbound" || q.Get("account_id") != "abcd1234" || r.URL.Path != "/v2/reports/records" ||
			q.Get("show_concatenated") != "true" || !strings.HasSuffix(q.Get("date_end"), "Z") {
			t.Errorf("asked %s", r.URL)
		}
		_, _ = fmt.Fprintf(w, `{"_links":{"self":{"href":"x"}%s},"records":[{"message_id":"0A%d","client_ref":"01939c7e000070008000000000000001-2","to":"15550100001",
 "status":"delivered","date_received":"2026-11-29T09:00:00+0000","concatenated":%s}]}`, next, asked, []string{"", "null", "true", `"true"`, "false"}[asked])
	})
	if err != nil || asked != 4 || len(list) != 3 {
		t.Fatalf("%v: %d requests, %d messages", err, asked, len(list))
	}
	if !list[1].Part || list[2].Part {
		t.Errorf("parts: %+v", list)
	}
	if m := list[0]; m.Reference != row+"-2" || m.Recipient != "+15550100001" || !m.Part || m.MessageID != "0A2" || !m.At.Equal(time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v", m)
	}
}

// A service that has enough for now is waited for as long as it says, within bounds; what will not change ends the list at once. A list
// that cannot be read in full is an error: what it left out would be missed in the wrong place.
func TestList_Faults(t *testing.T) {
	good := map[string]string{
		"twilio": `{"messages":[],"next_page_uri":null}`, "vonage": `{"records":[]}`, "sendgrid": `{"messages":[]}`,
	}
	bad := map[string][]string{
		"twilio":   {`{"messages":[{"sid":"","direction":"outbound-api","date_created":"Mon, 30 Nov 2026 09:00:00 +0000"}]}`, `{"messages":[{"sid":"SM1","direction":"outbound-api","date_created":"x"}]}`},
		"vonage":   {`{"records":[{"message_id":"","date_received":"2026-11-29T09:00:00+0000"}]}`, `{"records":[{"message_id":"m","date_received":"x"}]}`},
		"sendgrid": {`{"messages":[{"sg_message_id":"","sg_message_id_created_at":"2026-11-29T09:00:00Z"}]}`, `{"messages":[{"sg_message_id":"m","sg_message_id_created_at":"x"}]}`},
	}
	for name, settings := range map[string]func() Settings{"twilio": twilioLister, "vonage": vonageLister, "sendgrid": sendGridLister} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			_, waits, err := askList(t, settings(), func(w http.ResponseWriter, _ *http.Request) {
				asked++
				switch asked {
				case 1:
					w.Header().Set("Retry-After", "7")
					w.WriteHeader(http.StatusTooManyRequests)
				case 2:
					w.WriteHeader(http.StatusServiceUnavailable)
				default:
					_, _ = io.WriteString(w, good[name])
				}
			})
			if err != nil || len(waits) != 3 || waits[0] != 7*time.Second || waits[1] != 4*time.Second || waits[2] != listPause {
				t.Errorf("%v, waited %v", err, waits)
			}
			for _, body := range append(bad[name], "<html>", `{}`, `[]`, `{"messages":null,"records":null}`) {
				asked = 0
				list, _, err := askList(t, settings(), func(w http.ResponseWriter, _ *http.Request) {
					asked++
					_, _ = io.WriteString(w, body)
				})
				var failed *ledger.LookUpError
				if !errors.As(err, &failed) || asked != 1 || len(list) > 0 {
					t.Errorf("%s: %v after %d requests, %d messages", body, err, asked, len(list))
				}
			}
			for status, tries := range map[int]int{401: 1, 403: 1, 404: 1, 302: 1, 500: listTries} {
				asked = 0
				_, _, err := askList(t, settings(), func(w http.ResponseWriter, _ *http.Request) { asked++; w.WriteHeader(status) })
				if err == nil || asked != tries {
					t.Errorf("%d: %v after %d requests", status, err, asked)
				}
			}
		})
	}
	if _, _, err := askList(t, &VonageSettings{API: vonageMessagesAPI, ApplicationID: "a", PrivateKey: Secret(fake.PrivateKey()), From: "AcmeShip"}, nil); err == nil ||
		!strings.Contains(err.Error(), "api_key") {
		t.Errorf("an application without an API key: %v", err)
	}
}

func TestHolds_Twilio(t *testing.T) {
	for status, c := range map[int]struct {
		body string
		held bool
		bad  bool
	}{
		200: {`{"sid":"SM1","status":"queued"}`, true, false}, 404: {`{"code":20404}`, false, false}, 401: {`{}`, false, true},
		203: {`{"sid":"SM1"}`, false, true},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.URL.Path != "/2010-04-01/Accounts/AC00000000000000000000000000000000/Messages/SM1.json" {
				t.Errorf("%s %s", r.Method, r.URL)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, c.body)
		}))
		q := ledger.ListQuery{Now: func() time.Time { return testTime }, Wait: func(context.Context, time.Duration) error { return nil }}
		held, err := build(t, twilioLister(), Common{BaseURL: s.URL}).(ledger.Holder).Holds(t.Context(), q, "SM1")
		if held != c.held || (err != nil) != c.bad {
			t.Errorf("%d: %t, %v", status, held, err)
		}
		s.Close()
	}
}

// Each type that lists is named where people are told which do.
func TestListing_NamesThem(t *testing.T) {
	var names []string
	for _, k := range kits {
		if _, ok := k.make(t, Common{BaseURL: k.base}).(ledger.Lister); ok {
			names = append(names, strings.Fields(strings.ReplaceAll(k.name, "_", " "))[0])
		}
	}
	slices.Sort(names)
	if got := strings.Join(slices.Compact(names), ", "); got != Listing() {
		t.Errorf("%s list, %s are named", got, Listing())
	}
}
