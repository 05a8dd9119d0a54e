package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each fault from the field, F01 to F39, stands once in docs/field-cases.md, with tests that exist, with what it waits for, or
// with the sentence of the design that makes it moot.
func TestFieldCases_EachHasItsTests(t *testing.T) {
	tests := testFunctions(t)
	design := strings.Join(strings.Fields(read(t, "docs/design.md")), " ")
	line := regexp.MustCompile(`(?m)^\| (F\d\d) \| ([^|]+) \| ([^|]+) \|$`)
	name := regexp.MustCompile("`([a-z]+)\\.(Test\\w+)`")
	moot := regexp.MustCompile(`moot: “([^”]+)”`)
	rows := line.FindAllStringSubmatch(read(t, "docs/field-cases.md"), -1)
	for i, row := range rows {
		if want := fmt.Sprintf("F%02d", i+1); row[1] != want {
			t.Fatalf("line %d of the table is %s, want %s", i+1, row[1], want)
		}
		named := name.FindAllStringSubmatch(row[3], -1)
		for _, n := range named {
			if !tests[n[1]+"."+n[2]] {
				t.Errorf("%s: there is no test %s.%s", row[1], n[1], n[2])
			}
		}
		if plain := name.ReplaceAllString(row[3], ""); strings.Contains(plain, "Test") {
			t.Errorf("%s: a test that is not written as `package.TestName` in %q", row[1], row[3])
		}
		quoted := moot.FindStringSubmatch(row[3])
		switch {
		case quoted != nil && !strings.Contains(design, quoted[1]):
			t.Errorf("%s: docs/design.md does not say %q", row[1], quoted[1])
		case len(named) == 0 && quoted == nil && !strings.Contains(row[3], "later: needs "):
			t.Errorf("%s has neither a test nor a reason", row[1])
		}
	}
	if len(rows) != 39 {
		t.Errorf("%d cases stand in the table, want 39", len(rows))
	}
}

// testFunctions finds every test function, as package.TestName.
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && isTest(f) {
				found[strings.TrimSuffix(file.Name.Name, "_test")+"."+f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 100 {
		t.Fatalf("only %d tests were found: the walk is broken", len(found))
	}
	return found
}

// isTest reports whether go test runs a function.
func isTest(f *ast.FuncDecl) bool {
	if !strings.HasPrefix(f.Name.Name, "Test") || f.Name.Name == "TestMain" || f.Type.Params.NumFields() != 1 {
		return false
	}
	pointer, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	of, ok := pointer.X.(*ast.SelectorExpr)
	return ok && of.Sel.Name == "T"
}

// F20: SQL that deletes the row that is there, and its history with it, stands nowhere in the code.
func TestFieldCases_F20_NoReplaceInAnySQL(t *testing.T) {
	pattern := regexp.MustCompile(`(?i)\b(insert|update)\s+or\s+(replace|ignore|rollback|abort|fail)\b|\breplace\s+into\b`)
	seen := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".sql") {
			return err
		}
		text, err := os.ReadFile(path)
		if found := pattern.Find(text); found != nil {
			t.Errorf("%s has %q", path, found)
		}
		seen++
		return err
	})
	if err != nil || seen < 100 {
		t.Fatalf("%d files were looked at: %v", seen, err)
	}
}
