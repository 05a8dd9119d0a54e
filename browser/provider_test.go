package browser

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	protocol "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// While a provider is paused nothing reaches it; resumed, what waited goes out once.
func TestProviders_PauseAndResume(t *testing.T) {
	t.Parallel()
	s := serve(t)
	w, list := s.open("operator"), s.open("reader")
	w.visit("/providers")
	list.visit("/providers")
	list.has("#sms_main", "open")
	w.fill("#why-sms_main", "they asked us to")
	w.click("form[action$='sms_main/pause'] button")
	w.has("#sms_main", "they asked us to")
	w.has("#sms_main", "until somebody resumes it")
	list.has("#sms_main", "paused") // by itself
	s.wait = "wait=0"               // nothing is tried now
	n := s.claim(nil)
	if n.State != "claimed" || s.fake.Requests() != 0 {
		t.Errorf("paused: the row is %s after %d requests", n.State, s.fake.Requests())
	}
	w.click("form[action$='sms_main/resume'] button")
	w.has("#sms_main", "Messages pass")
	until(t, "what waited goes out", func() bool { return s.get(n.ID).State == "sent" })
	if s.fake.Requests() != 1 {
		t.Errorf("%d requests", s.fake.Requests())
	}
	list.has("#sms_main", "Messages pass")
}

// The links under a list download all that fit, safe to open in a table program.
func TestExport_Downloads(t *testing.T) {
	t.Parallel()
	s := serve(t)
	formula := `=cmd|' /C calc'!A1`
	s.claim(fields{"event_id": formula, "user_id": `@SUM(1+1)`})
	s.claim(fields{"event_id": "evt_bank", "source": "bank"})
	for _, key := range []string{"operator", "reader"} {
		w := s.open(key)
		w.expect("ERR_ABORTED")
		folder := t.TempDir()
		c := chromedp.FromContext(w.ctx)
		_, err := cdp.Call(w.ctx, c.Browser, protocol.SetDownloadBehavior, protocol.SetDownloadBehaviorParams{
			Behavior: protocol.SetDownloadBehaviorBehaviorAllow, DownloadPath: folder, BrowserContextID: c.BrowserContextID,
		})
		w.do(err)
		w.visit("/notifications?source=shop")
		w.click(`main a[href*="format=csv"]`)
		csvText := downloaded(t, folder, "*.csv")
		w.click(`main a[href*="format=ndjson"]`)
		lines := strings.Split(strings.TrimSpace(downloaded(t, folder, "*.ndjson")), "\n")
		records, err := csv.NewReader(strings.NewReader(csvText)).ReadAll()
		if err != nil || len(records) != 2 || len(lines) != 1 {
			t.Fatalf("%d records, %d lines, %v", len(records), len(lines), err)
		}
		cell := map[string]string{}
		for i, name := range records[0] {
			cell[name] = records[1][i]
		}
		if cell["event_id"] != "'"+formula || cell["user_id"] != "'@SUM(1+1)" {
			t.Errorf("cells that compute: %q, %q", cell["event_id"], cell["user_id"])
		}
		var one map[string]any
		if err := json.Unmarshal([]byte(lines[0]), &one); err != nil || one["event_id"] != formula {
			t.Errorf("%v: %q", err, lines[0])
		}
		if plain := one["recipient"] == "+14155550142"; plain != (key == "operator") {
			t.Errorf("%s gets the recipient %v", key, one["recipient"])
		}
	}
}

// downloaded is the text of the file that the browser has put into a folder.
func downloaded(t *testing.T, folder, pattern string) (text string) {
	t.Helper()
	until(t, "a file "+pattern, func() bool {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil || len(found) != 1 {
			return false
		}
		b, err := os.ReadFile(found[0])
		text = string(b)
		return err == nil && text != "" // it has its name when it is whole
	})
	return text
}
