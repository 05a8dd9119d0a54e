// Command man writes the manual pages and the shells' completions of sendonce into a folder: man1 for pages, completions for the rest.
// It is a program of its own, so that what writes them is not in the binary.
package main

import (
	"fmt"
	"os"

	"sendonce/cli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./cli/man FOLDER")
		os.Exit(2)
	}
	if err := write(cli.Command(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
