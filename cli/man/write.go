package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// write writes a page for each command, and a file for each shell, named as the shell looks for it.
func write(root *cobra.Command, folder string) error {
	pages, completions := filepath.Join(folder, "man1"), filepath.Join(folder, "completions")
	for _, dir := range []string{pages, completions} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	root.DisableAutoGenTag = true // the same commands make the same pages
	date := time.Date(2026, time.November, 30, 0, 0, 0, 0, time.UTC)
	if err := doc.GenManTree(root, &doc.GenManHeader{Title: "SENDONCE", Section: "1", Source: "sendonce", Manual: "sendonce", Date: &date}, pages); err != nil {
		return err
	}
	for name, generate := range map[string]func(string) error{
		"sendonce.bash": func(file string) error { return root.GenBashCompletionFileV2(file, true) },
		"_sendonce":     root.GenZshCompletionFile,
		"sendonce.fish": func(file string) error { return root.GenFishCompletionFile(file, true) },
		"sendonce.ps1":  root.GenPowerShellCompletionFileWithDesc,
	} {
		if err := generate(filepath.Join(completions, name)); err != nil {
			return err
		}
	}
	return nil
}
