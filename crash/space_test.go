package crash

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"sendonce/fake"
)

const (
	diskSize = 16 << 20
	low      = 2 << 20 // left free: under the reserve of 4 MiB
)

// smallDisk moves a ledger to a disk of its own. It needs root.
func smallDisk(t *testing.T) setting {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16m"); err != nil {
		t.Skipf("NOT TESTED: a small file system can't be mounted (%v); run the tests as root", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return setting{"DATABASE", filepath.Join(dir, "sendonce.db")}
}

// fill leaves so many bytes free on the ledger's disk; 0 leaves nothing.
func fill(t *testing.T, p *place, left int64) {
	t.Helper()
	f, err := os.Create(filepath.Join(filepath.Dir(p.database), "filler"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	block := make([]byte, 4096)
	for {
		var fs syscall.Statfs_t
		if err := syscall.Statfs(filepath.Dir(p.database), &fs); err != nil {
			t.Fatal(err)
		}
		if int64(fs.Bavail)*fs.Bsize <= left {
			return
		}
		if _, err := f.Write(block); err != nil {
			return // full
		}
	}
}

// free gives the space back.
func free(t *testing.T, p *place) {
	t.Helper()
	if err := os.Remove(filepath.Join(filepath.Dir(p.database), "filler")); err != nil {
		t.Fatal(err)
	}
}

// Keeps out a full disk that loses what came back from the provider: claims stop while there is still room to close
// what runs, and when there is none at all, the close is kept until there is.
func TestSpace_FullDisk(t *testing.T) {
	ctx := context.Background()
	release := make(chan struct{})
	p := newPlace(t, fake.Options{WellBehaved: true, OnRequest: func(r fake.Request) {
		if r.Token == "tok_runs" {
			<-release
		}
	}}, smallDisk(t), setting{"reserve: 1MiB", "reserve: 4MiB"})
	s := p.start()
	p.send(s, "evt-1", "tok_1")
	told := make(chan answer, 1)
	go func() {
		a, _ := s.api.post(ctx, smsBody("evt-runs", "+14155550101", "tok_runs"), 25*time.Second)
		told <- a
	}()
	eventually(t, "the request is at the provider", func() bool { return p.fake.Requests() == 2 })

	fill(t, p, low)
	eventually(t, "the service notices", func() bool { return !s.api.ready(ctx) })
	a, err := s.api.post(ctx, smsBody("evt-2", "+14155550102", "tok_2"), 0)
	if err != nil || a.Status != 503 || a.Code != "storage_low" {
		t.Errorf("a claim with little space: status %d %s: %v", a.Status, a.Code, err)
	}
	if a, err := s.api.post(ctx, smsBody("evt-1", "+14155550101", "tok_1"), 0); err != nil || a.Status != 200 || a.State != "sent" {
		t.Errorf("a repeat with little space: status %d %s: %v", a.Status, a.Code, err)
	}
	close(release)
	if a := <-told; a.State != "sent" {
		t.Errorf("the send that ran is %s %s, status %d", a.State, a.Reason, a.Status)
	}
	free(t, p)
	eventually(t, "the service notices", func() bool { return s.api.ready(ctx) })
	if a := p.send(s, "evt-2", "tok_2"); a.State != "sent" {
		t.Errorf("with space again: %s %s", a.State, a.Reason)
	}
	s.stop(patience)
	p.check()
}

// Keeps out a close that is given up, or a row sent again, because not one byte could be written.
func TestSpace_NoByteLeft(t *testing.T) {
	ctx := context.Background()
	release := make(chan struct{})
	p := newPlace(t, fake.Options{WellBehaved: true, OnRequest: func(fake.Request) { <-release }},
		smallDisk(t), setting{"reserve: 1MiB", "reserve: 4MiB"})
	s := p.start()
	a, err := s.api.post(ctx, smsBody("evt-runs", "+14155550101", "tok_runs"), 0)
	if err != nil || a.Status != 202 {
		t.Fatalf("status %d %s: %v", a.Status, a.Code, err)
	}
	eventually(t, "the request is at the provider", func() bool { return p.fake.Requests() == 1 })
	fill(t, p, 0)
	close(release)
	eventually(t, "the close fails", func() bool { return s.log.has("close is not written yet") })
	if n, err := s.api.get(ctx, a.ID); err != nil || n.State != "sending" {
		t.Errorf("while it can't be written the row is %q: %v", n.State, err)
	}
	free(t, p)
	s.idle()
	expectStates(t, s, map[string]int{"sent": 1})
	p.received("tok_runs", 1)
	s.stop(patience)
	p.check()
}
