//go:build crashpoints

package store

import (
	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"sendonce/ledger"
)

const foldPages = 300 // few, so that a test with some hundred events sees the log folded

// watchWrites ends the process, when it is told to, between two pages that go from the log to the database: nothing else is written
// there.
func watchWrites(methods *sqlite3.Tsqlite3_io_methods) {
	methods.FxWrite = pointer[moveMethod](reachWrite)
}

func reachWrite(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
	ledger.Reach(ledger.PointFolding)
	return callable[moveMethod](databaseOf(file).below.FxWrite)(tls, file, data, n, offset)
}
