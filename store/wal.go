package store

import (
	"os"
	"time"
)

const tidyEvery = 10 * time.Second

// cutLog shortens a log that a slow reader let grow: the folder folds it, then the writer cuts it. Nobody is waited for: while a reader is
// there, the next look tries again.
func (w *writer) cutLog() {
	w.tidy = nil
	if w.store.writes.file.syncs.failed.Load() {
		return
	}
	if info, err := os.Stat(w.store.path + "-wal"); err != nil || info.Size() <= maxLogBytes {
		return
	}
	w.tidy, w.cutting = time.After(tidyEvery), true
	if !w.folding {
		w.askFolder()
	}
}

// cut cuts a log that was folded.
func (w *writer) cut(f folding) {
	busy, err := !f.whole, f.err
	if f.whole {
		busy, err = w.checkpoint()
	}
	if busy || err != nil {
		w.store.log.Warn("the log is long, and a reader keeps it from being cut", "pages", w.store.writes.log.pages(), "error", err)
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
