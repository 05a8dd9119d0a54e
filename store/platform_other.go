//go:build !linux && !darwin && !freebsd

package store

import "os"

// Without a lock two processes could send the same row, so there is no ledger here.
func lockExclusive(*os.File) error { return ErrPlatform }

func links(os.FileInfo) uint64 { return 1 }

func freeSpace(string) (int64, error) { return 0, ErrPlatform }
