package fill

import (
	"testing"

	"zombiezen.com/go/sqlite"
)

// schemaOf returns every statement of a file's schema, ordered by name.
func schemaOf(t *testing.T, path string) (all string) {
	t.Helper()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	st, err := conn.Prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name")
	if err != nil {
		t.Fatal(err)
	}
	for {
		found, err := st.Step()
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			return all
		}
		all += st.ColumnText(0) + "\n"
	}
}
