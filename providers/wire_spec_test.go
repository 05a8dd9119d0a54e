package providers

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// description is a provider's OpenAPI document, prepared for a mock server.
type description map[string]any

// readDescription reads a document from testdata/specs and applies its patch, where there is one beside it.
func readDescription(t *testing.T, name string) description {
	t.Helper()
	var d description
	readSpec(t, name+".json", &d)
	if _, err := os.Stat(specPath(name + ".patch.json")); err == nil {
		var patch []patchLine
		readSpec(t, name+".patch.json", &patch)
		for _, line := range patch {
			if err := d.apply(line); err != nil {
				t.Fatalf("%s.patch.json: %v", name, err)
			}
		}
	}
	return d
}

func specPath(file string) string { return filepath.Join("..", "testdata", "specs", file) }

func readSpec(t *testing.T, file string, to any) {
	t.Helper()
	text, err := os.ReadFile(specPath(file))
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// patchLine is a line of a JSON Patch (RFC 6902) that sets a member of an object.
type patchLine struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

func (d description) apply(line patchLine) error {
	steps := strings.Split(line.Path, "/")
	at, last := map[string]any(d), len(steps)-1
	for i, step := range steps[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		if i+1 == last {
			if _, there := at[step]; there != (line.Op == "replace") || line.Op != "replace" && line.Op != "add" {
				return fmt.Errorf("%s of %s does not fit the document", line.Op, line.Path)
			}
			at[step] = line.Value
			return nil
		}
		switch next := at[step].(type) {
		case map[string]any:
			at = next
		case []any: // an item's place is a step too: none of the lines ends there
			at = map[string]any{}
			for n, item := range next {
				at[strconv.Itoa(n)] = item
			}
		default:
			return fmt.Errorf("%s has no %s", line.Path, step)
		}
	}
	return fmt.Errorf("%s leads nowhere", line.Path)
}

// prepare makes the document one that a mock server can hold requests against.
func (d description) prepare(t *testing.T) {
	t.Helper()
	d.root(t)
	d.close()
	for _, item := range d["paths"].(map[string]any) {
		if post, ok := item.(map[string]any)["post"].(map[string]any); ok {
			delete(post, "callbacks") // which Prism would make
		}
	}
}

// root moves the path of the document's server in front of each of its paths, since a mock server leaves it out: so the whole
// path of a request is held against the document.
func (d description) root(t *testing.T) {
	t.Helper()
	server := d["servers"].([]any)[0].(map[string]any)["url"].(string)
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]any{}
	for path, item := range d["paths"].(map[string]any) {
		delete(item.(map[string]any), "servers")
		paths[strings.TrimSuffix(u.Path, "/")+path] = item
	}
	d["paths"], d["servers"] = paths, []any{map[string]any{"url": u.Scheme + "://" + u.Host}}
}

// close makes each object of a request's body refuse fields that the document does not name. As they are, the documents let
// them pass, a misspelled field too.
func (d description) close() {
	done := map[string]bool{}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok && !done[ref] {
				done[ref] = true
				walk(d.at(ref))
			}
			if _, ok := v["properties"].(map[string]any); ok && v["additionalProperties"] == nil {
				v["additionalProperties"] = false
			}
			for _, item := range v {
				walk(item)
			}
		}
	}
	for _, item := range d["paths"].(map[string]any) {
		if post, ok := item.(map[string]any)["post"].(map[string]any); ok {
			walk(post["requestBody"])
		}
	}
}

// unknown lists the fields of a form that the document does not name: Prism reads only those that it knows.
func (d description) unknown(r *request) (names []string) {
	const form = "application/x-www-form-urlencoded"
	values, err := url.ParseQuery(string(r.body))
	if err != nil || r.header.Get("Content-Type") != form {
		return nil
	}
	known := map[string]any{}
	for _, item := range d["paths"].(map[string]any) {
		post, _ := item.(map[string]any)["post"].(map[string]any)
		if post == nil {
			continue
		}
		schema := post["requestBody"].(map[string]any)["content"].(map[string]any)[form].(map[string]any)["schema"].(map[string]any)
		if ref, ok := schema["$ref"].(string); ok {
			schema = d.at(ref).(map[string]any)
		}
		maps.Copy(known, schema["properties"].(map[string]any))
	}
	for name := range values {
		if known[name] == nil {
			names = append(names, name)
		}
	}
	return names
}

// at follows a reference inside of the document.
func (d description) at(ref string) any {
	var at any = map[string]any(d)
	for _, step := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		at = at.(map[string]any)[step]
	}
	return at
}

// write writes the document into a file of the test's.
func (d description) write(t *testing.T) (path string) {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "spec.json")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
