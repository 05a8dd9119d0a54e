package console

import (
	"slices"
	"time"

	"sendonce/ledger"
)

// entry is one thing that happened to a row; one of the pointers is set, or none for the claim.
type entry struct {
	At         time.Time
	Class      string // for its sign
	Attempt    *ledger.Attempt
	Receipt    *ledger.Receipt
	Settlement *ledger.Settlement
	Suppressed *ledger.Suppressed
	Raw        string // what the provider answered or posted; in its words, too, recipient and message are masked unless revealed
}

// timeline is what happened to a row, in its order. What has the same time stands in the order in which such things follow.
func timeline(r *ledger.Record, revealed bool) []entry {
	out := []entry{{At: r.ClaimedAt, Class: "claim"}}
	said := hiderOf(&r.Notification)
	if revealed {
		said = func(text string) string { return text }
	}
	for i := range r.Suppressed {
		out = append(out, entry{At: r.Suppressed[i].At, Class: "suppressed", Suppressed: &r.Suppressed[i]})
	}
	for i := range r.Attempts {
		a := r.Attempts[i]
		class := "open"
		if !a.Open() {
			class = a.Outcome.String()
		}
		a.Error, a.Code, a.MessageID = said(a.Error), said(a.Code), said(a.MessageID)
		out = append(out, entry{At: a.StartedAt, Class: class, Attempt: &a, Raw: said(string(a.Answer))})
	}
	for i := range r.Receipts {
		p := r.Receipts[i]
		p.Kind, p.Code = said(p.Kind), said(p.Code)
		out = append(out, entry{At: p.ArrivedAt, Class: "receipt", Receipt: &p, Raw: said(string(p.Body))})
	}
	for i := range r.Settlements {
		out = append(out, entry{At: r.Settlements[i].At, Class: string(r.Settlements[i].Action), Settlement: &r.Settlements[i], Raw: said(string(r.Settlements[i].Evidence))})
	}
	slices.SortStableFunc(out, func(a, b entry) int { return a.At.Compare(b.At) })
	return out
}
