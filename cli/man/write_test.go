package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"sendonce/cli"
)

// Every command has a page with each of its flags, and every shell its completions; what is written twice is the same.
func TestWrite_EveryCommandHasItsPage(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for _, dir := range []string{one, two} {
		if err := write(cli.Command(), dir); err != nil {
			t.Fatal(err)
		}
	}
	pages := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, inner := range c.Commands() {
			if inner.IsAvailableCommand() {
				visit(inner)
			}
		}
		pages++
		name := filepath.Join("man1", strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		text, err := os.ReadFile(filepath.Join(one, name))
		if err != nil {
			t.Error(err)
			return
		}
		if again, err := os.ReadFile(filepath.Join(two, name)); err != nil || string(again) != string(text) {
			t.Errorf("%s is not the same when it is written again: %v", name, err)
		}
		plain := strings.ReplaceAll(string(text), `\-`, "-")
		for _, want := range append([]string{c.Short}, c.Example) {
			if first, _, _ := strings.Cut(strings.TrimSpace(want), "\n"); !strings.Contains(strings.ReplaceAll(plain, `\`, ""), first) {
				t.Errorf("%s does not say %q", name, first)
			}
		}
		for _, flag := range regexp.MustCompile(`--[a-z][a-z-]*`).FindAllString(c.NonInheritedFlags().FlagUsages(), -1) {
			if !strings.Contains(plain, flag) {
				t.Errorf("%s has no %s", name, flag)
			}
		}
	}
	visit(cli.Command())
	found, err := filepath.Glob(filepath.Join(one, "man1", "*.1"))
	if err != nil || len(found) < 25 || len(found) < pages {
		t.Errorf("%d pages for %d commands, %v", len(found), pages, err)
	}
	for file, want := range map[string]string{"sendonce.bash": "__start_sendonce", "_sendonce": "#compdef sendonce", "sendonce.fish": "complete -c sendonce", "sendonce.ps1": "Register-ArgumentCompleter"} {
		text, err := os.ReadFile(filepath.Join(one, "completions", file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v", file, err)
		}
	}
}
