package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
)

const longLog = 64 << 20 // bytes, to which the log is cut

// logged is how many bytes the log has.
func (p *place) logged() int64 {
	info, err := os.Stat(p.database + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// large is an event with a long message that is due in an hour.
func large(id, hook string) json.RawMessage {
	return must(json.Marshal(map[string]any{
		"event_id": id, "channel": "webhook", "recipient": hook + "crm", "send_at": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
		"message": map[string]any{"data": strings.Repeat("m", 200<<10)},
	}))
}

// Keeps out a reader in another program, open for long, that stops the service, or whose log stays. It takes half a minute, so it runs
// with more than the usual cycles.
func TestShell_ReadsForLong(t *testing.T) {
	if *cycles <= 20 {
		t.Skip("runs with make crash")
	}
	needs(t, "sqlite3")
	t.Parallel()
	ctx := context.Background()
	p := newPlace(t, fake.Options{WellBehaved: true})
	s := p.start()
	p.send(s, "evt-first", "tok_first")
	leave := p.shell("BEGIN; SELECT count(*) FROM notifications;")

	slowest := time.Duration(0)
	for n := 0; p.logged() < 3*longLog; n++ {
		bodies := make([]json.RawMessage, 15)
		for i := range bodies {
			bodies[i] = large(fmt.Sprint("evt-", n, "-", i), p.hook)
		}
		answers, status, err := s.api.batch(ctx, bodies)
		if err != nil || status != 200 || answers[0].Status != 202 {
			t.Fatalf("status %d: %v", status, err)
		}
		if n > 500 {
			t.Fatalf("the log has %d bytes only: the reader is not in the way", p.logged())
		}
		began := time.Now()
		p.send(s, fmt.Sprint("evt-short-", n), fmt.Sprint("tok_short_", n))
		slowest = max(slowest, time.Since(began))
	}
	most := p.logged()
	eventually(t, "the log's length is told", func() bool { return s.log.has("the log is long") })
	leave()
	for n := 0; p.logged() > longLog; n++ {
		began := time.Now()
		p.send(s, fmt.Sprint("evt-behind-", n), fmt.Sprint("tok_behind_", n))
		slowest = max(slowest, time.Since(began))
		if n > 100_000 {
			t.Fatalf("the log still has %d bytes", p.logged())
		}
	}
	t.Logf("%d MB of log under a reader, %d MB behind it; the slowest send took %v", most>>20, p.logged()>>20, slowest.Round(time.Millisecond))
	if slowest > 10*time.Second {
		t.Errorf("a send waited %v", slowest)
	}
	s.kill()
	p.check()
}
