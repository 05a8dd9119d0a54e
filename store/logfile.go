package store

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite writes each page of a commit into the log by two system calls, the page's header and the page: of what a notification costs
// the writer they were an eighth. The writer's connection opens its log through a layer (a VFS) that gathers what is written one
// behind the other and hands it over at the commit's sync, so before any other connection can know of it, or when anything else is
// asked of the file. What is gathered is lost with the process, as pages are that were not written yet: nobody was answered. All else
// is SQLite's own layer for this system.
//
// Between two transactions nothing is gathered: a commit hands it over, a close drops it, and whoever rolls back has to call forget.
// What came into the file later would stand where another program, a visiting sqlite3 shell, has written meanwhile.

const (
	gatheringLayer = "sendonce" // name of the VFS
	gatherBytes    = 120 << 10  // what is gathered at most; SQLite writes less than 128 KiB in one call
)

// gathered is a log that is open for writing. SQLite calls it from one goroutine at a time.
type gathered struct {
	below  sqlite3.Tsqlite3_io_methods // SQLite's own
	own    uintptr                     // the table of methods that the file has, in C memory
	buffer uintptr                     // of gatherBytes, in C memory
	filled int32
	from   int64        // offset in the file of the first byte gathered
	end    atomic.Int64 // offset behind what was written last
}

// pages is how many pages stand in the log since it last began anew.
func (g *gathered) pages() int64 { return g.end.Load() / pageBytes }

// layer is the registered VFS.
var layer struct {
	sync.Mutex
	ready bool
	below uintptr               // SQLite's own
	logs  map[uintptr]*gathered // by the file's handle
	last  *gathered             // the one opened last

	databases    map[uintptr]*database
	lastDatabase *database
	syncs        map[string]*syncs // by the database's path

	opening sync.Mutex // held while a connection opens, so that it finds its own files as the last ones
}

// The signatures of the methods.
type (
	openMethod  = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	moveMethod  = func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 // read, write
	sizeMethod  = func(tls *libc.TLS, file uintptr, n int64) int32                 // truncate
	askMethod   = func(tls *libc.TLS, file, out uintptr) int32                     // size
	syncMethod  = func(tls *libc.TLS, file uintptr, flags int32) int32
	mapMethod   = func(tls *libc.TLS, file uintptr, region, size, extend int32, out uintptr) int32 // shared memory
	closeMethod = func(tls *libc.TLS, file uintptr) int32
)

// pointer makes a function callable for SQLite; callable is the way back.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f F }{f})) }

func callable[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&struct{ p uintptr }{p})) }

// at is the memory of SQLite at an address.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// useGathering registers the layer, once in a process.
func useGathering() error {
	layer.Lock()
	defer layer.Unlock()
	if layer.ready {
		return nil
	}
	tls := libc.NewTLS() // never closed: the layer lasts as long as the process
	layer.below = sqlite3.Xsqlite3_vfs_find(tls, 0)
	name, err := libc.CString(gatheringLayer)
	if err != nil || layer.below == 0 {
		return fmt.Errorf("no layer for files: %w", err)
	}
	own := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	if own == 0 {
		return fmt.Errorf("no memory for the layer of files")
	}
	vfs := at[sqlite3.Tsqlite3_vfs](own)
	*vfs = *at[sqlite3.Tsqlite3_vfs](layer.below)
	vfs.FpNext, vfs.FzName, vfs.FxOpen = 0, name, pointer[openMethod](gatherOpen)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, own, 0); rc != sqlite3.SQLITE_OK {
		return fmt.Errorf("registering the layer of files: code %d", rc)
	}
	layer.logs, layer.databases, layer.syncs = map[uintptr]*gathered{}, map[uintptr]*database{}, map[string]*syncs{}
	layer.ready = true
	return nil
}

