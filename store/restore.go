package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

// identity is what the ledger says of itself.
type identity struct {
	mark
	restored uuid.UUID // which restoring waits to be accepted; zero: none
}

const identityQuery = "SELECT ledger_id, generation, restored FROM ledger WHERE one = 1"

func (i *identity) targets() []any {
	return []any{toID{&i.id}, toInt[int64]{&i.generation}, toID{&i.restored}}
}

// recognise compares the ledger with its lock file, and moves the generation of a ledger that is in order.
//
// A restored ledger keeps its generation and its lock file as they are, so that it is known as restored at every further
// start. fresh says that its open rows were not made ambiguous yet: the restoring that its file names is none that the
// lock file knows.
func (s *Store) recognise() error {
	var id identity
	if err := s.writer.identity(&id); err != nil {
		return err
	}
	l := s.lock
	behind := !l.known || l.last.id != id.id || l.last.generation > id.generation
	s.restored = behind || id.restored != uuid.Nil
	s.fresh.Store(s.restored && (id.restored == uuid.Nil || id.restored != l.restoring))
	s.writer.restored = s.restored
	if s.restored {
		s.log.Warn("this ledger is older than its lock file, or was moved without it: nothing is sent before `sendonce restore --accept`",
			"ledger", id.id.String(), "generation", id.generation, "remembered_generation", l.last.generation)
		return nil
	}
	return s.writer.raise()
}

// AcceptRestored says, on a person's word, that a restored or moved ledger is the one to go on with. The service must be
// stopped: ErrLocked. Rows that were open in the copy are ambiguous from then on and are not sent; rows that were claimed
// since, and waited, are. A ledger that is in order is left as it is. What Open returns.
func AcceptRestored(o Options) (err error) {
	s, err := Open(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Shutdown()) }()
	if !s.restored {
		return nil
	}
	if s.fresh.Load() {
		at := time.Now()
		if newest, err := s.Newest(context.Background()); err != nil {
			return err
		} else if newest.After(at) { // stored times never run backwards
			at = newest
		}
		if _, err := s.Recover(at, true, expiry); err != nil {
			return err
		}
	}
	// The accepted copy goes on under a new id: no other copy of what stood here is mistaken for it, however far that one had come.
	id, err := uuid.NewRandom()
	if err != nil {
		return err
	}
	now := mark{id: id}
	err = s.write(1, func(t *tx) error {
		if _, err := t.row("UPDATE ledger SET ledger_id = $1, generation = generation + 1, restored = NULL WHERE one = 1 RETURNING generation",
			[]any{id[:]}, toInt[int64]{&now.generation}); err != nil {
			return err
		}
		_, err := t.exec("UPDATE notifications INDEXED BY notifications_expires SET reason = NULL WHERE state = 'claimed' AND reason = 'restored'")
		return err
	})
	if err != nil {
		return err
	}
	if err := s.lock.become(now); err != nil {
		return fmt.Errorf("the ledger is accepted, but its lock file could not be written, so do this once more: %w", err)
	}
	s.log.Info("restored ledger accepted", "ledger", now.id.String(), "generation", now.generation)
	return nil
}

// expiry is what a row does next that only waits for a person: it expires, where it has a time for that.
func expiry(n ledger.Notification) (ledger.NextAction, time.Time) {
	if n.ExpiresAt.IsZero() {
		return ledger.DoNothing, time.Time{}
	}
	return ledger.DoExpire, n.ExpiresAt
}
