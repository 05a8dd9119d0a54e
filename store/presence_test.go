package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sendonce/ledger"
)

// Keeps out claims that are acknowledged into a file which somebody removed or replaced under the running service.
func TestPresence_ALedgerThatIsTakenAwayTakesNoClaims(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			_ = os.Rename(path, path+".old")
			return os.WriteFile(path, []byte("x"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := created(t)
			s := opened(t, o)
			claimed(t, s, claimOf(1))
			must(take(o.Path))
			s.presence.looked = time.Time{} // the next look is due
			_, err := s.Claim([]ledger.Claim{claimOf(2)})
			wantErr(t, err, ledger.ErrUnavailable)
			wantErr(t, s.Condition().Err, ErrMissing)
		})
	}
}

// Keeps out claims that are acknowledged into a log which somebody removed under the running service, as "what the database left over":
// they would end with the process. The end of the service brings home what was acknowledged before.
func TestPresence_ALogThatIsTakenAwayTakesNoClaims(t *testing.T) {
	for _, suffix := range []string{"-wal", "-shm"} {
		t.Run(suffix, func(t *testing.T) {
			o := created(t)
			s := opened(t, o)
			claimed(t, s, claimOf(1))
			must(os.Remove(o.Path + suffix))
			s.presence.looked = time.Time{} // the next look is due
			_, err := s.Claim([]ledger.Claim{claimOf(2)})
			wantErr(t, err, ledger.ErrUnavailable)
			wantErr(t, s.Condition().Err, errLogGone)
			must(s.Shutdown())
			again := opened(t, o)
			priorOf(t, again, claimOf(1))
			if _, found, err := again.Prior(t.Context(), claimOf(2)); found || err != nil {
				t.Error(found, err)
			}
		})
	}
}

// Keeps out two services on one file under two names: each would have a log of its own.
func TestOpen_RefusesASecondHardLink(t *testing.T) {
	o := created(t)
	other := filepath.Join(t.TempDir(), "other.db")
	if err := os.Link(o.Path, other); err != nil {
		t.Skipf("SKIPPED: no hard links here: %v", err)
	}
	_, err := Open(o)
	wantErr(t, err, ErrLinked)
	must(os.Remove(other))
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	must(s.Shutdown())
}
