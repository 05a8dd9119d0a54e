package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"zombiezen.com/go/sqlite"
)

// connection is the writer's own. database/sql, and the driver below it, would add their locks, copies and conversions to each
// statement of a notification. One goroutine uses it at a time.
type connection struct {
	conn *sqlite.Conn
}

// openConnection opens the file for writing, and refuses settings that are not as asked: a PRAGMA that SQLite does not like changes
// nothing and says nothing.
func openConnection(_ context.Context, path string) (*connection, error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	c := &connection{conn: conn}
	for _, p := range writerPragmas() {
		if err := c.set(p); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

func (c *connection) set(p pragma) error {
	if _, err := c.once("PRAGMA " + p.name + "(" + p.set + ")"); err != nil {
		return err
	}
	got, err := c.once("PRAGMA " + p.name)
	if err == nil && got != p.want {
		err = fmt.Errorf("PRAGMA %s is %s where %s was set: the file system may lack what SQLite needs", p.name, got, p.want)
	}
	return err
}

// once runs a statement that is not kept and returns the text of its first column.
func (c *connection) once(query string) (value string, err error) {
	st, _, err := c.conn.PrepareTransient(query)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, st.Finalize()) }()
	for {
		found, err := st.Step()
		if err != nil || !found {
			return value, err
		}
		value = st.ColumnText(0)
	}
}

func (c *connection) close() error { return c.conn.Close() }

// prepare returns the statement, which is kept, with its arguments bound.
func (c *connection) prepare(query string, args []any) (*sqlite.Stmt, error) {
	st, err := c.conn.Prepare(query)
	if err != nil {
		return nil, err
	}
	for i, v := range args {
		switch v := v.(type) {
		case nil: // as it is
		case int64:
			st.BindInt64(i+1, v)
		case int:
			st.BindInt64(i+1, int64(v))
		case string:
			st.BindText(i+1, v)
		case []byte:
			st.BindBytes(i+1, v)
		default:
			return nil, fmt.Errorf("argument %d is a %T", i+1, v)
		}
	}
	return st, nil
}

func (c *connection) exec(query string, args []any) error {
	st, err := c.prepare(query, args)
	if err != nil {
		return err
	}
	for found := true; found && err == nil; {
		found, err = st.Step()
	}
	return errors.Join(err, st.Reset())
}

func (c *connection) query(query string, args []any) (rows, error) {
	st, err := c.prepare(query, args)
	if err != nil {
		return nil, err
	}
	return &statementRows{st: st}, nil
}

// rows is what reading takes: *sql.Rows, or the writer's.
type rows interface {
	Next() bool
	Scan(targets ...any) error
	Err() error
	Close() error
}

// statementRows are rows of the writer's connection.
type statementRows struct {
	st  *sqlite.Stmt
	err error
}

// Next implements rows.
func (r *statementRows) Next() bool {
	if r.err != nil {
		return false
	}
	found, err := r.st.Step()
	r.err = err
	return found
}

func (r *statementRows) value(i int) driver.Value {
	switch r.st.ColumnType(i) {
	case sqlite.TypeInteger:
		return r.st.ColumnInt64(i)
	case sqlite.TypeText:
		return r.st.ColumnText(i)
	case sqlite.TypeBlob:
		b := make([]byte, r.st.ColumnLen(i))
		r.st.ColumnBytes(i, b)
		return b
	case sqlite.TypeFloat:
		return r.st.ColumnFloat(i)
	}
	return nil
}

// Scan implements rows.
func (r *statementRows) Scan(targets ...any) error {
	if n := r.st.ColumnCount(); len(targets) != n {
		return fmt.Errorf("%d columns for %d targets", n, len(targets))
	}
	for i, target := range targets {
		var err error
		v := r.value(i)
		switch t := target.(type) {
		case sql.Scanner:
			err = t.Scan(v)
		case *string:
			err = toText[string]{t}.Scan(v)
		default:
			err = fmt.Errorf("column %d has a %T as target", i+1, target)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Err implements rows.
func (r *statementRows) Err() error { return r.err }

// Close implements rows.
func (r *statementRows) Close() error { return r.st.Reset() }

var _ = regexp.MustCompile
var _ = strconv.Itoa
