package store

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Keeps out F21: files with recipients in them that every local user can read.
func TestFiles_AreTheOwnersAlone(t *testing.T) {
	old := syscall.Umask(0o022)
	defer syscall.Umask(old)
	o := created(t)
	s := opened(t, o)
	claimed(t, s, claimOf(1))
	if err := Backup(context.Background(), o, o.Path+".bak"); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, suffix := range []string{"", "-wal", "-shm", ".lock", ".bak"} {
		info, err := os.Stat(o.Path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v", suffix, info.Mode())
		}
		seen++
	}
	files, err := os.ReadDir(filepath.Dir(o.Path))
	if err != nil || len(files) != seen {
		t.Fatalf("%d files, %v", len(files), err)
	}
}

func TestFiles_AWarningWhenOthersCanReadThem(t *testing.T) {
	o := created(t)
	if err := os.Chmod(o.Path, 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	o.Log = slog.New(slog.NewTextHandler(&out, nil))
	opened(t, o)
	if !strings.Contains(out.String(), "chmod 600") {
		t.Fatalf("no warning in %q", out.String())
	}
}
