package providers

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sendonce/ledger"
)

// marks are what a record has to have in it to be taken for a row's message: an answer in which it does not stand is no proof,
// whatever else it says.
func (k finderKit) marks(s ledger.Search) [][]byte {
	if k.name == "twilio" || k.name == "resend" { // by content
		return [][]byte{[]byte("424242")}
	}
	return [][]byte{[]byte(s.ID), []byte(strings.ReplaceAll(s.ID, "-", ""))}
}

// No answer to a look-up is misread into a proof: each byte of each fixture is changed once, and what is found then still has the
// mark of the row in the very record.
func TestFind_AChangedByteProvesNothingElse(t *testing.T) {
	eachFinder(t, func(t *testing.T, k finderKit) {
		paths, err := filepath.Glob("../testdata/lookups/" + k.name + "/found_*.http")
		if err != nil || len(paths) == 0 {
			t.Fatalf("no fixtures: %v", err)
		}
		found, lost := 0, 0
		for _, path := range paths[:min(len(paths), 3)] {
			raw, _ := readLookUp(t, path)
			for n := range raw {
				for i := 0; i < len(raw[n]); i += 1 + len(raw[n])/400 {
					changed := slices.Clone(raw)
					changed[n] = bytes.Clone(raw[n])
					changed[n][i] ^= 1
					l, err := k.look(t, &answers{raw: changed})
					if err != nil {
						lost++
						continue
					}
					found += k.checkFound(t, l)
				}
			}
		}
		if found == 0 || lost == 0 {
			t.Errorf("%d found, %d without an answer: nothing was tried", found, lost)
		}
	})
}

// checkFound holds each record that was found against the row that it is said to be of.
func (k finderKit) checkFound(t *testing.T, l ledger.LookedUp) (count int) {
	t.Helper()
	for row, list := range l.Found {
		for _, f := range list {
			count++
			if f.MessageID == "" || messageID(f.MessageID) != f.MessageID || f.Number < 0 {
				t.Errorf("found %+v", f)
			}
			if len(f.Body) < ledger.MaxAnswerBytes && !slices.ContainsFunc(k.marks(k.searches[row]), func(mark []byte) bool { return bytes.Contains(f.Body, mark) }) {
				t.Errorf("row %d is found in %s", row+1, f.Body)
			}
		}
	}
	return count
}

// FuzzFind feeds answers to every adapter that looks messages up.
func FuzzFind(f *testing.F) {
	paths, err := filepath.Glob("../testdata/lookups/*/*.http")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no fixtures: %v", err)
	}
	for _, path := range paths {
		raw, _ := readLookUp(f, path)
		f.Add(raw[0], raw[len(raw)-1])
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for _, k := range finders(t) {
			a := &answers{raw: [][]byte{first, second}}
			if l, err := k.look(t, a); err == nil {
				k.checkFound(t, l)
			}
		}
	})
}
