package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sendonce/ledger"
)

const fixtures = "../testdata/config"

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(fixtures, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixture matches %s (%v)", pattern, err)
	}
	return paths
}

func mustLoad(t *testing.T, s Source) Config {
	t.Helper()
	c, err := Load(s)
	if err != nil {
		t.Fatalf("load:\n%v", err)
	}
	return c
}

// faultsOf loads what must not load and returns its faults, one a line.
func faultsOf(t *testing.T, s Source) string {
	t.Helper()
	_, err := Load(s)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *Error", err)
	}
	return e.Error()
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad_Working(t *testing.T) {
	for _, path := range append(glob(t, "working_*.yaml"), filepath.Join(fixtures, "example.yaml")) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			mustLoad(t, Source{File: path, FileGiven: true})
		})
	}
}

// Each busted file says in its first lines which faults there are, in the order in which they are reported.
func TestLoad_Busted(t *testing.T) {
	for _, path := range glob(t, "busted_*.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for line := range strings.Lines(string(text)) {
				fault, ok := strings.CutPrefix(line, "# ")
				if !ok {
					break
				}
				want = append(want, strings.ReplaceAll(strings.TrimSpace(fault), "{types}", typeNames))
			}
			got := faultsOf(t, Source{File: path, FileGiven: true})
			got = strings.ReplaceAll(strings.ReplaceAll(got, path+": ", ""), path+":", "")
			if got != strings.Join(want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
			}
		})
	}
}

func TestLoad_ZeroConfiguration(t *testing.T) {
	c := mustLoad(t, Source{File: filepath.Join(t.TempDir(), DefaultFile)})
	if c.Listen != "127.0.0.1:8484" || c.Database != "sendonce.db" || c.Real() {
		t.Errorf("listen %s, database %s, real %v", c.Listen, c.Database, c.Real())
	}
	for _, name := range ledger.Channels {
		if got := c.Channels[name].Providers; !reflect.DeepEqual(got, []string{"log"}) {
			t.Errorf("%s: providers %v, want log", name, got)
		}
	}
	if len(c.Channels[ledger.SMS].Retry) != 5 || len(c.Channels[ledger.Webhook].Retry) != 6 {
		t.Error("the ladders are not those of the design")
	}
}

// Some providers sign the address that they asked for, and clients ask for a host in lower case.
func TestPublicURL_IsWrittenAsItIsAskedFor(t *testing.T) {
	for given, want := range map[string]string{
		"HTTPS://Notify.Example.test/Send/Once/": "https://notify.example.test/Send/Once", "https://NOTIFY.example.test:8443": "https://notify.example.test:8443",
	} {
		if got := plainOrigin(strings.TrimRight(given, "/")); got != want {
			t.Errorf("%s is %s, want %s", given, got, want)
		}
	}
}
