package browser

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// hostile is what callers and providers may say in any field: a name, and the text.
var hostile = [][2]string{
	{"element", `<img src=x onerror=alert(1)>`}, {"script", `"><script>alert(1)</script>`}, {"address", `javascript:alert(1)`}, {"attribute", `' onmouseover='alert(1)`},
	{"template", `{{.}}{{template "layout"}}`}, {"entity", `&lt;b&gt;&#0;\u0000%00`}, {"override", "abc\u202etxt.exe"}, {"nothing", "\u200bzero\u200b\u2066width"},
	{"formula", `=cmd|' /C calc'!A1`}, {"word", strings.Repeat("unbroken", 12)}, {"long", strings.Repeat("0123456789", 1000)},
}

// cut is as much of a text as a field takes.
func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most])
	}
	return text
}

// talker is a provider that says no with whatever text stands in it; with none it repeats what it was told.
func talker(t *testing.T) (url string, says *atomic.Value) {
	t.Helper()
	says = &atomic.Value{}
	says.Store("")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		text := says.Load().(string)
		if text == "" {
			text = r.Header.Get("Authorization") + " " + string(body)
		}
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(fields{"ok": false, "error": fields{"code": text, "message": text}, "data": text})
	}))
	t.Cleanup(server.Close)
	return server.URL, says
}

// Whatever stands in whatever field is text: it makes no element, runs nothing, asks nobody, and makes no page wider. In an
// export it is a cell.
func TestHostile_TextStaysText(t *testing.T) {
	t.Parallel()
	url, says := talker(t)
	s := serve(t, "URL", url)
	w := s.open("operator")
	w.expect("Blocked script execution in") // by the frame of a mail that a caller wrote
	w.looking(narrow)
	for _, h := range hostile {
		text := h[1]
		says.Store(text)
		claim := fields{"event_id": cut(text, 255), "event_type": cut(text, 80), "source": cut(text, 128), "user_id": cut(text, 128), "metadata": fields{"x": cut(text, 1000)}, "message": fields{"text": cut(text, 1000)}}
		if h[0] == "override" || h[0] == "nothing" { // no name may have these: they stand in messages only
			claim["event_id"], claim["event_type"], claim["source"], claim["user_id"] = "evt_"+h[0], "plain", "shop", "u"
		}
		sms := s.claim(claim)
		claim["channel"], claim["recipient"], claim["message"] = "email", "ada@example.com", fields{"subject": text, "text": text, "html": "<p>" + text}
		s.claim(claim)
		device := shown.Replace(cut(text, 400)) // must be visible
		claim["channel"], claim["recipient"], claim["message"] = "push", device, fields{"title": text, "body": text}
		s.claim(claim)
		claim["channel"], claim["recipient"], claim["message"] = "webhook", "https://crm.example.com/"+strings.ReplaceAll(h[0], " ", ""), fields{"data": fields{text: text}}
		claim["send_at"], claim["expires_at"] = "2027-06-01T00:00:00Z", "2027-06-02T00:00:00Z"
		later := s.claim(claim)
		s.call("operator", http.MethodPost, "/v1/notifications/"+later.ID+"/hold", fields{"reason": cut(text, 500), "by": cut(text, 128)})
		w.visit("/notifications/" + sms.ID)
		w.harmless(h[0]+", row", cut(claim["event_id"].(string), 30))
		form := "#decide form[action$=reveal] "
		w.fill(form+"input[name=reason]", "look")
		w.click(form + "button")
		w.has("main", "That you looked is recorded")
		w.harmless(h[0]+", revealed", cut(text, 30))
		w.visit("/notifications/" + later.ID)
		w.harmless(h[0]+", held row", cut(text, 30))
	}
	w.expect("status of 400")
	w.expect("does not conform to the required format") // a time in an address that was written by hand
	for _, path := range []string{"/notifications", "/waiting", "/mailbox", "/mailbox?channel=email", "/", "/providers"} {
		w.visit(path)
		w.harmless(path, "")
	}
	for _, h := range hostile[:9] {
		q := ask[string](w, `encodeURIComponent(`+quote(h[1])+`)`)
		w.visit("/notifications?q=" + q + "&event_type=" + q + "&state=" + q + "&from=" + q)
		w.harmless(h[0]+", search", "")
	}
	s.cells(w)
}

