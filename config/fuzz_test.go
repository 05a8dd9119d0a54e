package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// FuzzLoad reads any text as a file and as variables. It must give a configuration that can be printed, or an
// *Error that says something: a panic at the start of a service names no line.
func FuzzLoad(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join(fixtures, "*.yaml"))
	if err != nil || len(paths) == 0 {
		f.Fatalf("no seeds (%v)", err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "SHUTDOWN__DRAIN", "5s")
	}
	f.Add([]byte("a: &a [*a]\n"), "POLICIES", "[{}]")
	f.Add([]byte("<<: 5\n"), "PROVIDERS__X__TYPE", "webhook")
	f.Add([]byte("? [a]\n: b\n"), "__", "x")
	f.Fuzz(func(t *testing.T, file []byte, name, value string) {
		path := filepath.Join(t.TempDir(), "f.yaml")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(Source{File: path, FileGiven: true, Env: []string{envPrefix + name + "=" + value}})
		if err == nil {
			if err := c.Print(&bytes.Buffer{}); err != nil {
				t.Error(err)
			}
			return
		}
		var e *Error
		if !errors.As(err, &e) || len(e.Faults) == 0 || e.Error() == "" {
			t.Errorf("an error that says nothing: %v", err)
		}
	})
}
