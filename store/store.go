package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
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
	queued       func()                      // runs when a claim was handed over
	migrations   []migration
	version      int   // of the schema
	fullCheckMax int64 // bytes
	maxScan      int64 // rows
	foldPages    int64
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
	if o.hooks.foldPages == 0 {
		o.hooks.foldPages = foldPages
	}
	if o.hooks.commit == nil {
		o.hooks.commit = func(do func() error) error { return do() }
	}
	path, err := realPath(o.Path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the folder of the ledger is missing, make it first: %w", err)
		}
		return fmt.Errorf("database path: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("database path: %s is a folder, name a file in it", path)
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
	troubles *ledger.Troubles // faults of the disk, which come with every write
	lock     *lockFile        // nil: read only
	reads    *sql.DB
	prepared sync.Map    // text of a query → *sql.Stmt over reads
	writes   *connection // the writer's
	folds    *connection // the folder's
	writer   *writer     // nil: read only
	space    *space

	restored     bool        // an old or moved copy that nobody accepted yet
	fresh        atomic.Bool // restored, and its open rows were not made ambiguous yet
	fullCheckMax int64
	maxScan      int64
	presence     *presence
	damage       atomic.Pointer[error]
	background   sync.WaitGroup
	stopChecks   context.CancelFunc
	shutdown     sync.Once
}

var _ ledger.Store = (*Store)(nil)

// Shutdown does what was handed in before, folds the log into the database file, and gives the ledger free. Writes that come
// later are refused. Further calls do nothing.
func (s *Store) Shutdown() (err error) {
	s.shutdown.Do(func() {
		if s.writer != nil {
			s.writer.end()
		}
		err = s.closeFiles()
	})
	return err
}

// closeFiles closes readers first: the last connection to close, the writer's, can then empty the log.
func (s *Store) closeFiles() error {
	s.stopChecks()
	s.background.Wait()
	var errs []error
	s.prepared.Range(func(_, st any) bool {
		errs = append(errs, st.(*sql.Stmt).Close())
		return true
	})
	if s.reads != nil {
		errs = append(errs, s.reads.Close())
	}
	if s.folds != nil {
		errs = append(errs, s.folds.close())
	}
	if s.writer != nil {
		s.writer.close()
	}
	if s.writes != nil {
		errs = append(errs, s.writes.close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.close())
	}
	return errors.Join(errs...)
}

// Commits counts the commits since the start, failed ones included.
func (s *Store) Commits() int64 {
	if s.writer == nil {
		return 0
	}
	return s.writer.commits.Load()
}

// Condition says what the store can do now.
func (s *Store) Condition() ledger.Condition {
	c := ledger.Condition{Restored: s.restored}
	if s.writer == nil {
		c.Err = errReadOnly
		return c
	}
	if c.Barriers, c.Err = s.writer.condition(); c.Err != nil {
		return c
	}
	if s.damage.Load() == nil {
		if fault := s.presence.look(); fault != nil {
			s.damaged(fault)
		}
	}
	switch damage := s.damage.Load(); {
	case damage != nil:
		c.Err = *damage
	case s.space.low():
		c.Err = ledger.ErrStorageLow
	}
	return c
}
