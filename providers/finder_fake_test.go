package providers

import (
	"context"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
	"sendonce/ledger"
)

// What an adapter sends it finds again, over real HTTP at a fake that knows nothing of us, and not what another row sent.
func TestFind_WhatWasSent(t *testing.T) {
	eachFinder(t, func(t *testing.T, k finderKit) {
		f := fake.New(fake.Options{WellBehaved: true})
		base, err := f.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		p := k.make(t, Common{BaseURL: base})
		now := time.Now()
		search := func(id, text string) ledger.Search {
			o := k.order(base)
			o.Message = []byte(strings.ReplaceAll(string(o.Message), testText, text))
			s := lostRow(id, "wire-"+id, o)
			s.From, s.Until, s.Attempts = now.Add(-time.Minute), now.Add(5*time.Minute), []int{1}
			return s
		}
		first, second := search(firstRow, "OTP 1"), search(secondRow, "OTP 2")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		look := func(searches ...ledger.Search) string {
			l, err := p.(ledger.Finder).Find(ctx, now, searches)
			for _, list := range l.Found {
				for i := range list {
					list[i].Delivery = ""
				}
			}
			return summary(l, err)
		}
		if got := look(first, second); got != "nothing" {
			t.Fatalf("found before anything was sent: %s", got)
		}
		o := k.order(base)
		o.ID, o.Number, o.WireKey, o.At, o.ClaimedAt, o.Message = first.ID, 1, first.WireKey, now, now, first.Message
		r, err := p.Build(o)
		if err != nil {
			t.Fatal(err)
		}
		sent := p.Send(ctx, r)
		if sent.Outcome != ledger.Accepted {
			t.Fatalf("%+v", sent)
		}
		number := "1"
		if p.(ledger.Finder).LookUps().ByContent {
			number = "0"
		}
		want := "found id=" + sent.MessageIDs[0] + " attempt=" + number
		for name, got := range map[string]string{"both rows": look(first, second), "the first": look(first)} {
			if got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		if got := look(second); got != "nothing" {
			t.Errorf("another row: %s", got)
		}
	})
}
