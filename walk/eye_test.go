package walk

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

// eye reads rows from the file itself, past the store's own way of reading them.
type eye struct {
	db  *sql.DB
	row *sql.Stmt
}

func openEye(path string) (*eye, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	row, err := db.Prepare(`SELECT state, coalesce(reason, ''), coalesce(delivery, ''), provider, maybe_sent, attempt_count, version, coalesce(due_at, 0)
, 0
 FROM notifications WHERE id = ?1
 UNION ALL SELECT state, coalesce(reason, ''), coalesce(delivery, ''), '', maybe_sent, attempt_count, version, 0, 1 FROM erased WHERE id = ?1`)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &eye{db, row}, nil
}

func (e *eye) close() error {
	if e == nil {
		return nil
	}
	return errors.Join(e.row.Close(), e.db.Close())
}

func (e *eye) look(id uuid.UUID) (s Seen, err error) {
	var due int64
	if err := e.row.QueryRow(id[:]).Scan(&s.State, &s.Reason, &s.Delivery, &s.Provider, &s.MaybeSent, &s.Attempts, &s.Version, &due, &s.Gone); err != nil {
		return s, fmt.Errorf("reading the row: %w", err)
	}
	s.Due = time.UnixMilli(due)
	s.allow(ledger.State(s.State))
	return s, nil
}

// look is a row of a list as the model looks at it.
func look(n *ledger.Notification) Seen {
	s := Seen{
		State: string(n.State), Reason: string(n.Reason), Delivery: string(n.Delivery), Provider: n.Provider, MaybeSent: n.MaybeSent,
		Attempts: n.AttemptCount, Version: n.Version, Due: n.DueAt,
	}
	s.allow(n.State)
	return s
}

// allow adds what the ledger's table says of such a row.
func (s *Seen) allow(state ledger.State) {
	s.Final = state.Final()
	for _, a := range ledger.Allowed(state, s.MaybeSent) {
		s.Allowed = append(s.Allowed, string(a))
	}
}
