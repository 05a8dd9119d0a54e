package store

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

const (
	openRows = `SELECT ` + rowColumns + ` FROM ` + rowTables + ` WHERE n.seq IN (SELECT notification FROM attempts WHERE outcome IS NULL) ORDER BY n.seq`
	heldRows = `SELECT ` + rowColumns + ` FROM ` + rowTables + ` WHERE n.state = 'held' ORDER BY n.due_at, n.seq LIMIT $1`
	dueRows  = `SELECT ` + rowColumns + ` FROM notifications n INDEXED BY notifications_expires LEFT JOIN contents c ON c.notification = n.seq
 WHERE n.state = 'claimed' LIMIT $1`
	moveAtOnce = 500 // rows in memory
)

// unsettled says what an ambiguous row does next.
type unsettled = func(ledger.Notification) (ledger.NextAction, time.Time)

// Recover closes what a dead process left open. With restored, every claimed, held and sending row becomes ambiguous; in a
// restored ledger that was recovered before, rows that were claimed since keep waiting. It returns how many rows it moved.
//
// A proof that waited for the end of such an attempt is applied at once.
func (s *Store) Recover(at time.Time, restored bool, next func(ledger.Notification) (ledger.NextAction, time.Time)) (int, error) {
	var moved int
	restoring := uuid.Nil
	if restored && s.fresh.Load() {
		var err error
		if restoring, err = uuid.NewRandom(); err != nil {
			return 0, err
		}
	}
	err := s.write(maxGroup, func(t *tx) (err error) {
		moved, err = t.recover(at, restored, next)
		if err == nil && restored && (!s.restored || s.fresh.Load()) {
			var n int
			n, err = t.recoverWaiting(at, next)
			moved += n
		}
		if err == nil && restoring != uuid.Nil {
			_, err = t.exec("UPDATE ledger SET restored = $1 WHERE one = 1", restoring[:])
		}
		return err
	})
	if err != nil || restoring == uuid.Nil {
		return moved, err
	}
	if err := s.lock.restore(restoring); err != nil {
		return moved, fmt.Errorf("%w: %w", ledger.ErrUnavailable, err)
	}
	s.fresh.Store(false)
	return moved, nil
}

// recover closes open attempts and moves their rows.
func (t *tx) recover(at time.Time, restored bool, next unsettled) (moved int, err error) {
	rows, err := t.query(openRows)
	list, err := collect(rows, err, rowTargets)
	if err != nil {
		return 0, err
	}
	if _, err := t.exec("UPDATE attempts SET ended_at = $1, outcome = 'ambiguous', error = 'the process ended during the attempt' WHERE outcome IS NULL",
		ms(at)); err != nil {
		return 0, err
	}
	for _, n := range list {
		if n.State != ledger.StateSending {
			continue // Audit shows it
		}
		reason, cause := ledger.ReasonProcessEnded, ledger.CauseProcessDied
		if restored {
			reason, cause = ledger.ReasonRestored, ledger.CauseRestored
		}
		if n, err = t.unknown(n, at, reason, cause, next); err != nil {
			return moved, err
		}
		if err := t.lateProof(n, at); err != nil {
			return moved, err
		}
		moved++
	}
	return moved, nil
}

// askOnly leaves to a person what was ambiguous already: what a policy or a repeat would do now may have been done since the copy
// was made. The row still ends with its time.
const askOnly = `UPDATE notifications SET next_action = CASE WHEN expires_at IS NULL THEN NULL ELSE 'expire' END, due_at = expires_at, updated_at = $1
 WHERE state = 'ambiguous' AND next_action IS NOT NULL AND next_action <> 'expire'`

// recoverWaiting moves claimed and held rows, some at a time: a moved row leaves the index that is read.
func (t *tx) recoverWaiting(at time.Time, next unsettled) (moved int, err error) {
	if _, err := t.exec(askOnly, ms(at)); err != nil {
		return 0, err
	}
	for _, query := range []string{dueRows, heldRows} {
		for {
			rows, err := t.query(query, moveAtOnce)
			list, err := collect(rows, err, rowTargets)
			if err != nil {
				return moved, err
			}
			for _, n := range list {
				if _, err := t.unknown(n, at, ledger.ReasonRestored, ledger.CauseRestored, next); err != nil {
					return moved, err
				}
				moved++
			}
			if len(list) < moveAtOnce {
				break
			}
		}
	}
	return moved, nil
}

// unknown makes a row ambiguous. An attempt that ended with the process is its own record; what was restored without one
// gets a settlement.
func (t *tx) unknown(n ledger.Notification, at time.Time, reason ledger.Reason, cause ledger.Cause, next unsettled) (ledger.Notification, error) {
	c := ledger.Change{State: ledger.StateAmbiguous, Reason: reason, MaybeSent: true, Deferrals: 0, Tried: n.Tried, At: at}
	if cause == ledger.CauseRestored {
		c.Settlement = &ledger.Settlement{At: at, Action: cause, From: n.State, To: c.State, Actor: actorSelf}
	}
	c.NextAction, c.DueAt = next(apply(n, c))
	return t.change(n, c)
}

// actorSelf is the actor of what happens by itself.
const actorSelf = "sendonce"

// lateProof applies a receipt that waited for an attempt whose process ended.
func (t *tx) lateProof(n ledger.Notification, at time.Time) error {
	var provider string
	found, err := t.row("SELECT provider FROM receipts WHERE notification = $1 ORDER BY id LIMIT 1", []any{n.Seq}, &provider)
	if err != nil || !found {
		return err
	}
	c := ledger.Change{State: ledger.StateSent, Reason: ledger.ReasonProof, Deferrals: n.Deferrals, Tried: n.Tried, At: at, ConfirmedAt: at}
	if c.Delivery, err = highest(t, n.Seq); err != nil {
		return err
	}
	if n.MessageID == "" {
		if c.MessageID, err = broughtID(t, n.Seq, n.AttemptCount); err != nil {
			return err
		}
	}
	c.Settlement = &ledger.Settlement{At: at, Action: ledger.CauseProof, From: n.State, To: c.State, Actor: "provider:" + provider}
	if n, err = t.change(n, c); err != nil {
		return err
	}
	var facts ledger.CloseFacts
	if err := t.proven(n.Seq, &facts); err != nil {
		return err
	}
	if c.Settlement = facts.Twice(at); c.Settlement != nil {
		if _, err := t.change(n, c); err != nil {
			return err
		}
	}
	return t.dropRequests(n.Seq)
}

// MarkMissing sets the reason provider_missing on claimed, pinned rows of providers outside known, and clears it from those
// of known ones.
func (s *Store) MarkMissing(at time.Time, known []string) error {
	return s.write(maxGroup, func(t *tx) error {
		rows, err := t.query(claimedProviders)
		names, err := collect(rows, err, func(p *string) []any { return []any{p} })
		if err != nil {
			return err
		}
		isKnown := map[string]bool{}
		for _, k := range known {
			isKnown[k] = true
		}
		for _, name := range names {
			query := `UPDATE notifications SET reason = 'provider_missing', updated_at = $2 WHERE state = 'claimed' AND provider = $1
 AND pinned = 1 AND reason IS NOT 'provider_missing' AND reason IS NOT 'restored'`
			if isKnown[name] {
				query = `UPDATE notifications SET reason = NULL, updated_at = $2 WHERE state = 'claimed' AND provider = $1 AND reason = 'provider_missing'`
			}
			if _, err := t.exec(query, name, ms(at)); err != nil {
				return err
			}
		}
		t.counts.at(at)
		return nil
	})
}
