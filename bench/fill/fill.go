package fill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
)

// Version changes with what the rows look like, so that nobody takes an older file for a new one.
const Version = "1"

// grown is the share of rows that go in before the indexes are built. The rest finds full pages and splits them, so that in
// the end the pages are as loose as those of a ledger that grew claim by claim; from sorted keys alone they would all be
// full, and the first claims after it would pay for splitting them.
const grown = 0.75

// cacheKiB holds the indexes while they are grown.
const cacheKiB = 3 << 20

// Ledger writes rows 1 to n into the ledger at path, which has just been created and which nobody has open; with old, all but
// the newest one are erased already. It returns when the first row was claimed, in Unix milliseconds. A run that ends early
// leaves a file that is good for nothing.
func Ledger(ctx context.Context, path string, n int64, old bool) (from int64, err error) {
	from = time.Now().UnixMilli() - n*Spacing.Milliseconds()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.SetInterrupt(ctx.Done())
	for _, pragma := range []string{"journal_mode = off", "synchronous = off", "locking_mode = exclusive", fmt.Sprintf("cache_size = -%d", cacheKiB)} {
		if err := run(conn, "PRAGMA "+pragma); err != nil {
			return 0, err
		}
	}
	indexes, triggers, err := takeAway(conn)
	if err != nil {
		return 0, err
	}
	if err := run(conn, "BEGIN"); err != nil {
		return 0, err
	}
	w, err := newWriter(conn, full)
	if err != nil {
		return 0, err
	}
	most, last := w, n
	if old {
		if most, err = newWriter(conn, erased); err != nil {
			return 0, err
		}
		last = n - 1
	}
	before := int64(float64(last) * grown)
	if err := most.write(1, before, from); err != nil {
		return 0, err
	}
	for _, query := range indexes {
		if err := run(conn, query); err != nil {
			return 0, err
		}
	}
	if err := most.write(before+1, last, from); err != nil {
		return 0, err
	}
	if err := w.write(last+1, n, from); err != nil {
		return 0, err
	}
	ending := append(triggers, counting(countFull, n, w.row.sent))
	if old {
		ending = append(triggers, counting(countFull, 1, w.row.sent), counting(countErased, last, 0))
	}
	for _, query := range append(ending, "COMMIT") {
		if err := run(conn, query); err != nil {
			return 0, err
		}
	}
	return from, sync(path)
}

// counting fills in a statement of the counts.
func counting(query string, rows, newest int64) string {
	return strings.NewReplacer("$1", strconv.FormatInt(rows, 10), "$2", strconv.FormatInt(newest, 10)).Replace(query)
}

// takeAway drops indexes and triggers and returns the statements that make them.
func takeAway(conn *sqlite.Conn) (indexes, triggers []string, err error) {
	var drop []string
	st, _, err := conn.PrepareTransient("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('index', 'trigger') ORDER BY rowid")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, st.Finalize()) }()
	for {
		found, err := st.Step()
		if err != nil {
			return nil, nil, err
		}
		if !found {
			break
		}
		kind, name, text := st.ColumnText(0), st.ColumnText(1), st.ColumnText(2)
		drop = append(drop, "DROP "+kind+" "+name)
		if kind == "index" {
			indexes = append(indexes, text)
		} else {
			triggers = append(triggers, text)
		}
	}
	for _, query := range drop {
		if err := run(conn, query); err != nil {
			return nil, nil, err
		}
	}
	return indexes, triggers, nil
}

func run(conn *sqlite.Conn, query string) error {
	st, rest, err := conn.PrepareTransient(query)
	if err != nil {
		return fmt.Errorf("%.60s: %w", query, err)
	}
	if rest != 0 {
		return errors.Join(fmt.Errorf("%.60s: more than one statement", query), st.Finalize())
	}
	for found := true; found && err == nil; {
		found, err = st.Step()
	}
	if err = errors.Join(err, st.Finalize()); err != nil {
		return fmt.Errorf("%.60s: %w", query, err)
	}
	return nil
}

func sync(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
