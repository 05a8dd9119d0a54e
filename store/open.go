package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"sendonce/ledger"
)

// Open opens a ledger for service and keeps every other process from doing so. A ledger of an earlier version is led to this one's
// schema first. One that was restored or moved is opened too: Condition says so, and nothing is sent from it. ErrLocked, ErrMissing,
// ErrNoLedger, ErrNewer, ErrDamaged, ErrForeign, ErrLinked, ErrPlatform.
func Open(o Options) (*Store, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	ledgerThere, lockThere, err := whatIsThere(o.Path)
	if err != nil {
		return nil, err
	}
	if !ledgerThere && !lockThere {
		return nil, ErrNoLedger
	}
	setProcess(o.Log)
	lock, err := openLock(o.Path + ".lock")
	if err != nil {
		return nil, err
	}
	s := &Store{
		path: o.Path, log: o.Log, troubles: ledger.NewTroubles(o.Log), lock: lock,
		fullCheckMax: o.hooks.fullCheckMax, maxScan: o.hooks.maxScan, stopChecks: func() {},
	}
	if err := s.open(o); err != nil {
		return nil, errors.Join(err, s.closeFiles())
	}
	return s, nil
}

func (s *Store) open(o Options) error {
	ledgerThere, _, err := whatIsThere(s.path) // again, now that nobody else changes it
	switch {
	case err != nil:
		return err
	case !ledgerThere && s.lock.written && (!s.lock.known || s.lock.last.generation > 0):
		return ErrMissing
	case !ledgerThere:
		return ErrNoLedger
	}
	if s.presence, err = newPresence(s.path); err != nil {
		return err
	}
	warnModes(s.log, s.path)
	ctx := context.Background()
	version, err := peek(ctx, s.path, o.hooks.version)
	if err != nil {
		return err
	}
	if err := migrate(ctx, s.path, version, o.hooks.migrations); err != nil {
		return err
	}
	if err := s.connect(ctx); err != nil {
		return opening(err)
	}
	for _, suffix := range []string{"-wal", "-shm"} { // they stay as long as a connection does
		if err := s.presence.watch(s.path+suffix, errLogGone); err != nil {
			return err
		}
	}
	if err := s.checkAtStart(); err != nil {
		return err
	}
	s.space = newSpace(filepath.Dir(s.path), o.Reserve)
	s.writer = newWriter(s, o.hooks)
	if err := s.recognise(); err != nil {
		return err
	}
	s.writer.start()
	return nil
}

// OpenReadOnly opens a ledger for looking, beside a service that may have it open. Its writes are refused, it takes no lock,
// and it changes nothing. ErrNoLedger, ErrOlder, ErrNewer, ErrForeign.
func OpenReadOnly(o Options) (*Store, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	found, err := there(o.Path)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, ErrNoLedger
	}
	setProcess(o.Log)
	ctx := context.Background()
	version, err := peek(ctx, o.Path, o.hooks.version)
	switch {
	case err != nil:
		return nil, err
	case version < o.hooks.version:
		return nil, fmt.Errorf("%w (schema %d, this one reads %d)", ErrOlder, version, o.hooks.version)
	}
	s := &Store{path: o.Path, log: o.Log, maxScan: o.hooks.maxScan, stopChecks: func() {}}
	if s.reads, err = connect(o.Path, readers, readerPragmas(), "mode", "ro"); err == nil {
		err = s.reads.PingContext(ctx)
	}
	if err != nil {
		return nil, errors.Join(opening(err), s.closeFiles())
	}
	return s, nil
}

// connect opens the writer's connection and the readers' pool.
func (s *Store) connect(ctx context.Context) (err error) {
	if s.writes, err = openConnection(s.path); err != nil { // first: it makes the log that readers need
		return err
	}
	if s.folds, err = openConnection(s.path); err != nil {
		return err
	}
	if s.reads, err = connect(s.path, readers, readerPragmas()); err != nil {
		return err
	}
	return s.reads.PingContext(ctx)
}

// whatIsThere looks for a ledger and its lock file.
func whatIsThere(path string) (ledgerThere, lockThere bool, err error) {
	if ledgerThere, err = there(path); err != nil {
		return false, false, err
	}
	lockThere, err = there(path + ".lock")
	return ledgerThere, lockThere, err
}
