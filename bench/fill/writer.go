package fill

import (
	"fmt"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// writer has one statement for each table.
type writer struct {
	tables []table
	stmts  []*sqlite.Stmt
	row    row
}

func newWriter(conn *sqlite.Conn, tables []table) (*writer, error) {
	binary, err := sqlitex.ResultBool(conn.Prep(isBinary))
	if err != nil {
		return nil, err
	}
	w := &writer{tables: tables, row: row{binaryKey: binary}}
	for _, t := range tables {
		var names, places []string
		for i, c := range t.columns {
			names, places = append(names, c.name), append(places, "?"+strconv.Itoa(i+1))
		}
		st, err := conn.Prepare("INSERT INTO " + t.name + " (" + strings.Join(names, ", ") + ") VALUES (" + strings.Join(places, ", ") + ")")
		if err != nil {
			return nil, err
		}
		w.stmts = append(w.stmts, st)
	}
	return w, nil
}

// write inserts rows first to last.
func (w *writer) write(first, last, from int64) error {
	for n := first; n <= last; n++ {
		w.row.set(n, from)
		if err := w.insert(); err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
	}
	return nil
}

// insert writes the row as it is set.
func (w *writer) insert() error {
	for i, t := range w.tables {
		st := w.stmts[i]
		for k, c := range t.columns {
			switch v := c.value(&w.row).(type) {
			case int64:
				st.BindInt64(k+1, v)
			case string:
				st.BindText(k+1, v)
			case []byte:
				st.BindBytes(k+1, v)
			}
		}
		if _, err := st.Step(); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		if err := st.Reset(); err != nil {
			return err
		}
	}
	return nil
}

// Claims writes rows as a claim leaves them, on a connection of the caller's.
type Claims struct {
	w *writer
	n int64 // of the last row
}

// NewClaims prepares the statements of a claim. The messages are shorter than those of a made ledger: as long as those of
// the load that the rows are compared with.
func NewClaims(conn *sqlite.Conn) (*Claims, error) {
	w, err := newWriter(conn, claimed)
	if err != nil {
		return nil, err
	}
	w.row.short = true
	return &Claims{w: w}, nil
}

// Insert writes one more claim, made at the given time in Unix milliseconds.
func (c *Claims) Insert(at int64) error {
	c.n++
	c.w.row.set(c.n, at-(c.n-1)*Spacing.Milliseconds())
	return c.w.insert()
}
