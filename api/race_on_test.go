//go:build race

package api

// raced says that the race detector is on: it allocates too, so what allocates is not counted then. `make test` counts without it.
const raced = true
