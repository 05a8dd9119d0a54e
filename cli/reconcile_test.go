package cli

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sendonce/config"
)

// reconciling is a service that compares and finds so much.
func reconciling(got *Reconcile, out Reconciled, err error) Service {
	return Service{Reconcile: func(_ context.Context, _ config.Config, q Reconcile) (Reconciled, error) {
		*got = q
		q.Progress(1000, 0)
		return out, err
	}}
}

func TestReconcile_Shows(t *testing.T) {
	var asked Reconcile
	row := id
	out := Reconciled{Provider: "twilio_main", Since: "2026-11-29T09:30:00.000Z", Until: "2026-11-30T09:30:00.000Z", Listed: 12, Attempts: 11, NotYet: 1, Found: []Mismatch{
		{Kind: "unknown_here", MessageIDs: []string{"SM1"}, Recipient: "+14155550142", At: "2026-11-30T09:00:00.000Z", Detail: "no row has this message (delivered)"},
		{Kind: "twice_there", ID: &row, MessageIDs: []string{"SM2", "SM3"}, Recipient: "+14155550143", At: "2026-11-30T09:01:00.000Z", Detail: "the provider has 2 messages of this row"},
	}}
	r := runWith(t, nil, reconciling(&asked, out, nil), "", "reconcile", "twilio_main", "--since", "24h")
	expect(t, r, ExitNo, `
KIND          AT                       ROW                                   MESSAGE IDS  RECIPIENT     DETAIL
unknown_here  2026-11-30 09:00:00 UTC  -                                     SM1          +14155550142  no row has this message (delivered)
twice_there   2026-11-30 09:01:00 UTC  `+id+`  SM2 SM3      +14155550143  the provider has 2 messages of this row
2 differences: 12 messages there, 11 attempts here, 1 row not yet to be expected
`)
	if asked.Provider != "twilio_main" || time.Since(asked.Until) > time.Minute || (asked.Until.Sub(asked.Since)-24*time.Hour).Abs() > time.Minute {
		t.Errorf("asked %+v", asked)
	}
	r = runWith(t, nil, reconciling(&asked, out, nil), "", "reconcile", "twilio_main", "--since", "2026-11-01T00:00:00Z", "--until", "2026-11-02T00:00:00Z", "--json")
	if r.code != ExitNo || r.err != "" || !strings.HasPrefix(r.out, `{"provider":"twilio_main","since":"2026-11-29T09:30:00.000Z"`) ||
		!strings.Contains(r.out, `"differences":[{"kind":"unknown_here","id":null,"message_ids":["SM1"]`) || asked.Until.Sub(asked.Since) != 24*time.Hour {
		t.Errorf("exit %d, out %s, err %s, asked %+v", r.code, r.out, r.err, asked)
	}
	out.Found, out.Unasked = nil, 5
	r = runWith(t, nil, reconciling(&asked, out, nil), "", "reconcile", "twilio_main", "--since", "24h")
	expect(t, r, ExitDone, "0 differences: 12 messages there, 11 attempts here, 1 row not yet to be expected\n", "5 messages")
	out.Unasked, out.Erased, out.OfErased = 0, 1, 2
	r = runWith(t, nil, reconciling(&asked, out, nil), "", "reconcile", "twilio_main", "--since", "24h")
	expect(t, r, ExitDone, "0 differences: 12 messages there, 11 attempts here, 1 row not yet to be expected\n", "erased rows: 2; 1 erased row had")
	if r := runWith(t, nil, reconciling(&asked, out, nil), "", "reconcile", "twilio_main", "--since", "24h", "--json"); !strings.Contains(r.out, `"differences":[]`) {
		t.Errorf("out %s", r.out)
	}
}

func TestReconcile_Refusals(t *testing.T) {
	for _, args := range [][]string{
		{"reconcile"}, {"reconcile", "a", "b", "--since", "1h"}, {"reconcile", "../a", "--since", "1h"}, {"reconcile", "a"}, {"reconcile", "a", "--since", "yesterday"},
		{"reconcile", "a", "--since", "1h", "--until", "2h"}, {"reconcile", "a", "--since", "1h", "--until", "2126-01-01T00:00:00Z"},
		{"reconcile", "a", "--since", "2026-11-30"}, {"reconcile", "a", "--since", "1h", "--url", "http://127.0.0.1:1"},
	} {
		if r := runWith(t, nil, Service{}, "", args...); r.code != ExitUsage || r.out != "" {
			t.Errorf("%q: exit %d\n%s", args, r.code, r.err)
		}
	}
	var asked Reconcile
	for code, err := range map[int]error{
		ExitUnreachable: &ExitError{Code: ExitUnreachable, Err: errors.New("too many look-ups")}, ExitNo: errors.New("disk"),
		ExitLedger: &ExitError{Code: ExitLedger, Err: errors.New("no ledger")},
	} {
		if r := runWith(t, nil, reconciling(&asked, Reconciled{}, err), "", "reconcile", "a", "--since", "1h"); r.code != code || r.out != "" {
			t.Errorf("%v: exit %d, out %q", err, r.code, r.out)
		}
	}
}
