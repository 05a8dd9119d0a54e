//go:build linux || darwin || freebsd

package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// lockExclusive locks an open file until it is closed or the process ends. ErrLocked: somebody else has it.
func lockExclusive(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	if err != nil {
		return fmt.Errorf("lock file: %w", err)
	}
	return nil
}

// links is how many names a file has; 1 where that is not known.
func links(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// freeSpace is how many bytes an ordinary process may still write to the file system of a folder.
func freeSpace(folder string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, fmt.Errorf("free space: %w", err)
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
