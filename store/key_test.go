package store

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sendonce/ledger"
)

// A derived key is kept as its bytes, every other as it is; the schema takes the one form only, and both are read as they were.
func TestKey_EachFormIsKeptAndFound(t *testing.T) {
	o := created(t)
	s := opened(t, o)
	db := visit(t, o)
	derived := strings.Repeat("0123456789abcdef", 4)
	for i, c := range []struct{ key, kind string }{
		{derived[:40], "blob"}, {derived, "blob"},
		{derived[:39], "text"}, {derived[:41], "text"}, {derived[:63], "text"}, {derived + "0", "text"},
		{strings.ToUpper(derived[:40]), "text"}, {strings.ToUpper(derived), "text"}, {derived[:39] + "g", "text"}, {"k" + derived[:63], "text"},
		{"order-1", "text"}, {strings.Repeat("k", 20), "text"},
	} {
		claim := claimOf(i)
		claim.DedupeKey = c.key
		n := claimed(t, s, claim)[0]
		var kind, shown string
		if err := db.QueryRow("SELECT typeof(dedupe_key) FROM notifications WHERE seq = $1", n.Seq).Scan(&kind); err != nil || kind != c.kind {
			t.Errorf("%q is kept as %s (%v), want %s", c.key, kind, err, c.kind)
		}
		if err := db.QueryRow("SELECT dedupe_key FROM readable WHERE event_id = $1", n.EventID).Scan(&shown); err != nil || shown != c.key {
			t.Errorf("a person sees %q (%v), want %q", shown, err, c.key)
		}
		if found := priorOf(t, s, claim); found.Seq != n.Seq || found.DedupeKey != c.key {
			t.Errorf("under %q stands row %d with key %q", c.key, found.Seq, found.DedupeKey)
		}
		second := claimOf(100 + i)
		second.DedupeKey = c.key
		again, err := s.Claim([]ledger.Claim{second})
		if err != nil || !again[0].Duplicate || again[0].Seq != n.Seq {
			t.Errorf("%q again: %+v, %v", c.key, again, err)
		}
	}
}

// No two keys have one form in the file, and each comes back from it.
func TestKey_TheFormIsTheKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.OneOf(
			rapid.StringMatching(`[0-9a-f]{40}`), rapid.StringMatching(`[0-9a-f]{64}`), rapid.StringMatching(`[0-9a-fA-Fg]{39,41}`),
			rapid.StringMatching(`[!-~]{1,128}`),
		).Draw(t, "key")
		var back string
		if err := (toKey{&back}).Scan(keyOf(key)); err != nil || back != key {
			t.Fatalf("%q comes back as %q (%v)", key, back, err)
		}
	})
}
