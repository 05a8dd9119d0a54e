package store

import "errors"

const (
	foldLate  = 3   // times foldPages, at which the writer waits for it
	foldRest  = 500 // pages that the writer may fold by itself
	foldTries = 4   // by the writer, until the log begins anew
)

// folder folds the log into the database beside the writer, through a connection of its own: with millions of rows nearly each row
// of the log belongs to a page of its own, and writing those takes as long as the writer's own work.
//
// SQLite begins a log anew only when all of it is folded, and the writer goes on meanwhile. So the folder goes over it until little
// is left, and that rest the writer folds between two groups.
type folder struct {
	conn  *connection
	pages func() int64 // in the log
	asked chan struct{}
	done  chan folding
	ended chan struct{}
}

// folding is how one ended.
type folding struct {
	whole bool // false: something was in the way, a reader or another program that folds
	err   error
}

func newFolder(conn *connection, pages func() int64) *folder {
	return &folder{conn: conn, pages: pages, asked: make(chan struct{}, 1), done: make(chan folding, 1), ended: make(chan struct{})}
}

func (f *folder) run() {
	defer close(f.ended)
	for range f.asked {
		f.done <- f.fold()
	}
}

func (f *folder) fold() folding {
	for range foldTries {
		inLog, folded, err := f.conn.fold()
		if err != nil || inLog < 0 || folded < inLog {
			return folding{err: err}
		}
		if f.pages()-inLog <= foldRest {
			break
		}
	}
	return folding{whole: true}
}

// end waits for a folding that runs.
func (f *folder) end() {
	close(f.asked)
	<-f.ended
}

// fold takes what it can from the log to the database, and waits for nobody. Both numbers are -1 while another program folds.
func (c *connection) fold() (inLog, folded int64, err error) {
	found, err := c.query("PRAGMA wal_checkpoint(PASSIVE)", nil)
	if err != nil {
		return 0, 0, err
	}
	var busy int64
	if found.Next() {
		err = found.Scan(toInt[int64]{&busy}, toInt[int64]{&inLog}, toInt[int64]{&folded})
	}
	return inLog, folded, errors.Join(err, found.Err(), found.Close())
}

// fold keeps the log short, after a group. While a reader is in the way the log grows, and cutLog cuts it later.
func (w *writer) fold() {
	pages := w.store.writes.log.pages()
	if w.folding && !w.foldEnded(pages) {
		return
	}
	switch {
	case w.store.writes.file.syncs.failed.Load(): // a part that is folded without a sync would be read from the database
	case pages < w.hooks.foldPages: // it began anew
		w.foldAt, w.foldTries = w.hooks.foldPages, 0
	case w.foldTries > 0:
		w.foldTries--
		_, _, err := w.store.writes.fold()
		w.foldFailed(err)
	case pages >= w.foldAt:
		w.askFolder()
	}
}

// askFolder lets the folder fold the log. One that a reader let grow takes long, and may double meanwhile before the writer waits.
func (w *writer) askFolder() {
	w.folding, w.foldLate = true, max(foldLate*w.hooks.foldPages, 2*w.store.writes.log.pages())
	w.folder.asked <- struct{}{}
}

// foldEnded says whether the folder is done, and waits for it when the log has become too long meanwhile.
func (w *writer) foldEnded(pages int64) bool {
	if pages >= w.foldLate {
		w.folded(<-w.folder.done)
		return true
	}
	select {
	case f := <-w.folder.done:
		w.folded(f)
		return true
	default:
		return false
	}
}

// folded takes what the folder says at its end.
func (w *writer) folded(f folding) {
	w.folding = false
	if f.whole {
		w.foldTries = foldTries
	}
	w.foldAt = w.store.writes.log.pages() + w.hooks.foldPages/foldTries // where that leads to nothing, not with each group
	w.foldFailed(f.err)
	if w.cutting {
		w.cutting = false
		w.cut(f)
	}
}

func (w *writer) foldFailed(err error) {
	switch {
	case err == nil:
		return
	case w.store.writes.file.syncs.failed.Load():
		w.store.troubles.Tell("the database file could not be synced: its log is kept, and grows until the service is started anew", "error", err)
	default:
		w.store.troubles.Tell("the log could not be folded into the database", "error", err)
	}
	w.notice(err)
}
