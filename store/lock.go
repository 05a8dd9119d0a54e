package store

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"strings"

	"github.com/google/uuid"
)

// The lock file, DATABASE.lock, is locked by the process that has the ledger open, and remembers which ledger stands here.
// It is text that a person can read, in lines of lineSize bytes:
//
//	a sentence for people
//	ledger ID generation N crc32 C   two of them, written in turn
//	ledger ID generation N crc32 C
//	restoring ID crc32 C             while a restored ledger waits to be accepted; else blank
//
// It is never replaced by a rename, since the lock is on the file itself, and never cut: each line is overwritten in place
// and synced. A line that a crash tore fails its sum, and the other one is at most one step behind, which is no fault. Should
// both be lost, the ledger counts as restored: it opens, and a person decides.
const (
	lineSize   = 512 // the unit that a disk writes whole
	lockLines  = 4
	lockHeader = "sendonce: do not delete, copy or restore this file; it tells the ledger beside it from an old copy"
)

// mark is what the lock file remembers of a ledger.
type mark struct {
	id         uuid.UUID
	generation int64
}

type lockFile struct {
	f         *os.File
	last      mark      // the newest line that is whole
	known     bool      // last means something
	written   bool      // the file has something in it, whole or torn
	restoring uuid.UUID // zero: none
	next      int       // line to overwrite next: 1 or 2
}

// openLock opens and locks the file, making it when it does not exist. ErrLocked, ErrPlatform.
func openLock(path string) (*lockFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock file: %w", err)
	}
	l := &lockFile{f: f, next: 1}
	if err := lockExclusive(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := l.read(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return l, nil
}

// close unlocks. The file stays: without it the ledger would count as restored.
func (l *lockFile) close() error { return l.f.Close() }

func (l *lockFile) read() error {
	b := make([]byte, lineSize*lockLines)
	n, err := l.f.ReadAt(b, 0)
	if n == 0 && err != nil {
		if info, serr := l.f.Stat(); serr == nil && info.Size() == 0 {
			return nil
		}
		return fmt.Errorf("lock file: %w", err)
	}
	l.written = true
	for i := 1; i <= 2; i++ {
		m, ok := parseMark(line(b, i))
		if ok && (!l.known || m.generation > l.last.generation) {
			l.last, l.known, l.next = m, true, 3-i
		}
	}
	l.restoring = parseRestoring(line(b, 3))
	return nil
}

func line(b []byte, i int) string {
	return strings.TrimRight(string(b[i*lineSize:(i+1)*lineSize]), " \n\x00")
}

// remember writes how far the ledger has come, over the older line.
func (l *lockFile) remember(m mark) error {
	if !l.written {
		if err := l.put(0, lockHeader); err != nil {
			return err
		}
	}
	if err := l.put(l.next, formatMark(m)); err != nil {
		return err
	}
	l.last, l.known, l.next = m, true, 3-l.next
	return nil
}

// become forgets what stood here before and writes the ledger that does now.
func (l *lockFile) become(m mark) error {
	if err := l.remember(m); err != nil {
		return err
	}
	if err := l.remember(m); err != nil {
		return err
	}
	return l.restore(uuid.Nil)
}

// restore notes which restoring waits to be accepted; the zero id clears it.
func (l *lockFile) restore(id uuid.UUID) error {
	s := ""
	if id != uuid.Nil {
		s = formatRestoring(id)
	}
	if err := l.put(3, s); err != nil {
		return err
	}
	l.restoring = id
	return nil
}

func (l *lockFile) put(i int, s string) error {
	b := []byte(fmt.Sprintf("%-*s\n", lineSize-1, s))
	if _, err := l.f.WriteAt(b, int64(i)*lineSize); err != nil {
		return fmt.Errorf("lock file: %w", err)
	}
	if err := l.f.Sync(); err != nil {
		return fmt.Errorf("lock file: %w", err)
	}
	l.written = true
	return nil
}

func formatMark(m mark) string {
	return summed(fmt.Sprintf("ledger %s generation %d", m.id, m.generation))
}

func formatRestoring(id uuid.UUID) string { return summed("restoring " + id.String()) }

func summed(s string) string {
	return fmt.Sprintf("%s crc32 %08x", s, crc32.ChecksumIEEE([]byte(s)))
}

// whole returns a line without its sum, when the sum is right.
func whole(s string) (string, bool) {
	body, _, found := strings.Cut(s, " crc32 ")
	return body, found && summed(body) == s
}

func parseMark(s string) (mark, bool) {
	body, ok := whole(s)
	if !ok {
		return mark{}, false
	}
	var id string
	var m mark
	if _, err := fmt.Sscanf(body, "ledger %s generation %d", &id, &m.generation); err != nil {
		return mark{}, false
	}
	var err error
	m.id, err = uuid.Parse(id)
	return m, err == nil && formatMark(m) == s
}

func parseRestoring(s string) uuid.UUID {
	body, ok := whole(s)
	id, err := uuid.Parse(strings.TrimPrefix(body, "restoring "))
	if !ok || err != nil || formatRestoring(id) != s {
		return uuid.Nil
	}
	return id
}

// there reports whether something stands at a path.
func there(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
