package store

import "testing"

func TestUnnamed_OnlyWhereTheOrderIsPlain(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT $1, $2":                      "SELECT ?, ?",
		"SELECT $1, $1":                      "SELECT $1, $1",
		"SELECT $2, $1":                      "SELECT $2, $1",
		"SELECT '$' || $1":                   "SELECT '$' || ?",
		"BEGIN IMMEDIATE":                    "BEGIN IMMEDIATE",
		"SELECT $1, $2, $3 WHERE $10 = a.$1": "SELECT $1, $2, $3 WHERE $10 = a.$1",
	} {
		if got := unnamed(query); got != want {
			t.Errorf("%s became %s, want %s", query, got, want)
		}
	}
}
