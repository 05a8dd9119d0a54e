package store

import "testing"

// Keeps out arguments that go by their place in the text: SQLite numbers parameters as they appear.
func TestConnection_ArgumentsGoByTheirNumber(t *testing.T) {
	s := opened(t, created(t))
	err := s.write(1, func(t1 *tx) error {
		for query, want := range map[string][2]string{
			"SELECT $1, $2": {"a", "b"}, "SELECT $2, $1": {"b", "a"}, "SELECT $2, $2": {"b", "b"}, "SELECT $1 || $2, $1": {"ab", "a"},
		} {
			for range 2 { // prepared, and kept
				var got [2]string
				if _, err := t1.row(query, []any{"a", "b"}, &got[0], &got[1]); err != nil || got != want {
					t.Errorf("%s: %q, want %q (%v)", query, got, want, err)
				}
			}
		}
		if _, err := t1.exec("SELECT $1, $3", "a", "b"); err == nil {
			t.Error("an argument is missing, and nobody says so")
		}
		if _, err := t1.exec("SELECT $1", 1.5); err == nil {
			t.Error("an argument of no known type passes")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
