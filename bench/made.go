//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sendonce/bench/fill"
)

// size is how large a ledger is.
type size struct {
	rows   int64
	erased bool // all of them
}

// emptySize stands for an empty ledger: there has to be something to read.
const emptySize = 10_000

// String is the size as people write it: 10M, 30M-erased.
func (s size) String() string {
	text := strconv.FormatInt(s.rows, 10)
	switch {
	case s.rows == emptySize && !s.erased:
		return "empty"
	case s.rows%1e6 == 0:
		text = strconv.FormatInt(s.rows/1e6, 10) + "M"
	case s.rows%1e3 == 0:
		text = strconv.FormatInt(s.rows/1e3, 10) + "k"
	}
	if s.erased {
		text += "-erased"
	}
	return text
}

// parseSize reads what String prints.
func parseSize(text string) (s size, err error) {
	number, erased := strings.CutSuffix(text, "-erased")
	factor := int64(1)
	if n, ok := strings.CutSuffix(number, "M"); ok {
		number, factor = n, 1e6
	} else if n, ok := strings.CutSuffix(number, "k"); ok {
		number, factor = n, 1e3
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n < 1 || n*factor > 1e9 {
		return s, fmt.Errorf("size %q is none: 1M, 500k or 30M-erased", text)
	}
	return size{rows: n * factor, erased: erased}, nil
}

// made is a ledger that stands in the folder of made ones.
type made struct {
	size
	path string
	from int64 // when its first row was claimed, Unix milliseconds
}

// ledgerOf returns the ledger of a size, made now or by an earlier run for the same schema and the same generator.
func (b *bench) ledgerOf(ctx context.Context, s size) (m made, err error) {
	m = made{size: s}
	sum := sha256.Sum256([]byte(b.schema + fill.Version))
	name := filepath.Join(b.ledgers, s.String()+"-"+hex.EncodeToString(sum[:4])+"-")
	if found, _ := filepath.Glob(name + "*.db"); len(found) > 0 {
		m.path = found[0]
		m.from, err = strconv.ParseInt(strings.TrimSuffix(strings.TrimPrefix(m.path, name), ".db"), 10, 64)
		return m, err
	}
	if err := os.MkdirAll(b.ledgers, 0o700); err != nil {
		return m, err
	}
	in, err := b.house("127.0.0.1:1")
	if err != nil {
		return m, err
	}
	defer in.end()
	if err := b.initLedger(ctx, in); err != nil {
		return m, err
	}
	progress("make a ledger of %s rows", s)
	start := time.Now()
	if m.from, err = fill.Ledger(ctx, in.database, s.rows, s.erased); err != nil {
		return m, fmt.Errorf("make a ledger of %s rows: %w", s, err)
	}
	m.path = name + strconv.FormatInt(m.from, 10) + ".db"
	for _, suffix := range []string{".lock", ""} { // the ledger last: with it the pair is whole
		if err := moveFile(m.path+suffix, in.database+suffix); err != nil {
			return m, err
		}
	}
	progress("  %s bytes a row, %s", count(float64(fileSize(m.path))/float64(s.rows)), time.Since(start).Round(time.Second))
	return m, nil
}

// moveFile renames, or copies where the two are on different disks.
func moveFile(to, from string) error {
	if err := os.Rename(from, to); !errors.Is(err, syscall.EXDEV) {
		return err
	}
	return copyFile(to, from)
}

// copyFile copies a file and waits until it is on the disk. Where the file system can, it shares the blocks.
func copyFile(to, from string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Sync()
}

// forget asks the kernel to keep nothing of a file in memory, as after a start of the machine.
func forget(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	const dontNeed = 4 // POSIX_FADV_DONTNEED
	if _, _, errno := syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// warm reads a file once, so that the cells find it in memory as far as it fits.
func warm(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return err
}
