//go:build race

package store

// raced says that the race detector is on: SQLite in Go is ten times slower then, so tests that are large for the sake of
// size are smaller. `make test` runs them in full size without it.
const raced = true
