package store

import (
	"context"

	"sendonce/ledger"
)

// Pauses returns what people paused.
func (s *Store) Pauses(ctx context.Context) ([]ledger.Pause, error) {
	rows, err := s.reader(ctx).query("SELECT provider, since, actor, reason FROM pauses ORDER BY provider")
	return collect(rows, err, func(p *ledger.Pause) []any { return []any{&p.Provider, toTime{&p.Since}, &p.Actor, &p.Reason} })
}

// SetPause notes that a provider is not to be used.
func (s *Store) SetPause(p ledger.Pause) error {
	return s.write(1, func(t *tx) error {
		_, err := t.exec(`INSERT INTO pauses (provider, since, actor, reason) VALUES ($1, $2, $3, $4)
 ON CONFLICT (provider) DO UPDATE SET since = excluded.since, actor = excluded.actor, reason = excluded.reason`,
			p.Provider, ms(p.Since), p.Actor, p.Reason)
		return err
	})
}

// ClearPause ends a pause; there need be none.
func (s *Store) ClearPause(provider string) error {
	return s.write(1, func(t *tx) error {
		_, err := t.exec("DELETE FROM pauses WHERE provider = $1", provider)
		return err
	})
}
