//go:build !race

package ledger_test

// raced: see race_on_test.go.
const raced = false
