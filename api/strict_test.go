package api

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// spot is one value of a valid body, with the places of its text.
type spot struct {
	path        string // as an answer names it; "body" for the whole
	kind        jsontext.Kind
	name, value [2]int // name is empty for items of arrays
	free        bool   // an object whose member names are the caller's own
}

// spots finds every value of a body.
func spots(t *testing.T, body string) []spot {
	t.Helper()
	d := jsontext.NewDecoder(strings.NewReader(body))
	var out []spot
	var walk func(path string, name [2]int)
	walk = func(path string, name [2]int) {
		i := len(out)
		out = append(out, spot{path: path, kind: d.PeekKind(), name: name, free: freeParts[path]})
		switch out[i].kind {
		case '{', '[':
			if _, err := d.ReadToken(); err != nil {
				t.Fatal(err)
			}
			out[i].value[0] = int(d.InputOffset()) - 1
			for n := 0; d.PeekKind() != '}' && d.PeekKind() != ']'; n++ {
				if out[i].kind == '[' {
					walk(path+"["+strconv.Itoa(n)+"]", [2]int{})
					continue
				}
				member, err := d.ReadValue()
				if err != nil {
					t.Fatal(err)
				}
				end := int(d.InputOffset())
				walk(strings.TrimPrefix(path+"."+strings.Trim(string(member), `"`), "body."), [2]int{end - len(member), end})
			}
			if _, err := d.ReadToken(); err != nil {
				t.Fatal(err)
			}
		default:
			v, err := d.ReadValue()
			if err != nil {
				t.Fatal(err)
			}
			out[i].value[0] = int(d.InputOffset()) - len(v)
		}
		out[i].value[1] = int(d.InputOffset())
	}
	walk("body", [2]int{})
	return out
}

// fault is a body that must be refused, and the field that the refusal must name.
type fault struct{ what, field, body string }

// faultsOf makes every faulty form of a valid body that can be made by changing one place.
func faultsOf(t *testing.T, body string) []fault {
	var out []fault
	add := func(what, field string, from, to int, text string) {
		out = append(out, fault{what, field, body[:from] + text + body[to:]})
	}
	all := spots(t, body)
	inFree := func(s spot) bool {
		for path := range freeParts {
			if strings.HasPrefix(s.path, path+".") || strings.HasPrefix(s.path, path+"[") {
				return true
			}
		}
		return false
	}
	for _, s := range all {
		free, start, end := inFree(s), s.value[0], s.value[1]
		if s.name[1] > 0 {
			member, parent := body[s.name[0]:end], strings.TrimSuffix(s.path, body[s.name[0]+1:s.name[1]-1])
			add("given twice", s.path, end, end, ","+member)
			add("NUL in a name", parent+"\ufffd", s.name[0], s.name[1], `"\u0000"`)
			if s.path != "notifications" { // there it is an unknown field
				add("invalid UTF-8 in a name", or(strings.TrimSuffix(parent, "."), "body"), s.name[0], s.name[1], "\"\xff\"")
			}
			if !free {
				name := body[s.name[0]+1 : s.name[1]-1]
				for what, other := range map[string]string{
					"wrong case": strings.ToUpper(name[:1]) + name[1:], "folds with U+017F": strings.Replace(name, "s", "\u017f", 1),
					"folds with U+212A": strings.Replace(name, "k", "\u212a", 1), "a blank behind": name + " ",
				} {
					if other != name {
						add(what, parent+other, s.name[0]+1, s.name[1]-1, other)
					}
				}
				for _, other := range []string{`"x"`, `7`, `true`, `{"a":1}`, `[1]`} {
					kind := jsontext.Value(other).Kind()
					boolean := kind == 't' && s.kind == 'f'
					if kind != s.kind && !boolean && !strings.HasSuffix(s.path, ".data") {
						add(other+" as value", s.path, start, end, other)
					}
				}
			}
		}
		switch s.kind {
		case '"':
			add("invalid UTF-8", s.path, start, end, "\"a\xff\"")
			add("lone surrogate", s.path, start, end, `"a\ud800"`)
			add("lone low surrogate", s.path, start, end, `"\udc00a"`)
			add("escaped NUL", s.path, start, end, `"a\u0000b"`)
			add("raw NUL", s.path, start, end, "\"a\x00b\"")
			add("raw line feed", s.path, start, end, "\"a\nb\"")
		case '{':
			if !s.free && !free {
				add("unknown field", strings.TrimPrefix(s.path+".zz", "body."), end-1, end, `,"zz":1}`)
				if !strings.HasSuffix(s.path, "message") { // there the ledger names the message
					add("empty name", strings.TrimPrefix(s.path+`.""`, "body."), end-1, end, `,"":1}`)
				}
			}
		}
	}
	return out
}