// shown is how a text stands on a page.
var shown = strings.NewReplacer("\u202e", "‹U+202E›", "\u200b", "‹U+200B›", "\u2066", "‹U+2066›")

// harmless fails when a page has made something of what is text, is wider than its window, or does not show a text.
func (w *tab) harmless(name, text string) {
	w.t.Helper()
	w.unfold()
	w.fits(name)
	made := ask[[]string](w, `[...document.querySelectorAll("body script, body img, body object, body embed, body base, iframe:not([sandbox='']), main svg, [onerror], [onmouseover], [onload], [href^='javascript' i], [src^='javascript' i], [action^='javascript' i]")].map(e => e.outerHTML.slice(0, 200))`)
	if len(made) > 0 {
		w.t.Errorf("%s has made %q", name, made)
	}
	if !ask[bool](w, `document.body.textContent.includes(`+quote(shown.Replace(text))+`)`) {
		w.t.Errorf("%s does not show %q", name, text)
	}
}

// cells demands that an export is what was claimed, with no cell that computes.
func (s *service) cells(w *tab) {
	s.t.Helper()
	text := ask[string](w, `fetch("/console/notifications/export?format=csv").then(r => r.text())`)
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(records) != 1+4*len(hostile) {
		s.t.Fatalf("%d records: %v", len(records), err)
	}
	for _, record := range records {
		for _, cell := range record {
			if strings.HasPrefix(cell, "=") || strings.HasPrefix(cell, "+") || strings.HasPrefix(cell, "-") || strings.HasPrefix(cell, "@") {
				s.t.Errorf("a cell computes: %q", cell)
			}
		}
	}
	lines := ask[string](w, `fetch("/console/notifications/export?format=ndjson").then(r => r.text())`)
	for line := range bytes.Lines([]byte(lines)) {
		var one fields
		if err := json.Unmarshal(line, &one); err != nil {
			s.t.Errorf("%v: %.200s", err, line)
		}
	}
	if !strings.Contains(lines, `"event_id":"javascript:alert(1)"`) {
		s.t.Error("the export lacks what was claimed")
	}
}

// Nothing private stands in a page or an export for whom it is not, even where the provider's answer repeats it all; secrets
// stand nowhere.
func TestSecrets_F34_NotInPages(t *testing.T) {
	t.Parallel()
	url, _ := talker(t)
	s := serve(t, "URL", url)
	n := s.claim(fields{"recipient": "+15550100009", "message": fields{"text": "OTP 424242"}})
	paths := []string{"/", "/notifications", "/notifications?q=evt_1", "/notifications/" + n.ID, "/waiting", "/providers", "/history",
		"/notifications/export?format=csv", "/notifications/export?format=ndjson"}
	for _, key := range []string{"reader", "operator"} {
		w := s.open(key)
		for _, path := range paths {
			page := ask[string](w, `fetch(`+quote("/console"+path)+`).then(r => r.text())`)
			if !strings.Contains(page, "</html>") && !strings.Contains(path, "export") && path != "/history" {
				t.Fatalf("%s is no page: %.200q", path, page)
			}
			canaries := []string{"SECRETCANARY1", "424242", "5550100009"}
			if key == "operator" && strings.Contains(path, "export") {
				canaries = canaries[:2] // who may decide may reach people
			}
			for _, canary := range canaries {
				if strings.Contains(page, canary) {
					t.Errorf("%s shows %s to %s", path, canary, key)
				}
			}
		}
	}
	if strings.Contains(s.log.String(), "424242") || strings.Contains(s.log.String(), "5550100009") || strings.Contains(s.log.String(), "SECRETCANARY1") {
		t.Error("the log has a canary")
	}
}
