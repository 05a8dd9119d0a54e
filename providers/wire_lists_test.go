package providers

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The requests for lists fit the providers' descriptions too: paths, bodies and the names of the parameters in the address, which
// Prism lets pass whatever they are.
func TestWire_ListsFitTheProvidersDescriptions(t *testing.T) {
	for _, c := range []struct {
		spec     string
		settings func() Settings
		nothing  string // an empty list
		wrong    func(*request)
	}{
		{"twilio_api_v2010_messages", twilioLister, `{"messages":[],"next_page_uri":null}`, func(r *request) { r.url = strings.Replace(r.url, "PageSize=500", "PageSize=5000", 1) }},
		{"sendgrid_logs_v3", sendGridLister, `{"messages":[]}`, replaced(`"limit":1000`, `"limit":1001`)},
		{"vonage_reports_v2", vonageLister, `{"records":[]}`, func(r *request) { r.url = strings.Replace(r.url, "product=SMS", "product=sms", 1) }},
	} {
		t.Run(c.spec, func(t *testing.T) {
			t.Parallel()
			spec := readDescription(t, c.spec)
			spec.prepare(t)
			p := startPrism(t, spec)
			asked := listRequests(t, c.settings(), c.nothing)
			findings := 0
			for _, r := range asked {
				for name := range queryOf(t, r) {
					if !spec.names(name) {
						t.Errorf("the document has no parameter %s", name)
						findings++
					}
				}
				r.url = p.url + r.url
				answer, log := p.hold(t, newSender(nil, 0), r, true)
				if findings += len(answer) + len(log); len(answer)+len(log) > 0 {
					t.Errorf("%s: the answer says %q, the log %q\n%s", r.url, answer, log, r.body)
				}
			}
			wrong := listRequests(t, c.settings(), c.nothing)[0]
			wrong.url = p.url + wrong.url
			c.wrong(wrong)
			if answer, log := p.hold(t, newSender(nil, 0), wrong, true); len(answer)+len(log) == 0 {
				t.Errorf("a wrong request is not found: %s %s", wrong.url, wrong.body)
			}
			t.Logf("%-26s %4d requests for lists, %d findings", c.spec, len(asked), findings)
		})
	}
}

// listRequests are the requests that a lister makes, with their path and query as URL.
func listRequests(t *testing.T, settings Settings, nothing string) (asked []*request) {
	t.Helper()
	_, _, err := askList(t, settings, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		header := http.Header{}
		for _, name := range []string{"Authorization", "Accept", "Content-Type"} {
			if v := r.Header.Get(name); v != "" {
				header.Set(name, v)
			}
		}
		asked = append(asked, &request{method: r.Method, url: r.URL.RequestURI(), header: header, body: body, at: testTime})
		_, _ = io.WriteString(w, nothing)
	})
	if err != nil || len(asked) == 0 {
		t.Fatalf("%v after %d requests", err, len(asked))
	}
	return asked
}

func queryOf(t *testing.T, r *request) url.Values {
	t.Helper()
	u, err := url.Parse(r.url)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

// parameters hands every parameter of a GET to visit.
func (d description) parameters(visit func(p map[string]any)) {
	for _, item := range d["paths"].(map[string]any) {
		get, _ := item.(map[string]any)["get"].(map[string]any)
		list, _ := get["parameters"].([]any)
		for _, v := range list {
			p := v.(map[string]any)
			if ref, ok := p["$ref"].(string); ok {
				p = d.at(ref).(map[string]any)
			}
			visit(p)
		}
	}
}

func (d description) names(parameter string) (found bool) {
	d.parameters(func(p map[string]any) { found = found || p["name"] == parameter })
	return found
}
