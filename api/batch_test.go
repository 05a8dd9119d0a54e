package api

import (
	"fmt"
	"strings"
	"testing"

	"sendonce/ledger"
)

// item is one event of a batch.
func item(id string) string { return claimOf(`"event_id":"` + id + `"`) }

// batchOf joins items.
func batchOf(items ...string) string {
	return `{"notifications":[` + strings.Join(items, ",") + `]}`
}

// results reads the answer to a batch.
func results(t *testing.T, got answer) BatchAnswer {
	t.Helper()
	var b BatchAnswer
	if got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if err := decode(got.body, &b); err != nil {
		t.Fatalf("%v: %s", err, got.body)
	}
	return b
}

// An invalid item spoils no other, whatever is wrong with it, and is named from the batch's root.
func TestBatch_EachItemByItself(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{Keys: testKeys})
	bad := []struct {
		item, field string
		status      int
	}{
		{`{"event_id":"a","event_id":"b"}`, "notifications[1].event_id", 400}, {`{"Event_id":"a"}`, "notifications[3].Event_id", 400},
		{"{\"event_id\":\"a\xff\"}", "notifications[5].event_id", 400}, {`{"event_id":"\ud800"}`, "notifications[7].event_id", 400},
		{`{"event_id":"a\u0000"}`, "notifications[9].event_id", 400}, {`null`, "notifications[11]", 400}, {`[]`, "notifications[13]", 400},
		{`"x"`, "notifications[15]", 400}, {strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), "notifications[17]" + strings.Repeat(".a", 64), 400},
		{claimOf(`"event_id":"e","send_at":"x"`), "notifications[19].send_at", 400}, {claimOf(`"event_id":"e","metadata":{"a":1,"a":2}`), "notifications[21].metadata.a", 400},
		{claimOf(`"event_id":"e","dedupe_key":""`), "notifications[23].dedupe_key", 400}, {claimOf(`"event_id":""`), "notifications[25].event_id", 400},
		{claimOf(`"event_id":"e","source":"billing"`), "", 403}, {claimOf(`"event_id":"e","metadata":{"a":"` + strings.Repeat("a", 256<<10) + `"}`), "", 413},
	}
	var items []string
	for i, b := range bad {
		items = append(items, item(fmt.Sprint(i)), b.item)
	}
	answer := results(t, do(t, "POST", base+"/v1/notifications/batch", batchOf(items...), bearer("shop")))
	if answer.Claimed != len(bad) || answer.Refused != len(bad) || answer.Duplicates != 0 || len(answer.Results) != len(items) {
		t.Errorf("counts: %d claimed, %d refused", answer.Claimed, answer.Refused)
	}
	for i, b := range bad {
		good, refused := answer.Results[2*i], answer.Results[2*i+1]
		if good.Status != 202 || good.Notification == nil || good.Problem != nil || s.events[i].EventID != fmt.Sprint(i) {
			t.Errorf("item %d: %+v", 2*i, good)
		}
		if refused.Status != b.status || refused.Problem == nil || refused.Problem.Status != b.status || refused.Notification != nil {
			t.Errorf("item %d: %+v", 2*i+1, refused)
		} else if b.field != "" && refused.Problem.Errors[0].Field != b.field {
			t.Errorf("item %d: field %q, want %q", 2*i+1, refused.Problem.Errors[0].Field, b.field)
		}
	}
}

// What the ledger says about each item has the status that a single claim would have had.
func TestBatch_LedgerErrors(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{})
	for _, c := range []struct {
		err    error
		status int
	}{{&ledger.ReusedError{Existing: sample(), Differs: []string{"message"}}, 422}, {ledger.ErrNoChannel, 503}, {ledger.Invalid("provider", "x"), 400}} {
		got := itemResult(t, s, base, c.err)
		if got.Status != c.status || got.Problem == nil {
			t.Errorf("%v: %+v", c.err, got)
		}
		if reused := got.Status == 422; reused && (got.Problem.Notification == nil || got.Problem.Differs[0] != "message") {
			t.Errorf("%+v", got.Problem)
		}
	}
	s.dup = true
	if b := results(t, do(t, "POST", base+"/v1/notifications/batch", batchOf(item("a"), item("b")))); b.Duplicates != 2 || b.Results[0].Status != 200 || !b.Results[1].Notification.Duplicate {
		t.Errorf("known items: %+v", b)
	}
	s.err = ledger.ErrUnknown // of the commit as a whole
	if got := do(t, "POST", base+"/v1/notifications/batch", batchOf(item("a"))); got.status != 503 || got.problem(t).Code != codeStorageUnknown {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// itemResult is the result of an item for which the ledger has an error.
func itemResult(t *testing.T, s *stub, base string, err error) BatchResult {
	t.Helper()
	s.itemErr = err
	defer func() { s.itemErr = nil }()
	return results(t, do(t, "POST", base+"/v1/notifications/batch", batchOf(item("a")))).Results[0]
}

// The batch itself has limits; beyond them nothing of it is claimed.
func TestBatch_Limits(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{})
	many := func(n int) string {
		return batchOf(strings.Split(strings.Repeat(item("e")+"|", n-1)+item("e"), "|")...)
	}
	for _, c := range []struct {
		what, body string
		status     int
		field      string
	}{
		{"500 items", many(500), 200, ""}, {"501 items", many(501), 400, "notifications"}, {"no item", batchOf(), 400, "notifications"},
		{"no field", `{}`, 400, "notifications"}, {"null", `{"notifications":null}`, 400, "notifications"}, {"an object", `{"notifications":{}}`, 400, "notifications"},
		{"twice", `{"notifications":[` + item("a") + `],"notifications":[` + item("b") + `]}`, 400, "notifications"},
		{"another field", `{"notifications":[` + item("a") + `],"events":[]}`, 400, "events"}, {"trailing", batchOf(item("a")) + "{}", 400, "body"},
		{"cut", batchOf(item("a"))[:40], 400, "notifications[0]"}, {"a comma", `{"notifications":[` + item("a") + `,]}`, 400, "notifications"},
		{"no colon", `{"notifications" [` + item("a") + `]}`, 400, "notifications"},
		{"5 MiB", many(500) + strings.Repeat(" ", 5<<20), 413, ""},
	} {
		s.calls = 0
		got := do(t, "POST", base+"/v1/notifications/batch", c.body)
		if got.status != c.status {
			t.Errorf("%s: %d %.200s", c.what, got.status, got.body)
			continue
		}
		if c.status != 200 && s.seen() != 0 {
			t.Errorf("%s: %d rows", c.what, s.seen())
		}
		if c.field != "" && got.problem(t).Errors[0].Field != c.field {
			t.Errorf("%s: field %q, want %q", c.what, got.problem(t).Errors[0].Field, c.field)
		}
	}
}
