//go:build race

package ledger_test

const underRace = true // everything takes ten times as long
