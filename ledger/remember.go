package ledger

import (
	"context"
	"math"
	"time"
)

// What is read at a start for the history of the last day: so many of the newest rows at most, a page at a time, with a rest between
// two pages so that nobody waits for it.
const (
	maxRemembered  = 100_000
	rememberedPage = 1_000
	rememberRest   = 50 * time.Millisecond
)

// remember counts what happened in the last day before the start, by the newest rows. What became of older rows is left out, and so are
// repeats, of which the ledger keeps a count alone.
func (l *Ledger) remember(ctx context.Context) {
	since, before := l.began.Add(-quarterDay*quarterSpan), int64(math.MaxInt64)
	for read := 0; read < maxRemembered; {
		rows, err := l.store.Lately(ctx, before, rememberedPage)
		if err != nil {
			if ctx.Err() == nil {
				l.troubles.Tell("what happened before the start is not counted", "error", err)
			}
			return
		}
		for i := range rows {
			if rows[i].ClaimedAt.Before(since) {
				return
			}
			l.recount(&rows[i])
		}
		if len(rows) < rememberedPage || sleep(ctx, nil, rememberRest) || ctx.Err() != nil {
			return
		}
		read, before = read+len(rows), rows[len(rows)-1].Seq
	}
}

// recount counts what a row's history says of before the start; what came later was counted when it happened.
func (l *Ledger) recount(r *Record) {
	count := func(t *tally, at time.Time, add func(*slot)) {
		if at.Before(l.began) {
			t.count(at, add)
		}
	}
	own := l.tallyOf(&r.Notification)
	count(own, r.ClaimedAt, func(s *slot) { s.Claims++ })
	for i := range r.Attempts {
		a := &r.Attempts[i]
		t := l.tallyOf(&Notification{Provider: a.Provider})
		if a.EndedAt.Before(l.began) {
			t.attempt(a)
		}
		if a.Kind == KindRepeat && a.Outcome == Accepted {
			count(t, a.EndedAt, func(s *slot) { s.ByEvidence++ })
		}
	}
	for i := range r.Settlements {
		s := &r.Settlements[i]
		switch {
		case s.Action == CauseProof && s.From != s.To:
			count(own, s.At, func(s *slot) { s.ByEvidence++ })
		case s.byPolicy():
			count(own, s.At, func(s *slot) { s.ByPolicy++ })
		case s.Actor != actorSelf && s.Action.settles():
			count(own, s.At, func(s *slot) { s.ByPerson++ })
		}
	}
}

// settles reports whether an action settles an unknown.
func (c Cause) settles() bool { return c == CauseConfirm || c == CauseRelease || c == CauseAbandon }
