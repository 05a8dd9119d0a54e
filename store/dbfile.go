package store

import (
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A sync that failed is not made good by the next one: the system takes the pages that it could not write for written, tells of it once,
// and the next sync succeeds. SQLite believes that one and begins the log anew, which alone still has those pages: folding beside the
// writer copies most of the log without a sync, and only the last part of it with one for all. So once a sync of the database file
// failed, no later one succeeds, over whatever connection of this layer, until the file was closed. The log is kept meanwhile and grows;
// what is committed stands in it, and the next start folds all of it again.
//
// Nor may anybody read those pages: SQLite looks for a page only in the part of the log that is not folded yet, and what the system drops
// from memory comes back from the disk as it was before. So the index of the log is told that nothing of it is folded. Whoever reads
// finds all in the log from then on, and whoever folds it, be it a shell that outlives the service, begins with its first page.

// database is a database file that is open through the layer.
type database struct {
	below sqlite3.Tsqlite3_io_methods // SQLite's own
	own   uintptr                     // the table of methods that the file has, in C memory
	syncs *syncs
	index uintptr // of the log, which all processes share; 0: it is not open yet
}

// syncs is what the connections to one file know of its syncs.
type syncs struct {
	path   string
	open   int // connections; the layer's lock guards it
	failed atomic.Bool
}

// openDatabase gives a database file that SQLite has just opened its own sync.
func openDatabase(tls *libc.TLS, name, file uintptr) int32 {
	d := &database{own: libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))}
	if d.own == 0 {
		return sqlite3.SQLITE_NOMEM // SQLite closes the file
	}
	methods := &at[sqlite3.Tsqlite3_file](file).FpMethods
	d.below = *at[sqlite3.Tsqlite3_io_methods](*methods)
	own := at[sqlite3.Tsqlite3_io_methods](d.own)
	*own = d.below
	own.FxSync, own.FxClose = pointer[syncMethod](syncDatabase), pointer[closeMethod](closeDatabase)
	if d.below.FxShmMap != 0 { // else there is no log on this file system
		own.FxShmMap = pointer[mapMethod](mapIndex)
	}
	watchWrites(own)
	path := libc.GoString(name)
	layer.Lock()
	defer layer.Unlock()
	if d.syncs = layer.syncs[path]; d.syncs == nil {
		d.syncs = &syncs{path: path}
		layer.syncs[path] = d.syncs
	}
	d.syncs.open++
	layer.databases[file], layer.lastDatabase = d, d
	*methods = d.own
	return sqlite3.SQLITE_OK
}

func databaseOf(file uintptr) *database {
	layer.Lock()
	defer layer.Unlock()
	return layer.databases[file]
}

func syncDatabase(tls *libc.TLS, file uintptr, flags int32) int32 {
	d := databaseOf(file)
	rc := int32(sqlite3.SQLITE_IOERR_FSYNC)
	if !d.syncs.failed.Load() {
		rc = callable[syncMethod](d.below.FxSync)(tls, file, flags)
	}
	if rc != sqlite3.SQLITE_OK {
		d.syncs.failed.Store(true)
		d.unfold()
	}
	return rc
}

// mapIndex notes where the index of the log stands.
func mapIndex(tls *libc.TLS, file uintptr, region, size, extend int32, out uintptr) int32 {
	d := databaseOf(file)
	rc := callable[mapMethod](d.below.FxShmMap)(tls, file, region, size, extend, out)
	if rc == sqlite3.SQLITE_OK && region == 0 {
		d.index = *at[uintptr](out)
	}
	return rc
}

// unfold says in the index that nothing of the log is folded. SQLite syncs the database while it holds the locks for that, those of
// folding and of reading the database without the log.
func (d *database) unfold() {
	if d.index != 0 {
		info := at[sqlite3.TWalCkptInfo](d.index + 2*unsafe.Sizeof(sqlite3.TWalIndexHdr{})) // behind two copies of the header
		atomic.StoreUint32(&info.FnBackfill, 0)
	}
}

func closeDatabase(tls *libc.TLS, file uintptr) int32 {
	layer.Lock()
	d := layer.databases[file]
	delete(layer.databases, file)
	if d.syncs.open--; d.syncs.open == 0 {
		delete(layer.syncs, d.syncs.path)
	}
	layer.Unlock()
	rc := callable[closeMethod](d.below.FxClose)(tls, file)
	libc.Xfree(tls, d.own)
	return rc
}
