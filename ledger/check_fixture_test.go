package ledger_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
	"sendonce/store"
)

// scripted is a provider whose answers stand in the message: one word for each attempt, the last for all that follow.
type scripted struct{ window time.Duration }

type words struct {
	text   string
	number int
}

func (w words) Body() []byte { return []byte(w.text) }

func (p scripted) Account() [8]byte            { return [8]byte{1} }
func (p scripted) RepeatWindow() time.Duration { return p.window }

func (p scripted) Build(o ledger.Order) (ledger.Request, error) {
	m, err := ledger.ParseMessage(o.Channel, o.Message)
	if err != nil {
		return nil, err
	}
	if m.Text == "unbuildable" {
		return nil, errors.New("no such thing")
	}
	return words{m.Text, o.Number}, nil
}

// repeats counts nothing: a repeat carries its first attempt's number, so the script of a repeated row has to tell them
// apart by time. It answers at the second repeat, which comes half a minute after the first.
func (p scripted) Send(ctx context.Context, r ledger.Request) ledger.Result {
	w := r.(words)
	script := strings.Split(w.text, ",")
	id := "m-" + w.text
	switch script[min(w.number, len(script))-1] {
	case "accepted":
		return ledger.Result{Outcome: ledger.Accepted, Phase: ledger.Answered, Status: 201, MessageIDs: []string{id}, Answer: []byte(`{"id":"` + id + `"}`)}
	case "parts":
		return ledger.Result{Outcome: ledger.Accepted, Phase: ledger.Answered, Status: 200, MessageIDs: []string{"part-1", "part-2"}, Answer: []byte(`["part-1","part-2"]`)}
	case "rejected":
		return ledger.Result{Outcome: ledger.Rejected, Phase: ledger.Answered, Status: 400, Code: "21211", Answer: []byte(`{}`)}
	case "deferred":
		return ledger.Result{Outcome: ledger.Deferred, Phase: ledger.Answered, Status: 400, Answer: []byte(`{}`)}
	case "silent":
		<-ctx.Done()
	}
	return ledger.Result{Outcome: ledger.Ambiguous, Reason: ledger.ReasonNoAnswer, Phase: ledger.Written}
}

// bench is a ledger in a bubble of its own time.
type bench struct {
	t     *testing.T
	l     *ledger.Ledger
	store *store.Store
}

// inLedger runs do with a new ledger at path that runs meanwhile, and leaves the file behind.
func inLedger(t *testing.T, path string, do func(b *bench)) {
	t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		o := store.Options{Path: path, Schema: string(schema), Log: slog.New(slog.DiscardHandler)}
		if err := store.Create(o); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		channel := ledger.ChannelSettings{Providers: []string{"main"}, Timeout: 10 * time.Second, Retry: []time.Duration{time.Minute, time.Minute},
			OnAmbiguous: ledger.OnAmbiguousAsk, ExpiresAfter: 72 * time.Hour}
		l := ledger.New(s, []ledger.ProviderSettings{
			{Name: "main", Type: "scripted", Channels: []ledger.Channel{ledger.SMS}, Provider: scripted{}, Workers: 4},
			{Name: "keyed", Type: "scripted", Channels: []ledger.Channel{ledger.SMS}, Provider: scripted{window: 24 * time.Hour}, Workers: 4},
		}, ledger.Settings{
			Channels: map[ledger.Channel]ledger.ChannelSettings{ledger.SMS: channel},
			Policies: []ledger.PolicySettings{{EventType: "again.*", OnAmbiguous: ledger.OnAmbiguousSendAgain, After: time.Minute},
				{EventType: "assume.*", OnAmbiguous: ledger.OnAmbiguousAssumeSent, After: time.Minute}},
			Recipes: []ledger.Recipe{ledger.RecipeEvent(), ledger.RecipeTypeUserEvent()},
			Drain:   time.Minute,
		}, slog.New(slog.DiscardHandler))
		if _, err := l.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Run(ctx) }()
		do(&bench{t: t, l: l, store: s})
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
	})
}

// pass lets time pass, until nothing moves any more.
func (b *bench) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// claim claims an event whose id is name, and lets its first attempt end.
func (b *bench) claim(name, script string, change ...func(*ledger.Event)) ledger.Notification {
	b.t.Helper()
	e := ledger.Event{EventID: name, Source: "shop", EventType: "order.shipped", UserID: "u_17", Channel: ledger.SMS,
		Recipient: "+1 415 555 0142", Message: []byte(`{"text":"` + script + `"}`)}
	for _, c := range change {
		c(&e)
	}
	r, err := b.l.Claim(b.t.Context(), e)
	if err != nil {
		b.t.Fatal(err)
	}
	b.pass(time.Second)
	return b.row(r.Notification)
}

