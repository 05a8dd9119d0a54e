package store

import (
	"os"
	"time"
)

const tidyEvery = 10 * time.Second

// cutLog shortens a log that a slow reader let grow. SQLite folds the log into the database by itself, but cuts it only with
// a later write. It waits for nobody: while a reader is there, the next look tries again.
func (w *writer) cutLog() {
	w.tidy = nil
	info, err := os.Stat(w.store.path + "-wal")
	if err != nil || info.Size() <= maxLogBytes {
		return
	}
	if busy, err := w.checkpoint(); err != nil || busy {
		w.tidy = time.After(tidyEvery)
		w.store.log.Warn("the log is long, and a reader keeps it from being cut", "bytes", info.Size(), "error", err)
	}
}

// checkpoint folds the log into the database and cuts it to nothing, without waiting. busy: a reader or another process is
// in the way.
func (w *writer) checkpoint() (busy bool, err error) {
	if _, err := w.tx.exec("PRAGMA busy_timeout(0)"); err != nil {
		return false, err
	}
	var inWay, inLog, folded int64
	_, err = w.tx.row("PRAGMA wal_checkpoint(TRUNCATE)", nil, toInt[int64]{&inWay}, toInt[int64]{&inLog}, toInt[int64]{&folded})
	if _, e := w.tx.exec(busyPragma); err == nil {
		err = e
	}
	return inWay != 0, err
}
