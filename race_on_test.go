//go:build race

package main

// raced says that the race detector is on: what is large for the sake of size is smaller then. `make test` runs it in full
// size without it.
const raced = true
