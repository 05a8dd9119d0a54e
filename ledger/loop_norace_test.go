//go:build !race

package ledger_test

const underRace = false
