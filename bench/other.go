//go:build !linux

// Package main is the benchmark command; it measures on Linux only.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench: needs Linux: CPU time and memory of the processes are read from /proc")
	os.Exit(2)
}
