package cli

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"

	"sendonce/api"
	"sendonce/ledger"
)

// calm is a ledger in which everything works; what it does not answer is called by no command.
type calm struct{ api.Ledger }

var calmRow = ledger.Notification{
	ID: uuid.MustParse(id), State: ledger.StateSent, EventID: "evt_1", Channel: ledger.SMS, Version: 3,
	ClaimedAt: time.Unix(1e9, 0), UpdatedAt: time.Unix(1e9, 0), Message: []byte(`{"text":"t"}`),
}

func (calm) Known(ledger.EventHash, string) (ledger.ClaimResult, bool) {
	return ledger.ClaimResult{}, false
}
func (calm) Claim(context.Context, ledger.Event) (ledger.ClaimResult, error) {
	return ledger.ClaimResult{Notification: calmRow}, nil
}
func (calm) Wait(_ context.Context, n ledger.Notification, _ time.Duration, _ <-chan struct{}) ledger.Notification {
	return n
}
func (calm) Get(context.Context, uuid.UUID, *string) (ledger.Record, error) {
	return ledger.Record{Notification: calmRow, Attempts: []ledger.Attempt{{Number: 1, StartedAt: time.Unix(1e9, 0)}}}, nil
}
func (calm) List(context.Context, ledger.Filter) (ledger.Page, error) {
	return ledger.Page{Rows: []ledger.Notification{calmRow}}, nil
}
func (calm) Settle(context.Context, ledger.Act) (ledger.Notification, error) { return calmRow, nil }
func (calm) SettleMany(context.Context, ledger.Bulk) (ledger.BulkResult, error) {
	return ledger.BulkResult{Matched: 1}, nil
}
func (calm) Resend(context.Context, ledger.Act, bool) (ledger.Notification, error) {
	return calmRow, nil
}
func (calm) Providers() []ledger.ProviderStatus { return []ledger.ProviderStatus{{Name: "p"}} }
func (calm) Pause(context.Context, string, string, string) (ledger.ProviderStatus, error) {
	return ledger.ProviderStatus{Name: "p"}, nil
}
func (calm) Resume(context.Context, string, string) (ledger.ProviderStatus, error) {
	return ledger.ProviderStatus{Name: "p"}, nil
}
func (calm) Keys(context.Context, ledger.Event) ([]ledger.KeyPreview, error) {
	return []ledger.KeyPreview{{Recipe: "event", DedupeKey: "k"}}, nil
}
func (calm) Stats(context.Context) (ledger.Stats, error) { return ledger.Stats{Notifications: 1}, nil }

// The real door takes what the commands send, as strict as it is: a field, a parameter or a path that only one
// side knows would be refused.
func TestContract_TheServiceTakesEveryCommand(t *testing.T) {
	s := httptest.NewServer(api.New(calm{}, api.Settings{}, slog.New(slog.DiscardHandler)).Handler())
	defer s.Close()
	event := []string{"--event-id", "evt_1", "--channel", "sms", "--recipient", "+14155550142", "--event-type", "a", "--user-id", "u", "--source", "s"}
	filter := []string{"--event-id", "e", "--recipient", "+14155550142", "--message-id", "m", "--dedupe-key", "k", "--state", "ambiguous,failed", "--channel", "sms",
		"--provider", "p", "--event-type", "t", "--source", "", "--user-id", "u", "--delivery", "delivered", "--claimed-after", "48h", "--claimed-before", "1h"}
	for _, args := range [][]string{
		append([]string{"send", "--text", "t", "--provider", "p", "--lane", "urgent", "--send-at", "1h", "--expires-at", "2h",
			"--occurred-at", "2026-11-30T09:00:00Z", "--dedupe-key", "k", "--metadata", "{}", "--wait", "1s"}, event...),
		{"get", id},
		append([]string{"list", "--sort", "oldest", "--limit", "500"}, filter...),
		append([]string{"key"}, event...),
		{"confirm", id, "--reason", "r", "--by", "Ada", "--message-id", "m", "--if-match", "3"},
		{"release", id, "--reason", "r", "--expires-at", "2126-11-30T09:00:00Z"},
		{"abandon", id, "--reason", "r"},
		{"hold", id, "--reason", "r"},
		{"unhold", id, "--reason", "r"},
		{"cancel", id, "--reason", "r"},
		{"resend", id, "--reason", "r", "--by", "Ada", "--if-match", "3", "--accept-duplicate"},
		append([]string{"settle", "--action", "confirm", "--reason", "r", "--by", "Ada", "--expected-count", "1"}, filter...),
		append([]string{"settle", "--action", "confirm", "--reason", "r", "--dry-run"}, filter...),
		{"providers"},
		{"providers", "pause", "p", "--reason", "r"},
		{"providers", "resume", "p"},
		{"stats"},
	} {
		if r := runWith(t, []string{"SENDONCE_URL=" + s.URL}, Service{}, "", args...); r.code != ExitDone || r.out == "" {
			t.Errorf("%q: exit %d\n%s%s", args, r.code, r.out, r.err)
		}
	}
}
