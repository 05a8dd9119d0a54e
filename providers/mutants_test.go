package providers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// An adapter that forgets a case must not cause a second message, nor call one sent that is not. So every case and every
// condition of the functions that read answers is forgotten once, and all answers of testdata are read again: what may have been
// sent stays ambiguous, a yes becomes ambiguous at worst, and a no never becomes a yes. The mutants are compiled together, in a
// copy that replaces the files for one build; mutants_inner_test.go runs them there. The same with receipts: without any one of the
// conditions that verify and read them, what was not signed makes no receipt.
func TestMutants_AForgottenCaseEndsAmbiguous(t *testing.T) {
	dir := t.TempDir()
	m := mutator{files: token.NewFileSet()}
	overlay := map[string]map[string]string{"Replace": {}}
	add := func(name string, text []byte) {
		t.Helper()
		original, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		overlay["Replace"][original] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	answers, err := filepath.Glob("*_answer.go")
	if err != nil {
		t.Fatal(err)
	}
	receipts, err := filepath.Glob("*_receipt.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(receipts, "receipt.go", "signature.go", "twilio_signature.go") {
		add(name, m.mutate(t, name))
	}
	m.receipts = len(m.mutants)
	for _, name := range append(answers, "classify.go", "codes.go", "vonage_sms.go", "vonage_messages.go", "webhook.go", "smtp_codes.go") {
		add(name, m.mutate(t, name))
	}
	if m.receipts < 30 || len(m.mutants)-m.receipts < 60 {
		t.Fatalf("only %d mutants: the search for them is broken", len(m.mutants))
	}
	const live = "package providers\n\nvar forgotten = -1\n\nfunc live(n int) bool { return n != forgotten }\n\nvar mutants = %#v\n\nconst receiptMutants = %d\n"
	add("mutants_live.go", fmt.Appendf(nil, live, m.mutants, m.receipts))
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, text, 0o644); err != nil {
		t.Fatal(err)
	}
	inner := exec.Command("go", "test", "-overlay", list, "-tags", "mutants", "-vet=off", "-count=1", "-v", "-run", "^TestForgotten", ".")
	out, err := inner.CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	t.Logf("%s", out)
}

// mutator rewrites files so that each condition can be forgotten by its number.
type mutator struct {
	files   *token.FileSet
	mutants []string // where, and what is forgotten

	receipts int // the first of them are about receipts
}

// mutate returns a file with every case and condition of its functions that say what an answer means made forgettable.
func (m *mutator) mutate(t *testing.T, name string) []byte {
	t.Helper()
	file, err := parser.ParseFile(m.files, name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && f.Name.Name != "Send" && m.judges(f) {
			if aboutReceipts(name) {
				ast.Inspect(f.Body, m.drop)
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.IfStmt:
					n.Cond = m.forgettable(n.Cond)
				case *ast.SwitchStmt:
					m.cases(n)
				}
				return true
			})
		}
	}
	return []byte(m.text(file))
}

// judges reports whether a function says what became of a message.
func (m *mutator) judges(f *ast.FuncDecl) bool {
	if f.Type.Results == nil {
		return false
	}
	if aboutReceipts(m.files.Position(f.Pos()).Filename) {
		return true
	}
	for _, r := range f.Type.Results.List {
		switch m.text(r.Type) {
		case "ledger.Result", "ledger.Outcome", "ledger.Fault":
			return true
		}
	}
	return false
}

// aboutReceipts reports whether a file verifies or reads receipts.
func aboutReceipts(name string) bool {
	return strings.HasSuffix(name, "receipt.go") || strings.HasSuffix(name, "signature.go")
}

// dropped begins the name of a mutant that takes a part of a condition as given, in place of forgetting the whole.
const dropped = "dropped: "

// drop makes each part of what has to hold together droppable.
func (m *mutator) drop(n ast.Node) bool {
	if b, ok := n.(*ast.BinaryExpr); ok && b.Op == token.LAND {
		b.X, b.Y = m.droppable(b.X), m.droppable(b.Y)
	}
	return true
}

func (m *mutator) droppable(part ast.Expr) ast.Expr {
	if b, ok := part.(*ast.BinaryExpr); ok && b.Op == token.LAND {
		return part // its own parts are
	}
	at := m.files.Position(part.Pos())
	m.mutants = append(m.mutants, fmt.Sprintf("%s%s:%d %s", dropped, at.Filename, at.Line, m.text(part)))
	live := &ast.CallExpr{Fun: ast.NewIdent("live"), Args: []ast.Expr{&ast.BasicLit{Kind: token.INT, Value: itoa(len(m.mutants) - 1)}}}
	return &ast.ParenExpr{X: &ast.BinaryExpr{X: &ast.UnaryExpr{Op: token.NOT, X: live}, Op: token.LOR, Y: &ast.ParenExpr{X: part}}}
}

// cases makes each clause but the default forgettable. A switch over a value becomes one over conditions.
func (m *mutator) cases(s *ast.SwitchStmt) {
	tag := s.Tag
	s.Tag = nil
	for _, clause := range s.Body.List {
		c := clause.(*ast.CaseClause)
		var any ast.Expr
		for _, e := range c.List {
			if tag != nil {
				e = &ast.BinaryExpr{X: tag, Op: token.EQL, Y: e}
			}
			if any == nil {
				any = e
			} else {
				any = &ast.BinaryExpr{X: any, Op: token.LOR, Y: e}
			}
		}
		if any != nil {
			c.List = []ast.Expr{m.forgettable(any)}
		}
	}
}

// forgettable is a condition that does not hold while it is the one that is forgotten.
func (m *mutator) forgettable(cond ast.Expr) ast.Expr {
	at := m.files.Position(cond.Pos())
	if !at.IsValid() { // made by cases
		ast.Inspect(cond, func(n ast.Node) bool {
			if n != nil && !at.IsValid() && n.Pos().IsValid() {
				at = m.files.Position(n.Pos())
			}
			return true
		})
	}
	m.mutants = append(m.mutants, fmt.Sprintf("%s:%d %s", at.Filename, at.Line, m.text(cond)))
	live := &ast.CallExpr{Fun: ast.NewIdent("live"), Args: []ast.Expr{&ast.BasicLit{Kind: token.INT, Value: itoa(len(m.mutants) - 1)}}}
	return &ast.BinaryExpr{X: &ast.ParenExpr{X: cond}, Op: token.LAND, Y: live} // in this order: a condition may read the body
}

func (m *mutator) text(node any) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, m.files, node); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}
