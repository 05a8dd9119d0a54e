package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFile bounds the configuration file, and maxSecret a file that holds one secret, in bytes.
const (
	maxFile   = 1 << 20
	maxSecret = 64 << 10
)

// fileLayer reads the YAML file. A file that cannot be read as YAML gives an empty layer and a fault.
func fileLayer(s Source, found *faults) layer {
	l := layer{tree: map[string]any{}, marks: map[string]string{"": s.File}}
	if s.File == "" {
		return l
	}
	text, err := readFile(s.File, maxFile)
	if errors.Is(err, fs.ErrNotExist) && !s.FileGiven {
		return l
	}
	if err != nil {
		found.add(s.File, "", "can't be read: %v", plainError(err))
		return l
	}
	f := yamlFile{layer: l, faults: found}
	if root := f.root(text); root != nil {
		f.mapping(root, "")
		if err := root.Decode(&l.tree); err != nil {
			found.add(s.File, "", "is not valid YAML: %s", hideQuoted(err))
		}
	}
	return l
}

// yamlFile looks through the nodes of a file for what a map of its values no longer shows: lines and repeats.
type yamlFile struct {
	layer
	faults *faults
}

// root parses the text; nil when there is nothing to read or a fault was found.
func (f *yamlFile) root(text []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second yaml.Node
	err := dec.Decode(&doc)
	if errors.Is(err, io.EOF) {
		return nil // nothing but blanks and comments
	}
	if err == nil {
		err = dec.Decode(&second)
	}
	switch root := doc.Content; {
	case err == nil:
		f.fault(second.Line, "", "holds a second document; only one is read")
	case !errors.Is(err, io.EOF):
		f.faults.add(f.marks[""], "", "is not valid YAML: %s", hideQuoted(err))
	case root[0].Tag == "!!null":
	case root[0].Kind != yaml.MappingNode:
		f.fault(root[0].Line, "", "must hold keys with values")
	default:
		return root[0]
	}
	return nil
}

// mapping notes the keys of one section and takes out what a map can't hold. An alias is not followed: what
// it names was seen where it stands.
func (f *yamlFile) mapping(n *yaml.Node, path string) {
	seen := map[string]int{}
	kept := n.Content[:0]
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		key := join(path, name.Value)
		first, twice := seen[name.Value]
		switch {
		case name.Tag == "!!merge":
		case name.Kind != yaml.ScalarNode || name.Tag != "!!str":
			f.fault(name.Line, path, "has a key that is no text")
			continue
		case twice:
			f.fault(name.Line, key, "stands here a second time, first on line %d", first)
			continue
		default:
			seen[name.Value] = name.Line
			f.value(value, key, name.Line)
		}
		kept = append(kept, name, value)
	}
	n.Content = kept
}

// value notes where a value stands and goes down into it.
func (f *yamlFile) value(n *yaml.Node, path string, line int) {
	f.marks[path] = f.place(line)
	switch n.Kind {
	case yaml.MappingNode:
		f.mapping(n, path)
	case yaml.SequenceNode:
		for i, item := range n.Content {
			f.value(item, index(path, i), item.Line)
		}
	}
}

// fault notes a fault of a line.
func (f *yamlFile) fault(line int, key, format string, args ...any) {
	f.faults.add(f.place(line), key, format, args...)
}

// place names a line as editors and compilers do.
func (f *yamlFile) place(line int) string { return f.marks[""] + ":" + strconv.Itoa(line) }

// join adds a name to a path of settings.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// index adds the place in a list to a path of settings.
func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// quoted is what a YAML error cites from the file; an unquoted secret that starts with * would stand there.
var quoted = regexp.MustCompile("(?s)'.*'|`.*`|\".*\"")

// hideQuoted is the text of a YAML error without what it cites.
func hideQuoted(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	return quoted.ReplaceAllString(strings.Join(strings.Fields(text), " "), "…")
}

// readFile reads at most limit bytes; a longer file is an error.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("it has more than %d bytes", limit)
	}
	return text, nil
}

// plainError is the reason without the path, which the fault names already.
func plainError(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
