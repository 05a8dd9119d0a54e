//go:build !crashpoints

package store

import sqlite3 "modernc.org/sqlite/lib"

const foldPages = 8000 // pages in the log from which on it is folded into the database: 32 MB

// watchWrites is for tests that end the process while the log is folded; here it does nothing.
func watchWrites(*sqlite3.Tsqlite3_io_methods) {}
