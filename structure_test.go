package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// arrows says which folders of ours each folder may import.
var arrows = map[string][]string{
	".":         {"api", "cli", "config", "console", "ledger", "providers", "store"},
	"api":       {"ledger"},
	"bench":     {"bench"},
	"browser":   {},                                           // tests only
	"cli":       {"api", "cli", "config", "demo", "terminal"}, // its command writes pages
	"config":    {"ledger", "providers", "store"},
	"console":   {"ledger"},
	"crash":     {},
	"demo":      {"api", "fake", "terminal"},
	"fake":      {"fake"}, // its command
	"ledger":    {},
	"providers": {"ledger"},
	"store":     {"ledger"},
	"terminal":  {},
	"walk":      {},
}

// fences says in which folders alone a module may be imported.
var fences = map[string][]string{
	"github.com/labstack/echo": {"api", "bench"}, // bench: the ceiling of HTTP
	"github.com/knadh/koanf":   {"config"},
	"github.com/spf13/cobra":   {"cli"},
	"github.com/wneessen":      {"providers"},
	"modernc.org/sqlite":       {"store", "bench"},
	"modernc.org/libc":         {"store"},
	"zombiezen.com/go/sqlite":  {"store", "bench"},
	"github.com/jackc/pgx":     {"bench"}, // its module of peers, which has a go.mod of its own
	"github.com/riverqueue":    {"bench"},
	"database/sql":             {"store"},
	"golang.org/x/sys":         {"store"},
	"golang.org/x/term":        {"terminal"},
	"github.com/rivo/uniseg":   {"terminal"},
	"github.com/schollz":       {"terminal"},
	"golang.org/x/oauth2":      {"providers"},
	"github.com/chromedp":      {"browser"},
}

// pure are the modules that the domain may import beside the standard library.
var pure = []string{
	"github.com/google/uuid", "github.com/nyaruka/phonenumbers", "github.com/go-json-experiment/json",
	"golang.org/x/text", "golang.org/x/net/idna", "golang.org/x/time/rate",
}

// impure are the parts of the standard library that the domain may not touch.
var impure = []string{"net/http", "database/sql", "os/exec", "net", "log"}

// Keeps out an arrow the wrong way round: each import is looked up in the tables above.
func TestStructure_ImportsFollowTheArrows(t *testing.T) {
	seen := 0
	each(t, func(folder, file string, imports []string) {
		seen++
		allowed, known := arrows[folder]
		if !known {
			t.Errorf("%s: the folder %s is not in the table of arrows", file, folder)
		}
		for _, path := range imports {
			if to, ours := strings.CutPrefix(path, "sendonce/"); ours && !hasPrefix(allowed, to) {
				t.Errorf("%s imports %s, which is not an arrow of the picture", file, path)
			}
			for module, folders := range fences {
				if under(path, module) && !hasPrefix(folders, folder) {
					t.Errorf("%s imports %s, which belongs in %v", file, path, folders)
				}
			}
			if folder == "ledger" && !strings.HasPrefix(path, "sendonce/") {
				checkPure(t, file, path)
			}
		}
	})
	if seen < 30 {
		t.Fatalf("only %d files were looked at: the walk is broken", seen)
	}
}

func checkPure(t *testing.T, file, path string) {
	t.Helper()
	if strings.Contains(strings.Split(path, "/")[0], ".") {
		for _, m := range pure {
			if under(path, m) {
				return
			}
		}
		t.Errorf("%s imports %s: the domain imports no technology", file, path)
	}
	for _, p := range impure {
		if path == p {
			t.Errorf("%s imports %s: the domain imports no technology", file, path)
		}
	}
}

// each hands the imports of every file that is no test to visit, with the first folder of its path.
func each(t *testing.T, visit func(folder, file string, imports []string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		var imports []string
		for _, i := range f.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			imports = append(imports, p)
		}
		folder := "."
		if dir := filepath.ToSlash(filepath.Dir(path)); dir != "." {
			folder = strings.Split(dir, "/")[0]
		}
		visit(folder, path, imports)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func under(path, module string) bool {
	return path == module || strings.HasPrefix(path, module+"/")
}

func hasPrefix(folders []string, to string) bool {
	for _, f := range folders {
		if under(to, f) {
			return true
		}
	}
	return false
}
