package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
)

// connection is the writer's own, used through the driver's interface: database/sql would add its locks, copies and
// conversions to each of the seven statements of a notification. One goroutine uses it at a time.
type connection struct {
	conn  driver.Conn
	stmts map[string]*statement // by text, prepared on first use
}

// statement is a prepared statement with room for its arguments.
type statement struct {
	driver.Stmt
	args []driver.NamedValue
}

// openConnection opens the file for writing.
func openConnection(ctx context.Context, path string) (*connection, error) {
	c, err := connector(path, writerPragmas(), "_txlock", "immediate")
	if err != nil {
		return nil, err
	}
	conn, err := c.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &connection{conn: conn, stmts: map[string]*statement{}}, nil
}

func (c *connection) close() error {
	var errs []error
	for _, st := range c.stmts {
		errs = append(errs, st.Close())
	}
	return errors.Join(append(errs, c.conn.Close())...)
}

// prepare returns the statement with its arguments bound.
func (c *connection) prepare(query string, args []any) (*statement, error) {
	st, ok := c.stmts[query]
	if !ok {
		prepared, err := c.conn.Prepare(unnamed(query))
		if err != nil {
			return nil, err
		}
		st = &statement{Stmt: prepared}
		c.stmts[query] = st
	}
	st.args = st.args[:0]
	for i, v := range args {
		if !driver.IsValue(v) {
			var err error
			if v, err = driver.DefaultParameterConverter.ConvertValue(v); err != nil {
				return nil, fmt.Errorf("argument %d: %w", i+1, err)
			}
		}
		st.args = append(st.args, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return st, nil
}

var parameter = regexp.MustCompile(`\$\d+`)

// unnamed writes $1, $2, ... as plain question marks where they stand in order and once each: the driver asks SQLite for the
// name of each parameter that has one, at each call.
func unnamed(query string) string {
	n := 0
	inOrder := true
	plain := parameter.ReplaceAllStringFunc(query, func(name string) string {
		n++
		inOrder = inOrder && name == "$"+strconv.Itoa(n)
		return "?"
	})
	if !inOrder {
		return query
	}
	return plain
}

func (c *connection) exec(ctx context.Context, query string, args []any) (driver.Result, error) {
	st, err := c.prepare(query, args)
	if err != nil {
		return nil, err
	}
	e, ok := st.Stmt.(driver.StmtExecContext)
	if !ok {
		return nil, fmt.Errorf("the driver's statement is a %T", st.Stmt)
	}
	return e.ExecContext(ctx, st.args)
}

func (c *connection) query(ctx context.Context, query string, args []any) (rows, error) {
	st, err := c.prepare(query, args)
	if err != nil {
		return nil, err
	}
	q, ok := st.Stmt.(driver.StmtQueryContext)
	if !ok {
		return nil, fmt.Errorf("the driver's statement is a %T", st.Stmt)
	}
	r, err := q.QueryContext(ctx, st.args)
	if err != nil {
		return nil, err
	}
	return &driverRows{rows: r, values: make([]driver.Value, len(r.Columns()))}, nil
}

// rows is what reading takes: *sql.Rows, or the writer's.
type rows interface {
	Next() bool
	Scan(targets ...any) error
	Err() error
	Close() error
}

// driverRows are rows of the writer's connection.
type driverRows struct {
	rows   driver.Rows
	values []driver.Value
	err    error
}

// Next implements rows.
func (r *driverRows) Next() bool {
	if r.err != nil {
		return false
	}
	if err := r.rows.Next(r.values); err != nil {
		r.err = err
		return false
	}
	return true
}

// Scan implements rows.
func (r *driverRows) Scan(targets ...any) error {
	if len(targets) != len(r.values) {
		return fmt.Errorf("%d columns for %d targets", len(r.values), len(targets))
	}
	for i, target := range targets {
		var err error
		switch t := target.(type) {
		case sql.Scanner:
			err = t.Scan(r.values[i])
		case *string:
			err = toText[string]{t}.Scan(r.values[i])
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
func (r *driverRows) Err() error {
	if r.err == io.EOF {
		return nil
	}
	return r.err
}

// Close implements rows.
func (r *driverRows) Close() error { return r.rows.Close() }
