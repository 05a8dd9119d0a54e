package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sendonce/ledger"
)

// A condition that is unknown, stands twice or can't be read is refused by its name, on every route that takes any. Keeps out pages
// and exports of more than was asked.
func TestQuery_NothingIsDropped(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{EventID: "evt_1", Source: "billing", Provider: "lost"})
	v := r.as("operator")
	names := strings.NewReplacer("{id}", n.ID.String(), "{name}", "taken")
	routes := 0
	for _, route := range r.console.routes() {
		if route.takes == nil {
			continue
		}
		routes++
		first := route.takes[0]
		for query, says := range map[string]string{
			"sorce=shop":                         "sorce is nothing that this page takes; it takes " + first,
			first + "=1&" + first + "=2":         first + " must stand once, and stands 2 times",
			first + "=shop%zz":                   "must be percent-encoded",
			first + "=a;b=c":                     "must be percent-encoded",
			"told=cancel":                        "told is nothing that this page takes",
			strings.Repeat("long", 100) + "=1":   "longlonglonglonglonglonglonglonglonglong…",
			"%3Cimg+src%3Dx%3E=1&" + first + "=": "&lt;img src=x&gt;",
		} {
			w := v.get(names.Replace(route.path) + "?" + query)
			if route.method == http.MethodPost {
				w = v.do(http.MethodPost, names.Replace(route.path), query)
			}
			if w.Code != http.StatusBadRequest {
				t.Errorf("%s %s?%s: %d", route.method, route.path, query, w.Code)
			}
			has(t, w, says)
			hasNot(t, w, "evt_1")
		}
	}
	if routes < 15 {
		t.Errorf("only %d routes take anything", routes)
	}
	if rec := r.row(n); rec.State != ledger.StateAmbiguous || len(rec.Settlements) != 0 {
		t.Errorf("the row is %s, %+v", rec.State, rec.Settlements)
	}
}

// What a condition can't mean is refused, where to leave it out would show more; a blank name is a name.
func TestQuery_NoConditionIsLost(t *testing.T) {
	r := newRig(t)
	r.claim(ledger.Event{EventID: "evt_1", Source: "billing", Provider: "lost"})
	v := r.as("operator")
	for query, says := range map[string]string{
		"to=0001-01-01": "to must be a time of 1970 or later", "from=1969-12-31T23:59": "from must be", "source=a%00b": "source must be UTF-8", "event_type=%FF": "event_type must be UTF-8",
		"state=lost": "state must be one of claimed", "channel=fax": "channel must be one of sms",
	} {
		for _, path := range []string{"/notifications?", "/notifications/export?format=csv&", "/waiting?"} {
			if w := v.get(path + query); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), says) || strings.Contains(w.Body.String(), "evt_1") {
				t.Errorf("%s%s: %d", path, query, w.Code)
			}
		}
	}
	for _, path := range []string{"/notifications?", "/notifications/export?format=csv&", "/waiting?"} {
		for _, query := range []string{"source=+billing", "source=billing+", "event_type=+"} {
			w := v.get(path + query)
			if hasNot(t, w, "evt_1"); w.Code != http.StatusOK {
				t.Errorf("%s%s: %d", path, query, w.Code)
			}
		}
		if w := v.get(path + "source=&from="); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "evt_1") {
			t.Errorf("%s: a field that is not filled in: %d", path, w.Code)
		}
	}
	for _, query := range []string{"user_id=u", "delivery=delivered"} { // a decision about all that fit could not take them
		if w := v.get("/waiting?" + query); w.Code != http.StatusBadRequest {
			t.Errorf("/waiting?%s: %d", query, w.Code)
		}
	}
}

// The search box is a condition too: what it can't mean lists and exports nothing. Keeps out an export of the whole ledger for an id.
func TestQuery_SearchIsACondition(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{EventID: "evt_1"})
	r.claim(ledger.Event{EventID: "evt_2"})
	v := r.as("operator")
	for query, says := range map[string]string{
		"q=+": "search has nothing but blanks", "as=0": "as belongs to a search", "q=evt_1&as=9": "as is no meaning of this text", "q=evt_1&as=x": "as is no meaning", "q=evt_1&as=-1": "as is no meaning",
	} {
		for _, path := range []string{"/notifications?", "/notifications/export?format=csv&"} {
			w := v.get(path + query)
			has(t, w, says)
			if hasNot(t, w, "evt_2"); w.Code != http.StatusBadRequest {
				t.Errorf("%s%s: %d", path, query, w.Code)
			}
		}
	}
	id := "q=" + n.ID.String()
	if w := v.get("/notifications/export?format=csv&" + id); w.Code != http.StatusBadRequest || strings.Contains(w.Body.String(), "evt_2") {
		t.Errorf("an export of an id: %d", w.Code)
	}
	if w := v.get("/notifications?" + id + "&as=0"); w.Code != http.StatusSeeOther {
		t.Errorf("a search for an id: %d", w.Code)
	}
	w := v.get("/notifications/export?format=csv&q=evt_1&as=0") // as a dedupe key, which it is not
	hasNot(t, w, "evt_1", "evt_2")
	has(t, v.get("/notifications/export?format=csv&q=evt_1&as=2"), "evt_1")
}