func gatherOpen(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
	below := layer.below
	rc := callable[openMethod](at[sqlite3.Tsqlite3_vfs](below).FxOpen)(tls, below, name, file, flags, out)
	switch {
	case rc != sqlite3.SQLITE_OK:
		return rc
	case flags&sqlite3.SQLITE_OPEN_MAIN_DB != 0:
		return openDatabase(tls, name, file)
	case flags&sqlite3.SQLITE_OPEN_WAL == 0:
		return rc
	}
	g := &gathered{
		own:    libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{}))),
		buffer: libc.Xmalloc(tls, gatherBytes),
	}
	if g.own == 0 || g.buffer == 0 {
		libc.Xfree(tls, g.own)
		libc.Xfree(tls, g.buffer)
		return sqlite3.SQLITE_NOMEM // SQLite closes the file
	}
	methods := &at[sqlite3.Tsqlite3_file](file).FpMethods
	g.below = *at[sqlite3.Tsqlite3_io_methods](*methods)
	own := at[sqlite3.Tsqlite3_io_methods](g.own)
	*own = g.below
	own.FxWrite, own.FxRead = pointer[moveMethod](gatherWrite), pointer[moveMethod](gatherRead)
	own.FxSync, own.FxTruncate = pointer[syncMethod](gatherSync), pointer[sizeMethod](gatherTruncate)
	own.FxFileSize, own.FxClose = pointer[askMethod](gatherSize), pointer[closeMethod](gatherClose)
	layer.Lock()
	layer.logs[file], layer.last = g, g
	layer.Unlock()
	*methods = g.own
	return rc
}

// lastOpened is the log that was opened last, and its database, told once.
func lastOpened() (*gathered, *database) {
	layer.Lock()
	defer layer.Unlock()
	g, d := layer.last, layer.lastDatabase
	layer.last, layer.lastDatabase = nil, nil
	return g, d
}

func logOf(file uintptr) *gathered {
	layer.Lock()
	defer layer.Unlock()
	return layer.logs[file]
}

// forget drops what a transaction gathered that was rolled back.
func (g *gathered) forget() { g.filled = 0 }

// hand writes what was gathered. What could not be written is dropped: SQLite hears of it, and rolls back.
func (g *gathered) hand(tls *libc.TLS, file uintptr) int32 {
	n := g.filled
	if n == 0 {
		return sqlite3.SQLITE_OK
	}
	g.filled = 0
	return callable[moveMethod](g.below.FxWrite)(tls, file, g.buffer, n, g.from)
}

func gatherWrite(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	g := logOf(file)
	g.end.Store(offset + int64(n))
	if g.filled > 0 && (offset != g.from+int64(g.filled) || g.filled+n > gatherBytes) {
		if rc := g.hand(tls, file); rc != sqlite3.SQLITE_OK {
			return rc
		}
	}
	if n > gatherBytes {
		return callable[moveMethod](g.below.FxWrite)(tls, file, data, n, offset)
	}
	if g.filled == 0 {
		g.from = offset
	}
	libc.Xmemcpy(tls, g.buffer+uintptr(g.filled), data, libc.Tsize_t(n))
	g.filled += n
	return sqlite3.SQLITE_OK
}

func gatherRead(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	g := logOf(file)
	if rc := g.hand(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return callable[moveMethod](g.below.FxRead)(tls, file, data, n, offset)
}

func gatherSync(tls *libc.TLS, file uintptr, flags int32) int32 {
	g := logOf(file)
	if rc := g.hand(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return callable[syncMethod](g.below.FxSync)(tls, file, flags)
}

func gatherTruncate(tls *libc.TLS, file uintptr, n int64) int32 {
	g := logOf(file)
	if rc := g.hand(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return callable[sizeMethod](g.below.FxTruncate)(tls, file, n)
}

func gatherSize(tls *libc.TLS, file, out uintptr) int32 {
	g := logOf(file)
	if rc := g.hand(tls, file); rc != sqlite3.SQLITE_OK {
		return rc
	}
	return callable[askMethod](g.below.FxFileSize)(tls, file, out)
}

// gatherClose drops what is gathered: it belongs to a transaction that did not end, and SQLite has given up its locks already.
func gatherClose(tls *libc.TLS, file uintptr) int32 {
	g := logOf(file)
	layer.Lock()
	delete(layer.logs, file)
	layer.Unlock()
	rc := callable[closeMethod](g.below.FxClose)(tls, file)
	libc.Xfree(tls, g.own)
	libc.Xfree(tls, g.buffer)
	return rc
}
