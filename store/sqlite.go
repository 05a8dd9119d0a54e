package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"time"

	"modernc.org/sqlite"
)

const (
	applicationID = 1397641300 // 'SNDT', as schema.sql sets it
	schemaVersion = 4          // of schema.sql
	busyWait      = "5000"     // milliseconds, for a lock of another process such as a visiting sqlite3 shell
	busyPragma    = "PRAGMA busy_timeout(" + busyWait + ")"
	pageBytes     = 4096
	maxLogBytes   = 64 << 20         // what the -wal file is cut to once its rows are in the database: above foldPages
	writerCache   = 4 << 20          // bytes of pages. SQLite looks at each of them when a page was split: more were slower
	readers       = 4                // connections
	fullCheckMax  = 64 << 20         // a larger file is checked beside the service
	checkTimeout  = 10 * time.Minute // for the check at start
)

// pragma is a setting of a connection: set is its value in the DSN, want what SQLite says when asked for it.
type pragma struct{ name, set, want string }

func writerPragmas() []pragma {
	return []pragma{
		{"busy_timeout", busyWait, busyWait},
		{"journal_mode", "wal", "wal"},
		{"synchronous", "full", "2"},
		{"foreign_keys", "1", "1"},
		{"wal_autocheckpoint", "0", "0"}, // see folder
		{"journal_size_limit", fmt.Sprint(maxLogBytes), fmt.Sprint(maxLogBytes)},
		{"cache_size", fmt.Sprint(-writerCache >> 10), fmt.Sprint(-writerCache >> 10)},
	}
}

func readerPragmas() []pragma {
	return []pragma{
		{"busy_timeout", busyWait, busyWait},
		{"query_only", "1", "1"},
	}
}

// dsn names a file for the driver. params are SQLite's own or the driver's, such as mode=ro or _txlock=immediate.
func dsn(path string, pragmas []pragma, params ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		q.Set(params[i], params[i+1])
	}
	for _, p := range pragmas {
		q.Add("_pragma", p.name+"("+p.set+")")
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}).String()
}

// connect returns a pool whose every connection was asked whether its settings hold: a PRAGMA that SQLite does not like
// changes nothing and says nothing.
func connect(path string, limit int, pragmas []pragma, params ...string) (*sql.DB, error) {
	c, err := connector(path, pragmas, params...)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(limit)
	db.SetMaxIdleConns(limit)
	return db, nil
}

// connector opens single connections with checked settings.
func connector(path string, pragmas []pragma, params ...string) (driver.Connector, error) {
	c, err := sqlite.NewConnector(dsn(path, pragmas, params...))
	if err != nil {
		return nil, err
	}
	return &checkedConnector{Connector: c, want: pragmas}, nil
}

type checkedConnector struct {
	driver.Connector
	want []pragma
}

// Connect opens a connection and refuses one whose settings are not as asked.
func (c *checkedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range c.want {
		got, err := ask(ctx, conn, p.name)
		if err == nil && got != p.want {
			err = fmt.Errorf("PRAGMA %s is %s where %s was set: the file system may lack what SQLite needs", p.name, got, p.want)
		}
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

func ask(ctx context.Context, conn driver.Conn, name string) (string, error) {
	q, ok := conn.(driver.QueryerContext)
	if !ok {
		return "", fmt.Errorf("the driver's connection is a %T", conn)
	}
	rows, err := q.QueryContext(ctx, "PRAGMA "+name, nil)
	if err != nil {
		return "", err
	}
	value := make([]driver.Value, 1)
	err = rows.Next(value)
	return fmt.Sprint(value[0]), errors.Join(err, rows.Close())
}

// setProcess chooses what holds for every SQLite file of the process, and must come before the first one is opened: locks
// that survive the close of an unrelated descriptor of the same file, and fdatasync, which is as durable as fsync and
// which SQLite uses by itself wherever it is built for Linux.
func setProcess(log *slog.Logger) {
	if _, err := sqlite.OFDLocking(true); err != nil || !sqlite.OFDLockingEnabled() {
		log.Warn("no OFD locks here: no other code of this process may open the database files", "error", err)
	}
	if _, err := sqlite.Fdatasync(true); err != nil {
		log.Debug("commits use fsync", "error", err)
	}
}

// peek looks at a file without changing a byte of it, and refuses what is no ledger or a newer one.
func peek(ctx context.Context, path string, newest int) (version int, err error) {
	db, err := connect(path, 1, nil, "mode", "ro")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var app int
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return 0, opening(err)
	}
	if app != applicationID {
		return 0, ErrForeign
	}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, opening(err)
	}
	if version > newest {
		return 0, fmt.Errorf("%w (schema %d, this one knows %d)", ErrNewer, version, newest)
	}
	return version, nil
}

// warnModes warns about files that others on this machine can read: they hold recipients and messages.
func warnModes(log *slog.Logger, path string) {
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		info, err := os.Stat(path + suffix)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			log.Warn("others can read a file of the ledger: chmod 600 it", "file", path+suffix, "mode", info.Mode().Perm().String())
		}
	}
}
