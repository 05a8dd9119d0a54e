package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	direct "zombiezen.com/go/sqlite"

	"sendonce/ledger"
)

// Why a ledger is not opened. Each says what a person can do.
var (
	ErrLocked   = errors.New("another process has this ledger open: stop it first, or use its API")
	ErrMissing  = errors.New("the ledger is missing, and an empty one would send everything again: put the file or a backup back; to begin with nothing on purpose, remove its lock file")
	ErrNoLedger = errors.New("there is no ledger yet: make one with `sendonce init`")
	ErrExists   = errors.New("there is a file already: it is left as it is")
	ErrOlder    = errors.New("the ledger was written by an older sendonce: start the service once, which leads it to this version; nothing was changed")
	ErrNewer    = errors.New("the ledger was written by a newer sendonce: use that version; nothing was changed")
	ErrDamaged  = errors.New("the ledger is damaged: stop, keep the files, and restore a backup")
	ErrLinked   = errors.New("the ledger's file has a second name (a hard link), under which another process could open it: remove one of them")
	ErrForeign  = errors.New("the file is not a sendonce ledger: give the right path")
	ErrBeside   = errors.New("another backup to the same name has begun meanwhile: this one is given up")
	ErrPlatform = errors.New("this platform has no file locks that sendonce knows: it runs on Linux, macOS and FreeBSD")
)

// Why a write is refused while the store is open. Each wraps ledger.ErrUnavailable: surely not written.
var (
	errShutDown = fmt.Errorf("the store was shut down: %w", ledger.ErrUnavailable)
	errReadOnly = fmt.Errorf("the ledger was opened for reading: %w", ledger.ErrUnavailable)
	errRestored = fmt.Errorf("the ledger is an old or moved copy, nothing is sent from it before `sendonce restore --accept`: %w", ledger.ErrUnavailable)
)

// code returns SQLite's primary result code; 0 when err is none of SQLite's, or is from the writer's connection and of no kind.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	if c := direct.ErrCode(err).ToPrimary(); c != direct.ResultError {
		return int(c)
	}
	return 0
}

// opening translates what SQLite says about a file that cannot be used.
func opening(err error) error {
	switch code(err) {
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", ErrForeign, err)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}
