package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"sendonce/ledger"
)

// faulty makes writes and syncs of a log fail now and then: a write leaves a part behind, as a disk does that has become full.
func faulty(t *testing.T, g *gathered, random *rand.Rand, every int) {
	below := g.below
	write := func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
		if random.IntN(every) > 0 {
			return callable[moveMethod](below.FxWrite)(tls, file, data, n, at)
		}
		if part := random.Int32N(n); part > 0 {
			callable[moveMethod](below.FxWrite)(tls, file, data, part, at)
		}
		return []int32{sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE}[random.IntN(2)]
	}
	sync := func(tls *libc.TLS, file uintptr, flags int32) int32 {
		if random.IntN(every) > 0 {
			return callable[syncMethod](below.FxSync)(tls, file, flags)
		}
		return sqlite3.SQLITE_IOERR_FSYNC
	}
	g.below.FxWrite, g.below.FxSync = pointer[moveMethod](write), pointer[syncMethod](sync)
	t.Cleanup(func() { runtime.KeepAlive(write); runtime.KeepAlive(sync) }) // C memory keeps no function alive
}

// Whatever part of a gathered log was written before an error: what was acknowledged stands, what was refused for certain does not,
// here and in a copy of the files as a killed process leaves them.
func TestLog_WritesAndSyncsThatFail(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 7))
				o := created(t)
				o.hooks.foldPages = 40 // so that the log begins anew several times
				s := opened(t, o)
				faulty(t, s.writes.log, rand.New(rand.NewPCG(seed, 8)), 9)
				stands, refused, unknown := map[int]bool{}, 0, 0
				for i := range 250 {
					claims := make([]ledger.Claim, 1+random.IntN(3))
					for j := range claims {
						claims[j] = claimOf(10*i + j)
						claims[j].Message = []byte(`"` + strings.Repeat("m", random.IntN(60_000)) + `"`)
					}
					_, err := s.Claim(claims)
					for j := range claims {
						stands[10*i+j] = err == nil
					}
					switch {
					case errors.Is(err, ledger.ErrUnknown):
						unknown++
						for j := range claims { // nobody knows until the barrier holds: then they are gone
							stands[10*i+j] = false
						}
						time.Sleep(time.Minute)
					case err != nil:
						refused++
					}
				}
				if refused == 0 || len(stands) < 250 {
					t.Fatalf("%d refused, %d unknown of %d", refused, unknown, len(stands))
				}
				killed := options(t)
				copyLedger(t, o, killed, "", "-wal", ".lock")
				for name, s := range map[string]*Store{"here": s, "a copy": opened(t, killed)} {
					for i, want := range stands {
						if _, found, err := s.Prior(t.Context(), claimOf(i)); err != nil || found != want {
							t.Errorf("%s: claim %d stands: %v, %v; acknowledged: %v", name, i, found, err, want)
						}
					}
				}
			})
		})
	}
}
