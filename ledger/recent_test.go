package ledger

import (
	"fmt"
	"testing"
	"time"
)

func recentOf(i int, version int64) Notification {
	return Notification{Seq: int64(i), Source: "shop", DedupeKey: fmt.Sprintf("k%d", i), Version: version, State: StateClaimed}
}

// Keeps out a repeat that is answered with a row as it was: whoever is late never replaces a newer version.
func TestRecent_KeepsTheNewestVersion(t *testing.T) {
	var r recent
	r.made(recentOf(1, 1))
	r.moved(recentOf(1, 3))
	r.moved(recentOf(1, 2)) // the take's goroutine was slower than the close's
	_, epoch, _ := r.find("shop", "k1")
	r.read(recentOf(1, 2), epoch) // a reading that began before both
	if n, _, ok := r.find("shop", "k1"); !ok || n.Version != 3 {
		t.Fatalf("found %v, version %d; want 3", ok, n.Version)
	}
	if _, _, ok := r.find("other", "k1"); ok {
		t.Error("a row of another source was found")
	}
}

// Keeps out a count of repeats that stands still or goes back: what was written counts at once, and whoever is late with an
// older count changes nothing.
func TestRecent_CountsOnlyRise(t *testing.T) {
	var r recent
	r.made(recentOf(1, 1))
	_, before, _ := r.find("shop", "k1")
	r.counted([]Counted{{Seq: 1, Count: 5}, {Seq: 2, Count: 1}})
	old := recentOf(1, 2)
	r.moved(old)        // a write from before the count
	r.read(old, before) // and a reading
	r.counted([]Counted{{Seq: 1, Count: 4}})
	if n, _, ok := r.find("shop", "k1"); !ok || n.Duplicates != 5 || n.Version != 2 {
		t.Errorf("found %v with %d repeats and version %d; want 5 and 2", ok, n.Duplicates, n.Version)
	}
	r.moved(recentOf(2, 2)) // not kept until now, so its count may have been written long ago
	if _, _, ok := r.find("shop", "k2"); ok {
		t.Error("a row was answered whose count nobody knows")
	}
	_, during, _ := r.find("shop", "k2")
	r.counted(nil)
	r.read(recentOf(2, 2), during)
	if _, _, ok := r.find("shop", "k2"); ok {
		t.Error("a reading from before a writing was kept")
	}
	r.doubt(1)
	if _, _, ok := r.find("shop", "k1"); ok {
		t.Error("a doubted row was answered")
	}
}

func TestRecent_IsBounded(t *testing.T) {
	var r recent
	for i := range 3*maxRecent + 7 {
		r.made(recentOf(i, 1))
		r.made(recentOf(i, 2))
	}
	if len(r.rows) != maxRecent || len(r.keys) != maxRecent || len(r.ring) != maxRecent {
		t.Fatalf("%d rows, %d keys, %d in the ring; want %d each", len(r.rows), len(r.keys), len(r.ring), maxRecent)
	}
	if _, _, ok := r.find("shop", "k7"); ok {
		t.Error("the oldest row is still there")
	}
	if n, _, ok := r.find("shop", fmt.Sprintf("k%d", 3*maxRecent)); !ok || n.Version != 2 {
		t.Error("the newest row is gone")
	}
}

// Words stand for a row only while all that they were compared with is as it was, and go with it.
func TestRecent_Words(t *testing.T) {
	var r recent
	row := recentOf(1, 1)
	row.Message, row.Provider = []byte("{}"), "a"
	parts := Segments{Encoding: "GSM-7", Count: 2}
	r.asked(EventHash{1}, &row, parts) // it is not kept
	r.made(row)
	if _, _, ok := r.again(EventHash{1}); ok {
		t.Error("words of a row that was not kept")
	}
	r.asked(EventHash{1}, &row, parts)
	r.asked(EventHash{2}, &row, parts)
	row.Version = 2
	r.made(row)
	if n, s, ok := r.again(EventHash{2}); !ok || n.Version != 2 || s != parts {
		t.Errorf("found %v, version %d, %v", ok, n.Version, s)
	}
	if _, _, ok := r.again(EventHash{1}); ok || len(r.words) != 1 {
		t.Error("a row has more words than those it was asked for last")
	}
	for what, change := range map[string]func(*Notification){
		"another provider, which may cut the text otherwise": func(n *Notification) { n.Provider = "b" },
		"its content gone": func(n *Notification) { n.Message = nil },
	} {
		n := row
		change(&n)
		r.moved(n)
		if _, _, ok := r.again(EventHash{2}); ok {
			t.Errorf("a row with %s was found", what)
		}
		r.moved(row)
	}
	r.doubt(1)
	if _, _, ok := r.again(EventHash{2}); ok {
		t.Error("a doubted row was found")
	}
	for i := range 2 * maxRecent {
		n := recentOf(i+2, 1)
		r.made(n)
		r.asked(EventHash{9, byte(i), byte(i >> 8)}, &n, parts)
	}
	if len(r.words) != maxRecent {
		t.Errorf("%d words are kept for %d rows", len(r.words), maxRecent)
	}
}

// Keeps out a storm of repeats that costs as much as the messages: each is counted, a row lists its newest ones.
func TestSuppressions_CountAllAndListTheNewest(t *testing.T) {
	s := suppressions{wake: make(chan struct{}, 1)}
	const rows, each = 500, 30
	for i := range each {
		for seq := range rows {
			s.add(Suppressed{Seq: int64(seq), Caller: fmt.Sprint(i)})
		}
	}
	n := Notification{Seq: 7, Duplicates: 1}
	if s.addTo(&n); n.Duplicates != 1+each {
		t.Errorf("%d repeats shown, want %d", n.Duplicates, 1+each)
	}
	list := s.take()
	if len(list) > crowded+rows {
		t.Errorf("%d entries to write", len(list))
	}
	count := map[int64]int64{}
	newest := map[int64]string{}
	for _, e := range list {
		count[e.Seq] += e.Count
		newest[e.Seq] = e.Caller
	}
	for seq := range int64(rows) {
		if count[seq] != each || newest[seq] != fmt.Sprint(each-1) {
			t.Fatalf("row %d: %d repeats, the newest from %s", seq, count[seq], newest[seq])
		}
	}
	s.giveBack(list)
	n = Notification{Seq: 7}
	if s.addTo(&n); n.Duplicates != each {
		t.Errorf("after giving back: %d", n.Duplicates)
	}
}

// Keeps out a write that failed and makes the repeats that came meanwhile the older ones: the last of them would be forgotten first.
func TestSuppressions_WhatComesBackIsOlder(t *testing.T) {
	s := suppressions{wake: make(chan struct{}, 1)}
	first := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for i := range MaxDuplicates {
		s.add(Suppressed{Seq: 7, At: first.Add(time.Duration(i) * time.Second)})
	}
	failed := s.take()
	last := first.Add(time.Hour)
	s.add(Suppressed{Seq: 7, At: last})
	s.giveBack(failed)
	n := Notification{Seq: 7}
	if s.addTo(&n); n.Duplicates != MaxDuplicates+1 || n.DuplicateAt != last {
		t.Errorf("%d repeats, the last at %v", n.Duplicates, n.DuplicateAt)
	}
	list := s.take()
	if len(list) != MaxDuplicates || list[len(list)-1].At != last || list[0].Count != 2 {
		t.Errorf("%d entries, the first of %d, the last at %v", len(list), list[0].Count, list[len(list)-1].At)
	}
}
