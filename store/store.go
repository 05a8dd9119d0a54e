package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"

	"sendonce/ledger"
)

// Options say which ledger to open, and how.
type Options struct {
	Path    string       // of the database file; its lock file and SQLite's own files stand beside it
	Schema  string       // text of schema.sql
	Reserve int64        // bytes of free space below which claims are refused; 0: no reserve
	Log     *slog.Logger // nil: slog.Default

	hooks hooks // for tests
}

// hooks let a test stand where only a failing disk or another version stands.
type hooks struct {
	commit       func(do func() error) error // runs each COMMIT of the writer
	before       func(t *tx, op *operation)  // runs before each operation, inside its transaction
	migrations   []migration
	version      int   // of the schema
	fullCheckMax int64 // bytes
	maxScan      int64 // rows
}

func (o *Options) complete() error {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.hooks.version == 0 {
		o.hooks.version, o.hooks.migrations = schemaVersion, migrations()
	}
	if o.hooks.fullCheckMax == 0 {
		o.hooks.fullCheckMax = fullCheckMax
	}
	if o.hooks.maxScan == 0 {
		o.hooks.maxScan = ledger.MaxScan
	}
	if o.hooks.commit == nil {
		o.hooks.commit = func(do func() error) error { return do() }
	}
	path, err := realPath(o.Path)
	if err != nil {
		return fmt.Errorf("database path: %w", err)
	}
	o.Path = path
	return nil
}

// realPath follows links, so that two names of one ledger meet at one lock file.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, filepath.Base(abs)), nil
}

// Store is a ledger.Store over one SQLite file. Open makes it; Shutdown ends it. (Close closes an attempt.)
type Store struct {
	path     string
	log      *slog.Logger
	lock     *lockFile // nil: read only
	reads    *sql.DB
	prepared sync.Map // text of a query → *sql.Stmt over reads
	writes   *sql.DB
	writer   *writer // nil: read only
	space    *space

	restored     bool        // an old or moved copy that nobody accepted yet
	fresh        atomic.Bool // restored, and its open rows were not made ambiguous yet
	fullCheckMax int64
	maxScan      int64
	damage       atomic.Pointer[error]
	background   sync.WaitGroup
	stopChecks   context.CancelFunc
	shutdown     sync.Once
}

var _ ledger.Store = (*Store)(nil)

// Open opens a ledger for service and keeps every other process from doing so. ErrLocked, ErrMissing, ErrNoLedger, ErrNewer,
// ErrDamaged, ErrForeign. A ledger that was restored or moved is opened too: Condition says so, and nothing is sent from it.
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
	useOFDLocks(o.Log)
	lock, err := openLock(o.Path + ".lock")
	if err != nil {
		return nil, err
	}
	s := &Store{path: o.Path, log: o.Log, lock: lock, fullCheckMax: o.hooks.fullCheckMax, maxScan: o.hooks.maxScan, stopChecks: func() {}}
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
	if err := s.checkAtStart(); err != nil {
		return err
	}
	s.space = newSpace(filepath.Dir(s.path), o.Reserve)
	if s.writer, err = newWriter(ctx, s, o.hooks); err != nil {
		return opening(err)
	}
	if err := s.recognise(); err != nil {
		return err
	}
	s.writer.start()
	return nil
}

// OpenReadOnly opens a ledger for looking, beside a service that may have it open. Its writes are refused, it takes no lock,
// and it changes nothing. ErrNoLedger, ErrNewer, ErrForeign.
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
	useOFDLocks(o.Log)
	ctx := context.Background()
	if _, err := peek(ctx, o.Path, o.hooks.version); err != nil {
		return nil, err
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

// connect opens the readers and the writer's pool of one.
func (s *Store) connect(ctx context.Context) (err error) {
	if s.writes, err = connect(s.path, 1, writerPragmas(), "_txlock", "immediate"); err != nil {
		return err
	}
	if err := s.writes.PingContext(ctx); err != nil { // first: it makes the log that readers need
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

// Shutdown does what was handed in before, folds the log into the database file, and gives the ledger free. Writes that come
// later are refused. Further calls do nothing.
func (s *Store) Shutdown() (err error) {
	s.shutdown.Do(func() {
		s.stopChecks()
		s.background.Wait()
		if s.writer != nil {
			s.writer.end()
		}
		err = s.closeFiles()
	})
	return err
}

// closeFiles closes readers first: the last connection to close, the writer's, can then empty the log.
func (s *Store) closeFiles() error {
	var errs []error
	s.prepared.Range(func(_, st any) bool {
		errs = append(errs, st.(*sql.Stmt).Close())
		return true
	})
	if s.reads != nil {
		errs = append(errs, s.reads.Close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	if s.writes != nil {
		errs = append(errs, s.writes.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.close())
	}
	return errors.Join(errs...)
}

// Condition says what the store can do now.
func (s *Store) Condition() ledger.Condition {
	c := ledger.Condition{Restored: s.restored}
	if s.writer == nil {
		c.Err = errReadOnly
		return c
	}
	c.Err, c.Barriers = s.writer.condition()
	switch {
	case c.Err != nil:
	case s.damage.Load() != nil:
		c.Err = *s.damage.Load()
	case s.space.low():
		c.Err = ledger.ErrStorageLow
	}
	return c
}
