package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Keeps out a second backup to the same name, by a timer that fires too early, whose unmarked or empty draft the first one gives the name
// of a copy, or takes away.
func TestBackup_TwoToTheSameName(t *testing.T) {
	o := created(t)
	to := filepath.Join(t.TempDir(), "copy.db")
	draft := Draft(to)
	first, err := newDraft(draft)
	must(err)
	must(copyInto(t.Context(), o.Path, draft))
	second, err := newDraft(draft)
	must(err)
	for _, err := range []error{nil, errors.New("the disk is full")} {
		wantErr(t, finish(err, draft, first, to), ErrBeside)
		if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the draft of the second backup has the name of a copy: %v", err)
		}
	}
	must(copyInto(t.Context(), o.Path, draft))
	must(markCopy(t.Context(), draft))
	must(finish(nil, draft, second, to))
	if _, err := os.Stat(to); err != nil {
		t.Error(err)
	}
	must(errors.Join(first.Close(), second.Close()))
}
