package console

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"sendonce/ledger"
)

// ill is a ledger in a condition of the test's, whose counts can't be read where unread says so.
type ill struct {
	*ledger.Ledger
	now    atomic.Pointer[ledger.Condition]
	unread error
}

func (l *ill) Condition() ledger.Condition { return *l.now.Load() }

func (l *ill) Stats(ctx context.Context) (ledger.Stats, error) {
	if l.unread != nil {
		return ledger.Stats{}, l.unread
	}
	return l.Ledger.Stats(ctx)
}

// illness puts a ledger in the place of a console's own.
func illness(c *Console, l *ledger.Ledger, now ledger.Condition) *ill {
	sick := &ill{Ledger: l}
	sick.now.Store(&now)
	c.ledger = sick
	return sick
}

// Whatever keeps the service from its work stands on every page, in words: an operator who sees yesterday's figures would wait in vain.
func TestTrouble_StandsOnEveryPage(t *testing.T) {
	r := newRig(t)
	n := r.claim(ledger.Event{Channel: ledger.SMS, Recipient: "+14155550142"})
	operator := r.as("operator")
	pages := []string{"/", "/notifications", "/notifications/" + n.ID.String(), "/waiting", "/providers", "/mailbox", "/notifications?stat=sent"}
	for _, tc := range []struct {
		name string
		now  ledger.Condition
		want string
	}{
		{"none", ledger.Condition{}, ""},
		{"stopping", ledger.Condition{Err: ledger.ErrDraining}, "The service is stopping"},
		{"disk nearly full", ledger.Condition{Err: fmt.Errorf("%w: 3 bytes", ledger.ErrStorageLow)}, "too little free space"},
		{"nobody knows", ledger.Condition{Err: ledger.ErrUnknown}, "could not be written"},
		{"damaged", ledger.Condition{Err: ledger.ErrUnavailable}, "be written"},
		{"old copy", ledger.Condition{Restored: true}, "restore --accept"},
		{"old copy on a full disk", ledger.Condition{Err: ledger.ErrStorageLow, Restored: true}, "too little free space"},
	} {
		illness(r.console, r.ledger, tc.now)
		for _, path := range pages {
			page := operator.get(path).Body.String()
			_, rest, found := strings.Cut(page, `<div id="trouble">`)
			said, _, _ := strings.Cut(rest, "</div>")
			if !found || !strings.Contains(said, tc.want) || (said == "") != (tc.want == "") {
				t.Errorf("%s: %s says %q", tc.name, path, said)
			}
		}
	}
	if stranger := r.as("").get("/login").Body.String(); strings.Contains(stranger, "free space") {
		t.Error("a stranger is told of the disk")
	}
}

// What each visit meets is logged now and then: the lines about a disk that fails must not fill it.
func TestTrouble_LoggedNowAndThen(t *testing.T) {
	r := newRig(t)
	illness(r.console, r.ledger, ledger.Condition{}).unread = errors.New("the disk reads nothing")
	v := r.as("operator")
	const visits = 60
	for range visits {
		if w := v.get("/"); w.Code != http.StatusInternalServerError {
			t.Fatal(w.Code)
		}
	}
	if n := strings.Count(r.log.text(), "console page failed"); n < 1 || n > visits/2 {
		t.Errorf("%d lines about %d visits", n, visits)
	}
}

// Who leaves, or lets his time go by, is no fault: there is nobody to show a refusal to, and nothing to log.
func TestGone_ReadersWhoLeft(t *testing.T) {
	for _, err := range []error{syscall.EPIPE, syscall.ECONNRESET, os.ErrDeadlineExceeded, net.ErrClosed} {
		if got := gone(fmt.Errorf("write: %w", err)); got != nil {
			t.Errorf("%v", got)
		}
	}
	if gone(http.ErrContentLength) == nil {
		t.Error("a page of another length than it said is nobody's leaving")
	}
}

// A stream that can't look is refused: one that opened and ended again and again would leave its page silent.
func TestStream_RefusedWhereItCannotLook(t *testing.T) {
	r := newRig(t)
	illness(r.console, r.ledger, ledger.Condition{}).unread = errors.New("the disk reads nothing")
	if res := r.as("operator").get("/live/overview?mark=x"); res.Code != http.StatusInternalServerError {
		t.Errorf("%d", res.Code)
	}
}

// No commit tells that the disk is full, or that it no longer is; the page that waits is told by the next beat.
func TestStream_TellsOfTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := ledger.New(nil, nil, ledger.Settings{}, slog.New(slog.DiscardHandler))
		c := New(l, Settings{}, slog.New(slog.DiscardHandler))
		sick := illness(c, l, ledger.Condition{})
		ctx, leave := context.WithCancel(t.Context())
		req := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+Path+"/live/providers?mark="+c.providersMark(), nil)
		out := &pipe{lines: make(chan string, 16)}
		over := make(chan struct{})
		go func() {
			defer close(over)
			c.ServeHTTP(out, req)
		}()
		if first := <-out.lines; !strings.HasPrefix(first, "retry:") {
			t.Fatalf("it begins with %q", first)
		}
		for _, now := range []ledger.Condition{{Err: ledger.ErrStorageLow}, {}} {
			sick.now.Store(&now)
			if told := out.until("event:"); !strings.Contains(told, "data: "+c.providersMark()) {
				t.Errorf("of %v it tells %q", now, told)
			}
		}
		for range 3 {
			if beat := <-out.lines; !strings.HasPrefix(beat, ":") {
				t.Errorf("nothing has happened, and it tells %q", beat)
			}
		}
		leave()
		<-over
	})
}

// pipe is a writer of answers that passes on each write.
type pipe struct {
	lines  chan string
	header http.Header
}

// until skips the signs of life before what begins with start.
func (p *pipe) until(start string) string {
	for {
		if line := <-p.lines; strings.HasPrefix(line, start) || !strings.HasPrefix(line, ":") {
			return line
		}
	}
}

func (p *pipe) Header() http.Header {
	if p.header == nil {
		p.header = http.Header{}
	}
	return p.header
}

func (p *pipe) WriteHeader(int) {}

func (p *pipe) Flush() {}

func (p *pipe) Write(b []byte) (int, error) {
	p.lines <- string(b)
	return len(b), nil
}
