package ledger_test

import (
	"time"

	"sendonce/ledger"
)

// everyKind fills a ledger with a row of each kind; the event ids say which.
func everyKind(b *checkBench) {
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
	b.claim("again", "ambiguous,deferred,accepted", withType("again.login"))
	b.claim("assumed", "ambiguous", withType("assume.sent"))
	b.claim("repeated", "ambiguous", withProvider("keyed"))
	b.claim("learned", "ambiguous,accepted", withProvider("keyed"))
	b.pass(10 * time.Minute)
	parent := b.claim("parent", "accepted,parent")
	for range 2 {
		if _, err := b.l.Resend(t.Context(), ledger.Act{ID: parent.ID, Reason: "a test", Actor: "ops", IfMatch: b.row(parent).Version}, false); err != nil {
			t.Fatal(err)
		}
		b.pass(time.Second)
	}
	b.settle(b.claim("cancelled", "accepted", withSendAfter(time.Hour)), ledger.CauseCancel, "")
	b.settle(b.claim("expired", "accepted", withSendAfter(time.Minute)), ledger.CauseHold, "")
	b.claim("unknown", "ambiguous", withSendAfter(time.Minute))
	b.pass(time.Hour)
	b.settle(b.settle(b.claim("unheld", "accepted", withSendAfter(time.Hour)), ledger.CauseHold, ""), ledger.CauseUnhold, "")
	b.settle(b.claim("held", "accepted", withSendAfter(24*time.Hour)), ledger.CauseHold, "")
	b.claim("given", "accepted,given", func(e *ledger.Event) { e.DedupeKey = "order-17" })
	gone := b.claim("gone", "accepted")
	lost := b.settle(b.claim("lost", "ambiguous"), ledger.CauseAbandon, "")
	b.claim("claimed", "accepted", withSendAfter(24*time.Hour))
	b.erase(gone, lost)
	b.claim("deferred", "deferred")
	b.claim("sending", "silent")

	want := map[string]ledger.State{"sent": "sent", "parts": "sent", "twice": "sent", "delivered": "sent", "rejected": "failed", "exhausted": "failed",
		"ambiguous": "ambiguous", "proven": "sent", "confirmed": "sent", "abandoned": "failed", "unbuildable": "failed", "second": "sent", "early": "sent",
		"again": "sent", "assumed": "sent", "repeated": "ambiguous", "learned": "sent", "parent": "sent", "cancelled": "cancelled", "expired": "expired", "unknown": "failed",
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
