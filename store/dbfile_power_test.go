package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"sendonce/ledger"
)

// drive is what of a file has reached the disk, as Linux does it: what is written comes to the disk with the next sync or earlier, a sync
// that fails is told once, and what it was for is taken for written all the same.
type drive struct {
	mu      sync.Mutex
	random  *rand.Rand
	bad     bool // about every third sync fails
	failed  int
	content []byte
	waits   []piece
}

type piece struct {
	at   int64
	data []byte
}

func (d *drive) store(p piece) {
	if end := p.at + int64(len(p.data)); end > int64(len(d.content)) {
		d.content = append(d.content, make([]byte, end-int64(len(d.content)))...)
	}
	copy(d.content[p.at:], p.data)
}

// image is what is there after a power cut: of what was not synced any part may be.
func (d *drive) image() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	cut := &drive{content: append([]byte{}, d.content...)}
	for _, p := range d.waits {
		if d.random.IntN(2) == 0 {
			cut.store(p)
		}
	}
	return cut.content
}

// watch puts the drive under a file.
func (d *drive) watch(t *testing.T, own, below *sqlite3.Tsqlite3_io_methods) {
	lower := *below
	write := func(tls *libc.TLS, file, data uintptr, n int32, offset int64) int32 {
		d.mu.Lock()
		d.waits = append(d.waits, piece{offset, append([]byte{}, unsafe.Slice(at[byte](data), n)...)})
		d.mu.Unlock()
		return callable[moveMethod](lower.FxWrite)(tls, file, data, n, offset)
	}
	syncs := func(tls *libc.TLS, file uintptr, flags int32) int32 {
		d.mu.Lock()
		defer d.mu.Unlock()
		waits := d.waits
		d.waits = nil
		if d.bad && d.random.IntN(3) == 0 {
			d.failed++
			return sqlite3.SQLITE_IOERR_FSYNC
		}
		for _, p := range waits {
			d.store(p)
		}
		return callable[syncMethod](lower.FxSync)(tls, file, flags)
	}
	truncate := func(tls *libc.TLS, file uintptr, n int64) int32 {
		d.mu.Lock()
		d.content = d.content[:min(n, int64(len(d.content)))]
		d.mu.Unlock()
		return callable[sizeMethod](lower.FxTruncate)(tls, file, n)
	}
	for _, m := range []*sqlite3.Tsqlite3_io_methods{own, below} {
		if m.FxWrite == lower.FxWrite {
			m.FxWrite = pointer[moveMethod](write)
		}
		if m.FxTruncate == lower.FxTruncate {
			m.FxTruncate = pointer[sizeMethod](truncate)
		}
	}
	below.FxSync = pointer[syncMethod](syncs)
	t.Cleanup(func() { runtime.KeepAlive(write); runtime.KeepAlive(syncs); runtime.KeepAlive(truncate) }) // C memory keeps no function alive
}

// Keeps out a log that begins anew after the database's second sync succeeded: pages that the first one, which failed, was for may be
// nowhere then. Whatever the folder, the writer and the disk do, a power cut finds what was acknowledged.
func TestPower_SyncsOfTheDatabaseThatFailAndThenSucceed(t *testing.T) {
	failed := 0
	for seed := range uint64(2) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { failed += powerCuts(t, seed) })
		})
	}
	if failed == 0 {
		t.Error("no sync failed: the test proves nothing")
	}
}

func powerCuts(t *testing.T, seed uint64) (failed int) {
	random := rand.New(rand.NewPCG(seed, 11))
	o := created(t)
	o.hooks.foldPages = 40 // so that the log begins anew many times
	s := opened(t, o)
	data, log := &drive{random: rand.New(rand.NewPCG(seed, 12))}, &drive{random: rand.New(rand.NewPCG(seed, 13))}
	for path, d := range map[string]*drive{o.Path: data, o.Path + "-wal": log} {
		content, err := os.ReadFile(path)
		must(err)
		d.content = content
	}
	for _, c := range []*connection{s.writes, s.folds} {
		data.watch(t, at[sqlite3.Tsqlite3_io_methods](c.file.own), &c.file.below)
		log.watch(t, at[sqlite3.Tsqlite3_io_methods](c.log.own), &c.log.below)
	}
	var all []int
	for i := range 200 {
		data.mu.Lock()
		data.bad = i/50%2 == 1
		data.mu.Unlock()
		c := claimOf(i)
		c.Message = []byte(`"` + strings.Repeat("m", random.IntN(30_000)) + `"`)
		if _, err := s.Claim([]ledger.Claim{c}); err != nil {
			t.Fatalf("claim %d: %v", i, err)
		}
		all = append(all, i)
		if i%40 == 39 {
			time.Sleep(2 * tidyEvery) // the writer folds too
		}
		if i%50 == 49 {
			afterCut(t, o, data, log, all)
		}
	}
	if err := s.Shutdown(); err != nil && data.failed == 0 {
		t.Error(err)
	}
	if info, err := os.Stat(o.Path + "-wal"); data.failed > 0 && (err != nil || info.Size() == 0) {
		t.Errorf("%d syncs failed, and the end of the service took the log along: %v", data.failed, err)
	}
	again := opened(t, o) // folds from the beginning
	if busy, err := again.writer.checkpoint(); busy || err != nil {
		t.Errorf("the next start does not fold it: %v, %v", busy, err)
	}
	return data.failed
}

// afterCut opens what a power cut leaves, and demands all claims.
func afterCut(t *testing.T, o Options, data, log *drive, all []int) {
	t.Helper()
	cut := options(t)
	copyLedger(t, o, cut, ".lock")
	logged := log.image() // first: what is folded meanwhile stands in both
	must(errors.Join(os.WriteFile(cut.Path, data.image(), 0o600), os.WriteFile(cut.Path+"-wal", logged, 0o600)))
	s, err := Open(cut)
	if err != nil {
		t.Fatalf("after a power cut behind %d claims: %v", len(all), err)
	}
	for _, i := range all {
		if _, found, err := s.Prior(t.Context(), claimOf(i)); err != nil || !found {
			t.Fatalf("after a power cut behind %d claims claim %d is there: %v, %v", len(all), i, found, err)
		}
	}
	must(s.Shutdown())
}
