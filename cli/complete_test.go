package cli

import (
	"slices"
	"strings"
	"testing"

	"sendonce/ledger"
)

func TestComplete(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"list --state ", strings.Join(words["state"], "\n")},
		{"settle --action ", strings.Join(words["action"], "\n")},
		{"send --channel ", strings.Join(words["channel"], "\n")},
		{"list --color ", strings.Join(words["color"], "\n")},
		{"provi", "providers\tShow the providers and whether they may be used now"},
		{"get ", ""},
	} {
		r := runWith(t, nil, Service{}, "", append([]string{"__complete"}, strings.Split(tc.line, " ")...)...)
		got, directive, _ := strings.Cut(r.out, ":")
		if strings.TrimSpace(got) != tc.want || strings.TrimSpace(directive) != "4" { // no files
			t.Errorf("%q: %q, directive %q", tc.line, got, directive)
		}
	}
}

// The words are those of the ledger, so that none is missing or made up.
func TestComplete_WordsAreTheLedgers(t *testing.T) {
	same := func(name string, ledgers []string) {
		slices.Sort(ledgers)
		if got := slices.Sorted(slices.Values(words[name])); !slices.Equal(got, ledgers) {
			t.Errorf("%s: %v, want %v", name, got, ledgers)
		}
	}
	same("state", texts(ledger.States))
	same("channel", texts(ledger.Channels))
	same("delivery", texts(ledger.Deliveries))
}

func texts[T ~string](list []T) (out []string) {
	for _, v := range list {
		out = append(out, string(v))
	}
	return out
}
