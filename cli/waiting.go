package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"sendonce/api"
)

// maxHistories bounds how many rows one command reads one by one: a list tells neither since when a row is unknown nor what was
// tried, and each of these takes a request.
const maxHistories = 200

// waiting is a list of ambiguous rows, for the person who has to settle them.
type waiting struct {
	read int
	now  time.Time
}

// showWaiting shows a page of ambiguous rows: how long each has been unknown, what was tried, and what comes next. Beyond
// maxHistories the first two are left out.
func (a *app) showWaiting(ctx context.Context, w *waiting, page *api.List, head bool) error {
	if len(page.Notifications) == 0 {
		return nil
	}
	t := a.table("ID", "UNKNOWN", "REASON", "TRIED", "NEXT", "CHANNEL", "RECIPIENT", "EVENT", "PROVIDER")
	t.Spare("ID", "PROVIDER", "EVENT", "CHANNEL", "RECIPIENT", "REASON", "NEXT")
	for i := range page.Notifications {
		n := &page.Notifications[i]
		age, tried := "", ""
		if w.read < maxHistories {
			w.read++
			r, err := a.history(ctx, n.ID)
			if err != nil {
				return err
			}
			n = &r.Notification // newer than the page
			if n.State != "ambiguous" {
				t.row(n.ID, "settled", stateOf(n), "", "", n.Channel, text(n.Recipient), text(n.EventID), text(n.Provider))
				continue
			}
			age, tried = ageOf(unknownSince(r), w.now), triedOf(r)
		}
		t.row(n.ID, age, text(n.Reason), tried, nextAction(n), n.Channel, text(n.Recipient), text(n.EventID), text(n.Provider))
	}
	return a.flushPage(t, head)
}

// history reads a row with its history. One command reads many, so they are not printed as JSON.
func (a *app) history(ctx context.Context, id string) (*api.Record, error) {
	var r api.Record
	c, err := a.client()
	if err != nil {
		return nil, err
	}
	return &r, c.read(ctx, call{method: http.MethodGet, path: path("notifications", id)}, &r)
}

// unknownSince is when the last handing ended whose outcome nobody knows, or when the ledger was restored after it. Repeats and
// look-ups only ask.
func unknownSince(r *api.Record) string {
	since := r.UpdatedAt
	if len(r.Attempts) == 0 {
		since = r.ClaimedAt
	}
	for _, at := range r.Attempts {
		if at.Kind == "send" && at.EndedAt != nil {
			since = *at.EndedAt
		}
	}
	for _, s := range r.Settlements {
		if s.Action == "restored" {
			since = max(since, s.At) // both are UTC with milliseconds
		}
	}
	return since
}

// triedOf says in a few words what was done to learn what happened: "1 send, 3 repeats, last ambiguous". What a look-up showed
// comes last.
func triedOf(r *api.Record) string {
	counts, last := map[string]int64{}, ""
	for _, at := range r.Attempts {
		counts[at.Kind]++
		last = cmp.Or(text(at.Outcome), last)
		if code := text(at.Code); code != "" {
			last = text(at.Outcome) + " " + code
		}
	}
	for _, s := range r.Settlements {
		if s.Action == "look_up" {
			counts["look-up"]++
			last = cmp.Or(evidence(s.Evidence)["verdict"], last)
		}
	}
	var parts []string
	for _, kind := range []string{"send", "repeat", "look-up"} {
		if counts[kind] > 0 {
			parts = append(parts, count(counts[kind], kind))
		}
	}
	if last != "" {
		parts = append(parts, "last "+last)
	}
	return strings.Join(parts, ", ")
}

// ageOf is the time since a moment in its two largest units: "3d 4h", "12m 5s".
func ageOf(since string, now time.Time) string {
	at, err := time.Parse(time.RFC3339Nano, since)
	if err != nil {
		return ""
	}
	left := max(now.Sub(at), 0).Truncate(time.Second)
	var parts []string
	for _, u := range []struct {
		name   string
		length time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		n := left / u.length
		left -= n * u.length
		if n > 0 || len(parts) > 0 || u.name == "s" {
			parts = append(parts, fmt.Sprintf("%d%s", n, u.name))
		}
	}
	return strings.Join(slices.DeleteFunc(parts[:min(len(parts), 2)], func(s string) bool { return len(parts) > 1 && s[0] == '0' }), " ")
}
