package console

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"sendonce/ledger"
)

// hostile is what callers may send in any field.
var hostile = []string{
	`<img src=x onerror=alert(1)>`, `javascript:alert(1)`, `"><script>alert(1)</script>`, `' onmouseover='alert(1)`, "\u202etxt.exe\u202c", "a\u2066b\u2069c",
	`{{.}}{{template "layout"}}`, `</title></textarea><svg/onload=alert(1)>`, "`${alert(1)}`", "&lt;b&gt;", "\u200bzero\u200b", "𝕬\U000e0041",
}

// elements are those that our pages have.
const elements = " html head meta title link script body a header div svg rect path span form label input button nav ul li p main footer section h1 h2 h3 table thead tbody tr th td time br strong code dl dt dd ol bdi details summary pre article select option optgroup fieldset legend caption iframe "

// checkPage fails on anything in a page that is not ours.
func checkPage(t *testing.T, name, page string) {
	t.Helper()
	tokens := html.NewTokenizer(strings.NewReader(page))
	var open []string // elements around the token
	link := ""        // the text of the link around it
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return
		}
		if kind == html.EndTagToken {
			tag, _ := tokens.TagName()
			if i := lastIndex(open, string(tag)); i >= 0 {
				open = open[:i]
			}
			if string(tag) == "a" && strings.Trim(link, " \n–") == "" {
				t.Errorf("%s: a link has no name", name)
			}
			continue
		}
		if kind == html.TextToken {
			link += string(tokens.Raw())
			for _, r := range string(tokens.Text()) {
				if steers(r) {
					t.Errorf("%s: a text with %U", name, r)
				}
			}
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		token := tokens.Token()
		if token.Data == "a" {
			link = ""
		}
		if token.Data == "details" && slices.ContainsFunc(open, sentence) {
			t.Errorf("%s: a part is folded away inside of %v", name, open)
		}
		if kind == html.StartTagToken && !strings.Contains(" meta link input br path rect ", " "+token.Data+" ") {
			open = append(open, token.Data)
		}
		if !strings.Contains(elements, " "+token.Data+" ") {
			t.Errorf("%s: an element %s", name, token.Data)
		}
		for _, a := range token.Attr {
			address := a.Key == "href" || a.Key == "src" || a.Key == "action" || strings.HasPrefix(a.Key, "hx-get")
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || address && a.Val != "" && !strings.HasPrefix(a.Val, "/console") && !strings.HasPrefix(a.Val, "?") && !strings.HasPrefix(a.Val, "#") {
				t.Errorf("%s: %s has %s=%q", name, token.Data, a.Key, a.Val)
			}
			if token.Data == "script" && a.Key == "src" && !strings.HasPrefix(a.Val, "/console/static/") {
				t.Errorf("%s: a script from %q", name, a.Val)
			}
		}
	}
}

// sentence reports whether an element holds text only: nothing in it can be folded away.
func sentence(element string) bool {
	return strings.Contains(" a p h1 h2 h3 strong span button label summary code ", " "+element+" ")
}

func lastIndex(list []string, s string) int {
	for i, one := range slices.Backward(list) {
		if one == s {
			return i
		}
	}
	return -1
}

func escape(s string) string { return url.QueryEscape(s) }

// form makes a form of names and values.
func form(pairs ...string) url.Values {
	f := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		f.Set(pairs[i], pairs[i+1])
	}
	return f
}

// Whatever callers send in whatever field is text on every page: it makes no element, no attribute and no address, and turns no
// direction of writing.
func TestHostile_EveryFieldEveryPage(t *testing.T) {
	r := newRig(t)
	v := r.as("operator")
	for _, text := range append(hostile, strings.Repeat("long ", 2000)) {
		cut := func(most int) string {
			for i := range text {
				if utf8.RuneCountInString(text[:i]) == most {
					return text[:i]
				}
			}
			return text
		}
		message, err := json.Marshal(map[string]string{"subject": text, "text": text, "html": text})
		if err != nil {
			t.Fatal(err)
		}
		metadata, err := json.Marshal(map[string]string{"x": cut(1000)})
		if err != nil {
			t.Fatal(err)
		}
		e := ledger.Event{
			EventID: cut(200), EventType: cut(80), Source: cut(100), UserID: cut(100), Channel: ledger.Email, Recipient: "ada@example.test",
			Message: message, Metadata: metadata, Provider: "lost",
		}
		if _, err := r.ledger.Claim(t.Context(), e); err != nil { // what the ledger refuses in names comes into messages only
			e.EventID, e.EventType, e.Source, e.UserID = "plain", "", cut(0), ""
		}
		n := r.claim(e)
		v.decide(n, "abandon", cut(500), "by", cut(128))
		v.post("/providers/taken/pause", form("reason", cut(500))) // what the ledger refuses as a reason is not there
		pages := map[string]string{
			"row": "/notifications/" + n.ID.String(), "list": "/notifications", "search": "/notifications?q=" + escape(text), "filter": "/notifications?event_type=" + escape(text) + "&from=" + escape(text) + "&state=" + escape(text),
			"waiting": "/waiting", "mailbox": "/mailbox", "mailbox filter": "/mailbox?channel=" + escape(text) + "&skip=" + escape(text), "providers": "/providers", "overview": "/", "waiting filter": "/waiting?provider=" + escape(text) + "&state=" + escape(text), "unknown name": "/waiting?" + escape(text) + "=1", "login": "/login?next=" + escape(text), "none": "/" + escape(text),
		}
		for name, path := range pages {
			w := v.get(path)
			checkPage(t, name, w.Body.String())
		}
		revealed := v.decide(r.row(n).Notification, "reveal", cut(500))
		checkPage(t, "revealed", revealed.Body.String())
		bulk := v.post("/waiting/count", form("state", "ambiguous", "action", "confirm", "reason", text, "event_type", text, "provider", text, "by", text))
		checkPage(t, "bulk", bulk.Body.String())
	}
	if strings.Contains(r.log.text(), "level=ERROR") {
		t.Errorf("logged: %s", r.log.text())
	}
}

