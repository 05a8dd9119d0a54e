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

// scriptedProvider is a provider whose answers stand in the message: one word for each attempt, the last for all that follow.
type scriptedProvider struct{ window time.Duration }

type scriptedRequest struct {
	text   string
	number int
}

func (w scriptedRequest) Body() []byte { return []byte(w.text) }

func (p scriptedProvider) Account() [8]byte            { return [8]byte{1} }
func (p scriptedProvider) RepeatWindow() time.Duration { return p.window }

func (p scriptedProvider) Build(o ledger.Order) (ledger.Request, error) {
	m, err := ledger.ParseMessage(o.Channel, o.Message)
	if err != nil {
		return nil, err
	}
	if m.Text == "unbuildable" {
		return nil, errors.New("no such thing")
	}
	number := o.Number
	if o.Kind == ledger.KindRepeat { // it carries its first attempt's number
		number++
	}
	return scriptedRequest{m.Text, number}, nil
}

func (p scriptedProvider) Send(ctx context.Context, r ledger.Request) ledger.Result {
	w := r.(scriptedRequest)
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

// checkBench is a ledger in a bubble of its own time.
type checkBench struct {
	t     *testing.T
	l     *ledger.Ledger
	store *store.Store
}

// inLedger runs do with a new ledger at path that runs meanwhile, and leaves the file behind.
func inLedger(t *testing.T, path string, do func(b *checkBench)) {
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
			{Name: "main", Type: "scripted", Channels: []ledger.Channel{ledger.SMS}, Provider: scriptedProvider{}, Workers: 4},
			{Name: "keyed", Type: "scripted", Channels: []ledger.Channel{ledger.SMS}, Provider: scriptedProvider{window: 24 * time.Hour}, Workers: 4},
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
		do(&checkBench{t: t, l: l, store: s})
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
func (b *checkBench) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// claim claims an event whose id is name, and lets its first attempt end.
func (b *checkBench) claim(name, script string, change ...func(*ledger.Event)) ledger.Notification {
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
func (b *checkBench) row(n ledger.Notification) ledger.Notification {
	b.t.Helper()
	r, err := b.l.Get(b.t.Context(), n.ID, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return r.Notification
}

// settle does what a person decided.
func (b *checkBench) settle(n ledger.Notification, action ledger.Cause, messageID string) ledger.Notification {
	b.t.Helper()
	n, err := b.l.Settle(b.t.Context(), ledger.Act{Action: action, ID: n.ID, Reason: "a test", Actor: "ops", MessageID: messageID, IfMatch: b.row(n).Version})
	if err != nil {
		b.t.Fatalf("%s %s: %v", action, n.EventID, err)
	}
	b.pass(time.Second)
	return b.row(n)
}

// erase erases rows that have just ended.
func (b *checkBench) erase(rows ...ledger.Notification) {
	b.t.Helper()
	var list []ledger.Family
	for _, n := range rows {
		list = append(list, ledger.Family{n.Seq})
	}
	if erased, err := b.store.Erase(list, time.Now(), time.Now()); err != nil || len(erased) != len(rows) {
		b.t.Fatal(erased, err)
	}
}

// report posts a delivery report about an attempt.
func (b *checkBench) report(n ledger.Notification, number int, messageID string, d ledger.Delivery) {
	b.t.Helper()
	r := ledger.Receipt{Provider: n.Provider, EventKey: n.EventID + "/" + messageID + string(d), ID: n.ID, Number: number, MessageID: messageID, Kind: "report", Delivery: d}
	if _, err := b.l.Prove(b.t.Context(), r); err != nil {
		b.t.Fatal(err)
	}
	b.pass(time.Second)
}

func withProvider(provider string) func(*ledger.Event) {
	return func(e *ledger.Event) { e.Provider = provider }
}

func withType(s string) func(*ledger.Event) { return func(e *ledger.Event) { e.EventType = s } }

func withSendAfter(d time.Duration) func(*ledger.Event) {
	return func(e *ledger.Event) { e.SendAt, e.ExpiresAt = time.Now().Add(d), time.Now().Add(2*d) }
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

// copyFile copies a ledger that nobody has open, without its lock file.
func copyFile(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "sendonce.db")
	copyTo(t, from, to)
	return to
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