// row reads a row anew.
func (b *bench) row(n ledger.Notification) ledger.Notification {
	b.t.Helper()
	r, err := b.l.Get(b.t.Context(), n.ID, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return r.Notification
}

// settle does what a person decided.
func (b *bench) settle(n ledger.Notification, action ledger.Cause, messageID string) ledger.Notification {
	b.t.Helper()
	n, err := b.l.Settle(b.t.Context(), ledger.Act{Action: action, ID: n.ID, Reason: "a test", Actor: "ops", MessageID: messageID, IfMatch: b.row(n).Version})
	if err != nil {
		b.t.Fatalf("%s %s: %v", action, n.EventID, err)
	}
	b.pass(time.Second)
	return b.row(n)
}

// report posts a delivery report about an attempt.
func (b *bench) report(n ledger.Notification, number int, messageID string, d ledger.Delivery) {
	b.t.Helper()
	r := ledger.Receipt{Provider: n.Provider, EventKey: n.EventID + "/" + messageID + string(d), ID: n.ID, Number: number, MessageID: messageID, Kind: "report", Delivery: d}
	if _, err := b.l.Prove(b.t.Context(), r); err != nil {
		b.t.Fatal(err)
	}
	b.pass(time.Second)
}

func pinned(provider string) func(*ledger.Event) {
	return func(e *ledger.Event) { e.Provider = provider }
}

func ofType(s string) func(*ledger.Event) { return func(e *ledger.Event) { e.EventType = s } }

func sentAfter(d time.Duration) func(*ledger.Event) {
	return func(e *ledger.Event) { e.SendAt, e.ExpiresAt = time.Now().Add(d), time.Now().Add(2*d) }
}

// everyKind fills a ledger with a row of each kind; the event ids say which.
func everyKind(b *bench) {
	t := b.t
	b.claim("sent", "accepted")
	b.claim("parts", "parts")
	twice := b.claim("twice", "silent,accepted")
	b.pass(time.Minute)
	b.settle(twice, ledger.CauseRelease, "")
	b.report(b.claim("delivered", "accepted,delivered"), 1, "m-accepted,delivered", ledger.Delivered)
	b.claim("rejected", "rejected")
	b.claim("exhausted", "deferred")
	b.pass(10 * time.Minute)
	b.claim("ambiguous", "ambiguous")
	b.report(b.claim("proven", "ambiguous"), 1, "m-proven", ledger.Undelivered)
	b.settle(b.claim("confirmed", "ambiguous"), ledger.CauseConfirm, "m-brought")
	b.settle(b.claim("abandoned", "ambiguous"), ledger.CauseAbandon, "")
	b.claim("unbuildable", "unbuildable")
	second := b.settle(b.claim("second", "ambiguous,accepted"), ledger.CauseRelease, "")
	b.report(second, 1, "m-first", ledger.Delivered)
	early := b.claim("early", "silent") // its report comes before its attempt has ended
	b.report(early, 1, "m-early", ledger.Delivered)
	b.pass(time.Minute)
	b.claim("again", "ambiguous,deferred,accepted", ofType("again.login"))
	b.claim("assumed", "ambiguous", ofType("assume.sent"))
	b.claim("repeated", "ambiguous", pinned("keyed"))
	b.pass(10 * time.Minute)
	parent := b.claim("parent", "accepted,parent")
	for range 2 {
		if _, err := b.l.Resend(t.Context(), ledger.Act{ID: parent.ID, Reason: "a test", Actor: "ops", IfMatch: b.row(parent).Version}, false); err != nil {
			t.Fatal(err)
		}
		b.pass(time.Second)
	}
	b.settle(b.claim("cancelled", "accepted", sentAfter(time.Hour)), ledger.CauseCancel, "")
	b.settle(b.claim("expired", "accepted", sentAfter(time.Minute)), ledger.CauseHold, "")
	b.claim("unknown", "ambiguous", sentAfter(time.Minute))
	b.pass(time.Hour)
	b.settle(b.settle(b.claim("unheld", "accepted", sentAfter(time.Hour)), ledger.CauseHold, ""), ledger.CauseUnhold, "")
	b.settle(b.claim("held", "accepted", sentAfter(24*time.Hour)), ledger.CauseHold, "")
	b.claim("given", "accepted,given", func(e *ledger.Event) { e.DedupeKey = "order-17" })
	b.claim("claimed", "accepted", sentAfter(24*time.Hour))
	b.claim("deferred", "deferred")
	b.claim("sending", "silent")

	want := map[string]ledger.State{"sent": "sent", "parts": "sent", "twice": "sent", "delivered": "sent", "rejected": "failed", "exhausted": "failed",
		"ambiguous": "ambiguous", "proven": "sent", "confirmed": "sent", "abandoned": "failed", "unbuildable": "failed", "second": "sent", "early": "sent",
		"again": "sent", "assumed": "sent", "repeated": "ambiguous", "parent": "sent", "cancelled": "cancelled", "expired": "expired", "unknown": "failed",
		"unheld": "claimed", "held": "held", "given": "sent", "claimed": "claimed", "deferred": "claimed", "sending": "sending"}
	page, err := b.l.List(t.Context(), ledger.Filter{Limit: ledger.MaxList})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range page.Rows {
		if n.State != want[n.EventID] {
			t.Errorf("%s is %s (%s), want %s", n.EventID, n.State, n.Reason, want[n.EventID])
		}
	}
	if len(page.Rows) != len(want)+2 {
		t.Errorf("%d rows, want %d and two resends", len(page.Rows), len(want))
	}
}

// differences checks a ledger beside whoever has it open.
func differences(t *testing.T, path string) (found []ledger.Difference, rows int64) {
	t.Helper()
	s, err := store.OpenReadOnly(store.Options{Path: path, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
	}()
	rows, err = ledger.Check(t.Context(), s, func(d ledger.Difference) { found = append(found, d) })
	if err != nil {
		t.Fatal(err)
	}
	return found, rows
}

// copyFile copies a ledger that nobody has open.
func copyFile(t *testing.T, from string) string {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "sendonce.db")
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}
