package providers

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

// describedLists are the descriptions of what look-ups ask, and the adapters that ask so.
var describedLists = []struct {
	spec, kit string
	first     string // the answer to the first request, so that the next one is made
	wrong     []wrongRequest
}{
	{"twilio_api_v2010_messages", "twilio", `{"messages":[],"next_page_uri":"/2010-04-01/Accounts/` + testAccountSID + `/Messages.json?To=%2B15550100009&PageSize=100&Page=1&PageToken=PA1"}`, []wrongRequest{
		noAuthorization,
		{name: "a page that is too large", change: inQuery("PageSize=100", "PageSize=5000")},
		{name: "an account of another form", change: atPath("/AC", "/AD")},
	}},
	{"sendgrid_logs_v3", "sendgrid", `{"messages":[{"sg_message_id":"Xj5LmNkWSOqRbdvOpR34BA.recvd-85abf8d92c-3qfgp-2-7890E356-43C.1"}]}`, []wrongRequest{
		noAuthorization,
		{name: "too many", change: replaced(`"limit":1000`, `"limit":5000`)},
		{name: "a list as query", change: replaced(`"query":"`, `"query":["x"],"was":"`)},
		{name: "another path", change: atPath("/logs", "/log")},
	}},
	{"vonage_reports_v2", "vonage", `{"records":[]}`, []wrongRequest{
		noAuthorization,
		{name: "no account", change: inQuery("account_id=", "account=")},
		{name: "another product", change: inQuery("product=SMS", "product=FAX")},
		{name: "another direction", change: inQuery("direction=outbound", "direction=away")},
		{name: "another path", change: atPath("/records", "/record")},
	}},
	{"vonage_reports_v2", "vonage_messages", `{"records":[]}`, nil},
	{"resend_emails", "resend", `{"data":[{"id":"49a3999c-0ce1-4ea6-ab68-afcd6dc2e794","to":["ada@example.test"],"from":"shop@example.test","subject":"Login","created_at":"2026-11-30 10:00:02+00"}],"has_more":true}`, []wrongRequest{
		{name: "a page that is too large", change: inQuery("limit=100", "limit=1000")},
		{name: "another path", change: atPath("/emails", "/email")},
	}},
}

func inQuery(old, new string) func(*request) { return atPath(old, new) }

// Every request of a look-up goes to Prism, as those that send do.
func TestWire_LookUpsFitTheProvidersDescriptions(t *testing.T) {
	for _, d := range describedLists {
		t.Run(d.kit, func(t *testing.T) {
			t.Parallel()
			asked := lookUpRequests(t, d.kit, d.first)
			spec := readDescription(t, d.spec)
			spec.prepare(t)
			p := startPrism(t, spec)
			s := newSender(nil, 0)
			defer s.transport.CloseIdleConnections()
			for _, r := range asked {
				if answer, log := p.hold(t, s, toPrism(r, p.url), true); len(answer)+len(log) > 0 {
					t.Errorf("%s: the answer says %q, the log %q", requestLine(r), answer, log)
				}
			}
			found := 0
			for _, w := range d.wrong {
				r := toPrism(asked[0], p.url)
				w.change(r)
				if answer, log := p.hold(t, s, r, true); len(answer) == 0 && len(log) == 0 {
					t.Errorf("%s is not found", w.name)
					continue
				}
				found++
			}
			t.Logf("%-16s %d requests; %d of %d wrong requests found", d.kit, len(asked), found, len(d.wrong))
		})
	}
}

func toPrism(r *request, url string) *request {
	out := *r
	out.header = r.header.Clone()
	out.url = url + strings.TrimPrefix(r.url, "http://example.test")
	return &out
}

// lookUpRequests are the requests that an adapter makes when the first of them gets this answer and the others an empty object.
func lookUpRequests(t *testing.T, name, first string) (asked []*request) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if len(body) == 0 {
			body = nil
		}
		h := http.Header{}
		for _, header := range []string{"Authorization", "Content-Type", "Accept"} {
			if v := r.Header.Get(header); v != "" {
				h.Set(header, v)
			}
		}
		asked = append(asked, &request{method: r.Method, url: "http://example.test" + r.URL.RequestURI(), header: h, body: body})
		if len(asked) == 1 {
			_, _ = io.WriteString(w, first)
			return
		}
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	kits := finders(t)
	k := kits[slices.IndexFunc(kits, func(k finderKit) bool { return k.name == name })]
	to := server.Listener.Addr().String()
	f := k.make(t, Common{BaseURL: k.base, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", to)
	}}).(ledger.Finder)
	for _, searches := range [][]ledger.Search{k.searches, k.searches[:1]} {
		searches[0].Attempts = []int{1}
		_, _ = f.Find(t.Context(), testTime.Add(time.Hour), searches)
	}
	if len(asked) < 2 {
		t.Fatalf("%d requests", len(asked))
	}
	return asked
}
