package crash

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
)

// F21: files with recipients and messages in them that every user of the machine can read, as SQLite makes them.
func TestFiles_F21_OnlyTheOwnerReadsThem(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true})
	for _, suffix := range []string{"", ".lock"} { // init runs once more, as a shell with an ordinary umask would
		if err := os.Remove(p.database + suffix); err != nil {
			t.Fatal(err)
		}
	}
	umask := []string{"sh", "-c", `umask 022; exec "$0" "$@"`}
	modes := func(when string) {
		t.Helper()
		files, err := filepath.Glob(p.database + "*")
		if err != nil || len(files) < 2 {
			t.Fatalf("%s: files %v, %v", when, files, err)
		}
		for _, file := range files {
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %s has mode %v (%v)", when, filepath.Base(file), info.Mode(), err)
			}
		}
	}
	if out, err := exec.Command(umask[0], umask[1], umask[2], program(t), "init", "--config", p.config).CombinedOutput(); err != nil {
		t.Fatalf("init: %v\n%s", err, out)
	}
	modes("after init")
	s, found := p.launch(umask)
	s.await(found)
	p.send(s, "evt-1", "tok_1")
	modes("while it runs")
	if s.log.has("chmod 600") {
		t.Error("a warning about modes that are right")
	}
	s.kill()
	modes("after a kill")

	if err := os.Chmod(p.database, 0o644); err != nil {
		t.Fatal(err)
	}
	s, found = p.launch(umask)
	s.await(found)
	if !s.log.has("chmod 600") {
		t.Error("no warning about a file that everybody can read")
	}
	s.stop(patience)
}

// F17: a server in Kolkata. Times as text with a zone name or Go's monotonic tail would meet no comparison; all are
// milliseconds in the file and UTC in answers, and waiting rows are found again.
func TestFiles_F17_AServerInAnotherZone(t *testing.T) {
	t.Parallel()
	if _, err := time.LoadLocation("Asia/Kolkata"); err != nil {
		t.Skipf("NOT TESTED: this machine does not know the zone: %v", err)
	}
	ctx := context.Background()
	zone := "TZ=Asia/Kolkata"
	p := newPlace(t, fake.Options{WellBehaved: true}, oneProvider)
	p.fake.Script("tok_lost", fake.AcceptReset)
	s := p.start(zone)
	if a := p.send(s, "evt-1", "tok_1"); a.State != "sent" {
		t.Errorf("the first is %s", a.State)
	}
	lost := p.send(s, "evt-lost", "tok_lost")
	at := time.Now().Add(1500 * time.Millisecond).In(time.FixedZone("", 19800)).Format("2006-01-02T15:04:05.000000Z07:00")
	body := strings.Replace(string(smsBody("evt-later", "+15550100001", "tok_later")), `{`, `{"send_at":"`+at+`","occurred_at":"2026-11-30T05:43:58.26+05:30",`, 1)
	waits, err := s.api.post(ctx, []byte(body), 0)
	if err != nil || waits.Status != 202 {
		t.Fatalf("status %d %s: %v", waits.Status, waits.Code, err)
	}
	var answer map[string]any
	if _, err := s.api.do(ctx, "GET", "/v1/notifications/"+waits.ID, nil, &answer); err != nil {
		t.Fatal(err)
	}
	for name, value := range answer {
		if text, ok := value.(string); ok && strings.HasSuffix(name, "_at") && !regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`).MatchString(text) {
			t.Errorf("%s is %s", name, text)
		}
	}
	if answer["occurred_at"] != "2026-11-30T00:13:58.260Z" {
		t.Errorf("occurred_at is %v", answer["occurred_at"])
	}
	var settled row
	if status, err := s.api.do(ctx, "POST", "/v1/notifications/"+lost.ID+"/abandon", []byte(`{"reason":"too late"}`), &settled); err != nil || status != 200 || settled.State != "failed" {
		t.Errorf("abandon: %d %s: %v", status, settled.State, err)
	}
	s.kill()
	s = p.start(zone) // and the row that waits is found by its time
	eventually(t, "it is sent when it is due", func() bool { return s.api.none(ctx, "claimed", "sending") })
	p.received("tok_later", 1)
	s.stop(patience)
	s = p.start("TZ=America/Los_Angeles") // a move of the server changes nothing either
	if a, err := s.api.post(ctx, []byte(body), 0); err != nil || a.Status != 200 || a.State != "sent" {
		t.Errorf("in another zone: status %d, %s: %v", a.Status, a.State, err)
	}
	s.kill()
	for _, suffix := range []string{"", "-wal"} {
		raw, err := os.ReadFile(p.database + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(`m=[+-]\d|\bIST\b|\+0530|\+05:30|\+0000 UTC|Kolkata|\bPST\b|\bPDT\b|20\d\d-\d\d-\d\d[T ]\d\d:`).Find(raw); found != nil {
			t.Errorf("sendonce.db%s has %q", suffix, found)
		}
	}
	p.check()
}