// What steers is shown by its number; what is long is folded, and nothing of it is lost.
func TestText_VisibleAndFolded(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "a\u202eb": "a‹U+202E›b", "a\x00\x1b[31m": "a‹U+0000›‹U+001B›[31m", "two\nlines\t.": "two\nlines\t.", "\xff": "\ufffd",
		"👩\u200d👩\u200d👧": "👩\u200d👩\u200d👧", "\u2028": "‹U+2028›", "\ufeffx": "‹U+FEFF›x", "\u061cx": "‹U+061C›x", "\u3164": "‹U+3164›", "\r\n": "‹U+000D›\n",
	} {
		if got := visible(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
	long := strings.Repeat("ä\u202e", 5000)
	f := fold(long)
	if f.More != 10_000-foldAt || f.Start+f.Rest != visible(long) || utf8.RuneCountInString(strings.ReplaceAll(f.Start, "‹U+202E›", "x")) != foldAt {
		t.Errorf("%d more, %d and %d bytes", f.More, len(f.Start), len(f.Rest))
	}
	if f := fold(strings.Repeat("ä", foldAt)); f.Rest != "" || f.More != 0 {
		t.Errorf("a text that fits is folded: %+v", f)
	}
}

// A recipient that is masked can't be read, nor in what the provider said.
func TestMask(t *testing.T) {
	for _, c := range []struct {
		channel         ledger.Channel
		form, want, raw string
	}{
		{ledger.SMS, "+14155550142", "+14•••42", `{"to":"14155550142","uri":"To=%2B14155550142"}`},
		{ledger.SMS, "+1234567", "+12•••67", `to +1234567`},
		{ledger.Email, "ada@example.test", "a•••@example.test", `550 <ada@example.test> ada%40example.test`},
		{ledger.Email, "é@example.test", "é•••@example.test", `x`},
		{ledger.Webhook, "https://crm.example.test/hook/secret?k=1", "https://crm.example.test/•••", `POST https://crm.example.test/hook/secret?k=1`},
		{ledger.Push, "token-of-a-device-0123456789", "toke•••", `{"token":"token-of-a-device-0123456789"}`},
		{ledger.Push, "short", "•••", `short`},
		{ledger.SMS, "", "", "anything"},
	} {
		n := ledger.Notification{Channel: c.channel, Recipient: c.form, RecipientKey: c.form}
		if got := mask(&n); got != c.want {
			t.Errorf("%s %s is masked as %q", c.channel, c.form, got)
		}
		hidden := hide(&n, c.raw)
		if c.form != "" && (strings.Contains(hidden, c.form) || strings.Contains(hidden, strings.TrimPrefix(c.form, "+")) || strings.Contains(hidden, strings.Replace(c.form, "@", "%40", 1))) {
			t.Errorf("%q still shows %s", hidden, c.form)
		}
	}
}

// What a message says can't be read in what the provider said, however it is quoted there.
func TestMask_Message(t *testing.T) {
	n := ledger.Notification{Channel: ledger.SMS, RecipientKey: "+14155550142", Message: []byte(`{"text":"Code \"424242\" & more","data":{"pin":"9182","n":"1"}}`)}
	for _, raw := range []string{
		`Code "424242" & more`, `{"body":"Code \"424242\" & more"}`, `{"body":"Code \"424242\" \u0026 more"}`, `{"x":"{\"body\":\"Code \\\"424242\\\" \\u0026 more\"}"}`, `Body=Code+%22424242%22+%26+more&To=1`, `pin 9182`,
	} {
		if got := hide(&n, raw); strings.Contains(got, "424242") || strings.Contains(got, "9182") || !strings.Contains(got, hiddenPart) {
			t.Errorf("%s still shows %s", raw, got)
		}
	}
	if got := hide(&n, `{"n":"1"}`); got != `{"n":"1"}` {
		t.Errorf("what has nothing of it became %s", got)
	}
}

// Every state, reason, next action and action has a sentence.
func TestWords_All(t *testing.T) {
	for _, s := range ledger.States {
		if meaning(s) == "" {
			t.Errorf("no sentence for the state %s", s)
		}
		for _, r := range ledger.Reasons[s] {
			if because(r) == "" {
				t.Errorf("no sentence for the reason %s", r)
			}
		}
	}
	for _, a := range ledger.Actions {
		if does(a) == "" || tellings[string(a)] == "" {
			t.Errorf("no sentence for the action %s", a)
		}
	}
	for _, a := range []ledger.NextAction{ledger.DoSend, ledger.DoRepeat, ledger.DoLookUp, ledger.DoPolicy, ledger.DoExpire, ledger.Ask} {
		if next(a) == "" {
			t.Errorf("no sentence for %s", a)
		}
	}
}
