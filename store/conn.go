package store

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"zombiezen.com/go/sqlite"
)

// connection is the writer's own, over a binding that is as near to SQLite as its own interface: database/sql and its driver would
// add their locks, copies and conversions to each statement of a notification. One goroutine uses it at a time.
type connection struct {
	conn  *sqlite.Conn
	stmts map[string]*statement // by text, prepared on first use
	ran   atomic.Int64          // statements so far: what a notification costs is counted by tests
	log   *gathered
	file  *database
}

// statement is a prepared statement. SQLite numbers parameters as they appear, not by the number in their name: the first one of
// "$2, $1" takes the second argument.
type statement struct {
	*sqlite.Stmt
	order []int // by parameter, which argument it takes, from 0
}

// openConnection opens the file for writing, and refuses settings that are not as asked: a PRAGMA that SQLite does not like changes
// nothing and says nothing.
func openConnection(path string) (*connection, error) {
	if err := useGathering(); err != nil {
		return nil, err
	}
	layer.opening.Lock()
	defer layer.opening.Unlock()
	conn, err := sqlite.OpenConn(dsn(path, nil, "vfs", gatheringLayer), sqlite.OpenReadWrite|sqlite.OpenURI)
	if err != nil {
		return nil, err
	}
	c := &connection{conn: conn, stmts: map[string]*statement{}}
	for _, p := range writerPragmas() {
		if err := c.set(p); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	if _, err := c.once("PRAGMA schema_version"); err != nil { // SQLite opens the log with the first read
		return nil, errors.Join(err, c.close())
	}
	if c.log, c.file = lastOpened(); c.log == nil {
		return nil, errors.Join(errors.New("SQLite opened no log"), c.close())
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

// prepare returns the statement with its arguments bound.
func (c *connection) prepare(query string, args []any) (*statement, error) {
	c.ran.Add(1)
	st := c.stmts[query]
	if st == nil {
		var err error
		if st, err = c.parse(query); err != nil {
			return nil, err
		}
		c.stmts[query] = st
	}
	for i, arg := range st.order {
		if arg >= len(args) {
			return nil, fmt.Errorf("no argument %d", arg+1)
		}
		switch v := args[arg].(type) {
		case nil:
			st.BindNull(i + 1)
		case int64:
			st.BindInt64(i+1, v)
		case int:
			st.BindInt64(i+1, int64(v))
		case string:
			st.BindText(i+1, v)
		case []byte:
			st.BindBytes(i+1, v)
		default:
			return nil, fmt.Errorf("argument %d is a %T", arg+1, v)
		}
	}
	return st, nil
}

func (c *connection) parse(query string) (*statement, error) {
	st, err := c.conn.Prepare(query)
	if err != nil {
		return nil, err
	}
	s := &statement{Stmt: st}
	for i := range st.BindParamCount() {
		arg, err := strconv.Atoi(strings.TrimPrefix(st.BindParamName(i+1), "$"))
		if err != nil || arg < 1 {
			return nil, errors.Join(fmt.Errorf("parameter %q is no $1, $2, …", st.BindParamName(i+1)), st.Finalize())
		}
		s.order = append(s.order, arg-1)
	}
	return s, nil
}

func (c *connection) exec(query string, args []any) error {
	st, err := c.prepare(query, args)
	if err != nil {
		return err
	}
	for found := true; found && err == nil; {
		found, err = st.Step()
	}
	if err != nil {
		_ = st.Reset() // it says the same again
		return err
	}
	return st.Reset()
}

func (c *connection) query(query string, args []any) (rows, error) {
	st, err := c.prepare(query, args)
	if err != nil {
		return nil, err
	}
	return &statementRows{st: st.Stmt}, nil
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