// A text that is an id of one row and something of another leads to both, and lists the other only.
func TestQuery_AnIDThatIsAlsoAnEvent(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{EventID: "evt_1"})
	other := r.claim(ledger.Event{EventID: n.ID.String()})
	v := r.as("operator")
	w := v.get("/notifications?q=" + n.ID.String())
	has(t, w, other.ID.String(), `href="/console/notifications/`+n.ID.String()+`"`)
	hasNot(t, w, "evt_1")
	hasNot(t, v.get("/notifications/export?format=csv&q="+n.ID.String()), "evt_1")
}

// Wherever a page of a list is said to begin, its neighbours can be reached and no row is skipped.
func TestList_EdgesOfPaging(t *testing.T) {
	r := newRig(t)
	r.claim(ledger.Event{EventID: "evt_only", Provider: "lost"})
	v := r.as("operator")
	for query, status := range map[string]int{
		"newer=9223372036854775807": 400, "older=9223372036854775807": 400, "newer=4611686018427387904": 400, "newer=4611686018427387903": 200, "older=4611686018427387903": 200,
		"newer=9223372036854775808": 400, "older=0": 400, "newer=0": 200, "newer=-1": 400, "older=-0": 400, "older=1": 200, "newer=1": 200, "older=2": 200, "older=1&newer=1": 400, "older=1e3": 400,
	} {
		w := v.get("/notifications?" + query)
		if w.Code != status {
			t.Errorf("%s: %d, want %d", query, w.Code, status)
		}
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "evt_only") {
			continue
		}
		found := false
		for _, to := range addresses(w.Body.String(), "rel=") {
			next := v.get(strings.TrimPrefix(to, Path))
			if next.Code != http.StatusOK {
				t.Errorf("%s leads to %s: %d", query, to, next.Code)
			}
			found = found || strings.Contains(next.Body.String(), "evt_only")
		}
		if !found {
			t.Errorf("from %s nothing leads to the only row", query)
		}
	}
	for query, status := range map[string]int{"newer=9223372036854775807": 400, "newer=4611686018427387903": 200, "newer=x": 400} {
		if w := v.get("/waiting?" + query); w.Code != status {
			t.Errorf("/waiting?%s: %d, want %d", query, w.Code, status)
		}
	}
	has(t, v.get("/waiting?source=&provider=lost&newer=5"), `href="/console/waiting?provider=lost">From the oldest`)
	for query, status := range map[string]int{"skip=9223372036854775807": 200, "skip=9223372036854775808": 400, "skip=-1": 400, "skip=x": 400, "skip=40": 200, "channel=fax": 400} {
		if w := v.get("/mailbox?" + query); w.Code != status {
			t.Errorf("/mailbox?%s: %d, want %d", query, w.Code, status)
		}
	}
}

// Whatever answers a POST, refused or not, leads only to what answers GET; so does its own address, which a browser that is started
// again asks for.
func TestPosts_LeadSomewhere(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{EventID: "evt_1", Provider: "lost"})
	for i := range waitingRows + 1 {
		r.claim(ledger.Event{EventID: "more", Recipient: "+1415555" + string(rune('0'+i/10)) + string(rune('0'+i%10)) + "11", Channel: ledger.SMS, Message: []byte(`{"text":"x"}`), Provider: "lost"})
	}
	v := r.as("operator")
	names := strings.NewReplacer("{id}", n.ID.String(), "{name}", "taken")
	forms := []string{"", "state=ambiguous&action=confirm", "state=ambiguous&action=hold&reason=x&provider=lost", "state=claimed&action=confirm&reason=x", "state=ambiguous&action=confirm&reason=x&from=yesterday",
		"state=held&action=unhold&reason=x", "state=ambiguous&action=abandon&reason=x&channel=sms", "version=1&action=confirm", "version=1&reason=", "version=1&action=confirm&reason=x", "reason=%07", "key=x", "sorce=x"}
	for _, route := range r.console.routes() {
		if route.method != http.MethodPost || route.path == "/csp" || route.path == "/logout" {
			continue
		}
		path := names.Replace(route.path)
		for _, form := range forms {
			w := v.do(http.MethodPost, path, form)
			at, err := url.Parse("http://127.0.0.1" + Path + path)
			if err != nil {
				t.Fatal(err)
			}
			list := append(addresses(w.Body.String(), "href="), addresses(w.Body.String(), "hx-get=")...)
			if w.Code != http.StatusSeeOther && len(list) < 4 {
				t.Errorf("POST %s %s: %d with %d addresses", path, form, w.Code, len(list))
			}
			for _, to := range append(list, "") {
				u, err := at.Parse(to)
				if err != nil {
					t.Fatal(err)
				}
				if g := v.get(strings.TrimPrefix(u.RequestURI(), Path)); g.Code == http.StatusNotFound || g.Code == http.StatusMethodNotAllowed {
					t.Errorf("POST %s %s: %d, and then GET %s: %d", path, form, w.Code, u.RequestURI(), g.Code)
				}
			}
		}
	}
	refused := v.post("/waiting/count", url.Values{"state": {"ambiguous"}, "action": {"confirm"}, "provider": {"lost"}})
	has(t, refused, `hx-get="/console/waiting?provider=lost&amp;state=ambiguous"`, "newer=")
	hasNot(t, v.post("/waiting/count", url.Values{"state": {"ambiguous"}, "action": {"confirm"}, "reason": {"x"}, "from": {"yesterday"}}), "Nothing waits for a person")
}
