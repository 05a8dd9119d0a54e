//go:build !race

package store

// raced: see race_on_test.go.
const raced = false