// wholeFaults are bodies that are no request of any route.
var wholeFaults = []fault{
	{"empty", "body", ""}, {"blank", "body", " \n"}, {"null", "body", "null"}, {"array", "body", "[{}]"}, {"string", "body", `"x"`},
	{"number", "body", "1"}, {"no JSON", "body", "event_id=evt_1"}, {"byte order mark", "body", "\ufeff{}"}, {"single quotes", "body", "{'a':1}"},
	{"cut", "body", "{"}, {"comment", "body", "{/* */}"}, {"trailing comma", "body", "{,}"},
}

// One table of faults for every route that reads a body: two readers of the same bytes must never see
// different requests, and what was refused has changed nothing. (F31, F32, F09)
func TestStrict_EveryRoute(t *testing.T) {
	s := newStub()
	s.matched = 2
	base := serve(t, s, Settings{})
	for _, r := range New(s, Settings{}, quiet()).echo.Routes() {
		valid, hasBody := bodies[r.Method+" "+r.Path]
		if !hasBody {
			continue
		}
		list := append(faultsOf(t, valid), wholeFaults...)
		list = append(list, fault{"trailing object", "body", valid + "{}"}, fault{"trailing word", "body", valid + " x"},
			fault{"trailing NUL", "body", valid + "\x00"})
		for _, f := range list {
			got := do(t, r.Method, urlOf(base, r.Path), f.body, "Content-Type: application/json", `If-Match: "3"`)
			p := refusedProblem(t, got)
			if p.Code != codeInvalid || len(p.Errors) == 0 {
				t.Errorf("%s %s, %s at %s: %d %s", r.Method, r.Path, f.what, f.field, got.status, got.body)
				continue
			}
			if got := p.Errors[0].Field; got != f.field {
				t.Errorf("%s %s, %s: field %q, want %q", r.Method, r.Path, f.what, got, f.field)
			}
			if p.Errors[0].Detail == "" {
				t.Errorf("%s %s, %s: nothing says what is right", r.Method, r.Path, f.what)
			}
		}
		if n := s.seen(); n != 0 {
			t.Fatalf("%s %s: %d refused requests changed something", r.Method, r.Path, n)
		}
		// The valid body passes, so that each refusal above was about its one fault.
		if got := do(t, r.Method, urlOf(base, r.Path), valid, `If-Match: "3"`); got.status >= 300 || s.seen() != 1 {
			t.Errorf("%s %s: the valid body: %d, %d calls: %s", r.Method, r.Path, got.status, s.seen(), got.body)
		}
		s.calls = 0
	}
}

// refusedProblem is the problem of an answer, or of the one item of a batch.
func refusedProblem(t *testing.T, a answer) Problem {
	t.Helper()
	if a.status != http.StatusOK {
		return a.problem(t)
	}
	var b BatchAnswer
	if err := decode(bytes.TrimSpace(a.body), &b); err != nil || len(b.Results) != 1 || b.Results[0].Problem == nil {
		return Problem{Code: "not refused"}
	}
	return *b.Results[0].Problem
}

// What is not announced as JSON is not read; what is too large or too deep is not kept.
func TestStrict_TypeSizeDepth(t *testing.T) {
	s := newStub()
	base := serve(t, s, Settings{Limits: Limits{Body: 2000, Batch: 4000}})
	deep := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	for _, r := range New(s, Settings{}, quiet()).echo.Routes() {
		valid, hasBody := bodies[r.Method+" "+r.Path]
		if !hasBody {
			continue
		}
		limit := 2000
		if strings.HasSuffix(r.Path, "/batch") {
			limit = 4000
		}
		large := valid + strings.Repeat(" ", limit+1-len(valid))
		for _, c := range []struct {
			what, body, header, code string
		}{
			{"no type", valid, "Content-Type: ", codeMediaType},
			{"text", valid, "Content-Type: text/plain", codeMediaType},
			{"form", valid, "Content-Type: application/x-www-form-urlencoded", codeMediaType},
			{"problem", valid, "Content-Type: application/problem+json", codeMediaType},
			{"latin1", valid, "Content-Type: application/json; charset=iso-8859-1", codeMediaType},
			{"other parameter", valid, "Content-Type: application/json; profile=x", codeMediaType},
			{"no type at all", valid, "Content-Type: json", codeMediaType},
			{"compressed", valid, "Content-Encoding: gzip", codeMediaType},
			{"too large", large, "X: y", codeTooLarge},
			{"too deep", deep(MaxDepth + 1), "X: y", codeInvalid},
		} {
			if got := do(t, r.Method, urlOf(base, r.Path), c.body, c.header, `If-Match: "3"`).problem(t); got.Code != c.code {
				t.Errorf("%s %s, %s: %d %s", r.Method, r.Path, c.what, got.Status, got.Code)
			}
		}
		if s.seen() != 0 {
			t.Fatalf("%s %s: a refused request changed something", r.Method, r.Path)
		}
		for _, header := range []string{"Content-Type: application/json; charset=UTF-8", "Content-Type: Application/JSON"} {
			if got := do(t, r.Method, urlOf(base, r.Path), valid, header, `If-Match: "3"`); got.status >= 300 {
				t.Errorf("%s %s with %s: %d", r.Method, r.Path, header, got.status)
			}
		}
		s.calls = 0
	}
}
