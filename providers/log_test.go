package providers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

func newLog(t *testing.T, s LogSettings) (*Log, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	s.Out = &out
	return build(t, &s, Common{}).(*Log), &out
}

func logOrder(n int, message string) ledger.Order {
	return ledger.Order{ID: fmt.Sprintf("id%d", n), Number: 1, Channel: ledger.Email, Recipient: "ada@example.test", Message: []byte(message), At: testTime}
}

func logSend(t *testing.T, ctx context.Context, l *Log, o ledger.Order) ledger.Result {
	t.Helper()
	r, err := l.Build(o)
	if err != nil {
		t.Fatal(err)
	}
	result := l.Send(ctx, r)
	if (result.Outcome == ledger.Ambiguous) != (result.Reason != "") || strings.Contains(shownBy(result), "ada@") {
		t.Errorf("%+v", result)
	}
	return result
}

func TestLog_PrintsReadably(t *testing.T) {
	l, out := newLog(t, LogSettings{Share: 1})
	r := logSend(t, t.Context(), l, logOrder(1, `{"text":"Hello,\nAda\u001b[2J\u202e!","subject":"Hi","headers":{"A":"b"}}`))
	want := "[test] email to ada@example.test (log_id1-1)\n    headers: {\"A\":\"b\"}\n    subject: Hi\n    text: Hello,\n        Ada [2J !\n"
	if out.String() != want {
		t.Errorf("printed %q\nwant    %q", out.String(), want)
	}
	if r.Outcome != ledger.Accepted || len(r.MessageIDs) != 1 || r.MessageIDs[0] != "log_id1-1" || r.Phase != ledger.Answered {
		t.Errorf("%+v", r)
	}
	if _, err := l.Build(logOrder(1, `{`)); !errors.Is(err, errMessage) {
		t.Errorf("built from half a message: %v", err)
	}
}

func TestLog_KeepsTheLastMessages(t *testing.T) {
	l, _ := newLog(t, LogSettings{Share: 1})
	var all sync.WaitGroup
	for n := range MaxLogMessages / 2 {
		all.Go(func() { logSend(t, t.Context(), l, logOrder(n, `{"text":"x"}`)) })
	}
	all.Wait()
	for n := range MaxLogMessages {
		logSend(t, t.Context(), l, logOrder(1000+n, `{"text":"x"}`))
	}
	got := l.Printed()
	if len(got) != MaxLogMessages || got[0].MessageID != "log_id1000-1" || got[MaxLogMessages-1].MessageID != "log_id1199-1" {
		t.Errorf("%d messages, from %s to %s", len(got), got[0].MessageID, got[len(got)-1].MessageID)
	}
	if m := got[199]; m.Notification != "id1199" || m.Attempt != 1 || m.Recipient != "ada@example.test" || m.Channel != ledger.Email || string(m.Message) != `{"text":"x"}` || !m.At.Equal(testTime) {
		t.Errorf("%+v", m)
	}
}

// Long messages do not fill the memory.
func TestLog_KeepsSoManyBytes(t *testing.T) {
	l, _ := newLog(t, LogSettings{Share: 1})
	long := `{"text":"` + strings.Repeat("x", 200<<10) + `"}`
	for n := range 50 {
		logSend(t, t.Context(), l, logOrder(n, long))
	}
	got, bytes := l.Printed(), 0
	for _, m := range got {
		bytes += len(m.Message)
	}
	if bytes > maxLogBytes || len(got) < 15 || got[len(got)-1].MessageID != "log_id49-1" {
		t.Errorf("%d messages of %d bytes are kept, the last is %s", len(got), bytes, got[len(got)-1].MessageID)
	}
}

func TestLog_Misbehaves(t *testing.T) {
	refusing, out := newLog(t, LogSettings{Refuse: true, Share: 1})
	if r := logSend(t, t.Context(), refusing, logOrder(1, `{"text":"x"}`)); r.Outcome != ledger.Rejected || r.Code != "refused" || out.Len() != 0 || len(refusing.Printed()) != 0 {
		t.Errorf("%+v, printed %q", r, out)
	}
	dropping, out := newLog(t, LogSettings{DropAnswer: true, Share: 1})
	if r := logSend(t, t.Context(), dropping, logOrder(1, `{"text":"x"}`)); r.Outcome != ledger.Ambiguous || r.Reason != ledger.ReasonNoAnswer || out.Len() == 0 || len(r.MessageIDs) != 0 {
		t.Errorf("%+v, printed %q", r, out)
	}
	some, _ := newLog(t, LogSettings{Refuse: true, Share: 0.3})
	refused := 0
	for n := range 1000 {
		first := logSend(t, t.Context(), some, logOrder(n, `{"text":"x"}`)).Outcome
		if again := logSend(t, t.Context(), some, logOrder(n, `{"text":"x"}`)).Outcome; again != first {
			t.Fatalf("attempt %d met %s, then %s", n, first, again)
		}
		if first == ledger.Rejected {
			refused++
		}
	}
	if refused < 250 || refused > 350 {
		t.Errorf("%d of 1000 refused, want about 300", refused)
	}
}

func TestLog_DelayIsBetweenMessageAndAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, out := newLog(t, LogSettings{Delay: 3 * time.Second, Share: 1})
		began := time.Now()
		if r := logSend(t, t.Context(), l, logOrder(1, `{"text":"x"}`)); r.Outcome != ledger.Accepted || time.Since(began) != 3*time.Second {
			t.Errorf("%+v after %v", r, time.Since(began))
		}
		out.Reset()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if r := logSend(t, ctx, l, logOrder(2, `{"text":"x"}`)); r.Outcome != ledger.Ambiguous || r.Error != "no answer: time-out" || out.Len() == 0 {
			t.Errorf("%+v, printed %q", r, out)
		}
	})
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestLog_BrokenOutputIsNoProof(t *testing.T) {
	s := &LogSettings{Share: 1, Out: brokenWriter{}}
	l := build(t, s, Common{}).(*Log)
	if r := logSend(t, t.Context(), l, logOrder(1, `{"text":"x"}`)); r.Outcome != ledger.Ambiguous || len(l.Printed()) != 0 {
		t.Errorf("%+v", r)
	}
}
