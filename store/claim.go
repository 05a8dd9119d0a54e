package store

import (
	"context"
	"time"

	"sendonce/ledger"
)

const (
	byKey    = `SELECT ` + rowColumns + ` FROM ` + rowTables + ` WHERE n.dedupe_key = $1 AND n.source = $2`
	seqByKey = `SELECT seq FROM notifications WHERE dedupe_key = $1 AND source = $2
 UNION ALL SELECT seq FROM erased WHERE dedupe_key = $1 AND source = $2`
	byOther = byKey + ` AND (n.recipe = $3 OR n.recipe = '` + ledger.RecipeGiven + `')`
	byID    = `SELECT ` + rowColumns + ` FROM ` + rowTables + ` WHERE n.id = $1`
	bySeq   = `SELECT ` + rowColumns + ` FROM ` + rowTables + ` WHERE n.seq = $1`
)

// notification reads one row.
func notification(q queries, query string, args ...any) (n ledger.Notification, found bool, err error) {
	found, err = oneRow(q, query, args, rowTargets(&n)...)
	return n, found, err
}

// prior looks under a claim's other keys, then under its own.
func prior(q queries, c *ledger.Claim, own bool) (ledger.Notification, bool, error) {
	for _, k := range c.Others {
		if n, found, err := anyRow(q, byOther, erasedByOther, keyOf(k.Key), c.Source, k.Recipe); found || err != nil {
			return n, found, err
		}
	}
	if !own {
		return ledger.Notification{}, false, nil
	}
	return anyRow(q, byKey, erasedByKey, keyOf(c.DedupeKey), c.Source)
}

// Prior finds the row that has one of the claim's keys. What it does not find proves nothing: only Claim does.
func (s *Store) Prior(ctx context.Context, c ledger.Claim) (ledger.Notification, bool, error) {
	r := s.reader(ctx)
	var seq int64 // alone: the whole row has forty columns, and most claims are new
	found, err := oneRow(r, seqByKey, []any{keyOf(c.DedupeKey), c.Source}, toInt[int64]{&seq})
	switch {
	case err != nil:
		return ledger.Notification{}, false, err
	case found:
		return anyRow(r, bySeq, erasedBySeq, seq)
	}
	return prior(r, &c, false)
}

// Claim makes a row for each claim whose keys nobody has, all in one commit.
func (s *Store) Claim(claims []ledger.Claim) ([]ledger.Claimed, error) {
	var rows []ledger.Claimed
	err := s.claim(len(claims), func(t *tx) (err error) {
		rows = make([]ledger.Claimed, len(claims))
		for i := range claims {
			if rows[i], err = t.claim(&claims[i], nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// claim makes one row, or reads the one that has its key. The UNIQUE index decides, no look-up before it. There is no
// RETURNING: it costs more than LastInsertId.
func (t *tx) claim(c *ledger.Claim, resendNumber any) (ledger.Claimed, error) {
	if len(c.Others) > 0 {
		if n, found, err := prior(t, c, false); found || err != nil {
			return ledger.Claimed{Notification: n, Duplicate: true}, err
		}
	}
	n := asKept(c.Notification)
	n.Version = 1
	if c.Attempt != nil {
		n = asTaken(n, c.Attempt)
	}
	seq, err := t.insert(`INSERT INTO notifications (id, source, dedupe_key, recipe, source_in_key, event_id, event_type, user_id, channel,
 provider, pinned, lane, state, reason, maybe_sent, next_action, due_at, send_at, expires_at, attempt_count, tried, resend_of, resend_number,
 suspected_of, version, occurred_at, claimed_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)
ON CONFLICT (dedupe_key, source) DO NOTHING`,
		n.ID[:], n.Source, keyOf(n.DedupeKey), n.Recipe, flag(n.SourceInKey), n.EventID, text(n.EventType), text(n.UserID), string(n.Channel),
		n.Provider, flag(n.Pinned), int64(n.Lane), string(n.State), text(n.Reason), flag(n.MaybeSent), text(n.NextAction), ms(n.DueAt),
		ms(n.SendAt), ms(n.ExpiresAt), int64(n.AttemptCount), n.Tried, idOf(n.ResendOf), resendNumber, idOf(n.SuspectedOf), n.Version,
		ms(n.OccurredAt), ms(n.ClaimedAt), ms(n.UpdatedAt))
	if err != nil {
		return ledger.Claimed{}, err
	}
	if seq == 0 {
		n, _, err := anyRow(t, byKey, erasedByKey, keyOf(c.DedupeKey), c.Source)
		return ledger.Claimed{Notification: n, Duplicate: true}, err
	}
	n.Seq = seq
	t.counts.claimed(n.ClaimedAt)
	recipient := any(n.Recipient)
	key := recipient // as a rule: one value is one allocation
	if n.RecipientKey != n.Recipient {
		key = n.RecipientKey
	}
	if _, err = t.exec("INSERT INTO contents (notification, recipient, recipient_key, message, metadata, content_hash) VALUES ($1, $2, $3, $4, $5, $6)",
		seq, recipient, key, string(n.Message), jsonText(n.Metadata), n.ContentHash[:]); err != nil {
		return ledger.Claimed{}, err
	}
	if c.Attempt != nil {
		err = t.open(c.Attempt, seq)
		t.counts.moved(ledger.StateClaimed, ledger.StateSending, false, false, c.Attempt.StartedAt)
	}
	return ledger.Claimed{Notification: n}, err
}

// asTaken is a row as its take leaves it.
func asTaken(n ledger.Notification, a *ledger.Attempt) ledger.Notification {
	n.State, n.Reason, n.NextAction, n.DueAt = ledger.StateSending, "", ledger.DoNothing, time.Time{}
	n.Provider, n.AttemptCount, n.Version, n.UpdatedAt = a.Provider, a.Number, n.Version+1, kept(a.StartedAt)
	return n
}
