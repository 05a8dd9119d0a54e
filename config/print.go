package config

import (
	"encoding"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"sendonce/providers"
)

// hidden stands where a secret would.
const hidden = "***"

// Print writes what is in force as YAML, each line with the place that decides it. Secrets are masked.
func (c Config) Print(w io.Writer) error {
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(c.section(reflect.ValueOf(c), "")); err != nil {
		return fmt.Errorf("print configuration: %w", err)
	}
	return enc.Close()
}

// node shows one setting; nil when it is not set.
func (c Config) node(v reflect.Value, path string) *yaml.Node {
	if text, ok := settingText(v); ok {
		if !c.sources.has(path) && v.IsZero() {
			return nil
		}
		return c.leaf(text, path)
	}
	switch v.Kind() {
	case reflect.Struct:
		if ch, ok := v.Interface().(Channel); ok && len(ch.Providers) == 0 {
			return nil
		}
		return c.section(v, path)
	case reflect.Map:
		return c.named(v, path)
	case reflect.Slice:
		return c.list(v, path)
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return c.node(v.Elem(), path)
	}
	panic("config: no way to show settings of type " + v.Type().String())
}

// leaf makes a line of a value, with the place that decides it as a comment.
func (c Config) leaf(n *yaml.Node, path string) *yaml.Node {
	n.Kind = yaml.ScalarNode
	n.LineComment = c.sources.where(path)
	return n
}

// section shows the settings of a struct in the order of the documentation.
func (c Config) section(v reflect.Value, path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, f := range fieldsOf(v) {
		n.Content = appendPair(n.Content, f.name, c.node(f.value, join(path, f.name)))
	}
	return filled(n)
}

// named shows sections by name, sorted: the order of a map would differ from run to run.
func (c Config) named(v reflect.Value, path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	keys := map[string]reflect.Value{}
	for _, k := range v.MapKeys() {
		keys[k.String()] = k
	}
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		n.Content = appendPair(n.Content, name, c.node(v.MapIndex(keys[name]), join(path, name)))
	}
	if c.sources.has(path) && v.Len() == 0 {
		n.Style, n.LineComment = yaml.FlowStyle, c.sources.where(path)
		return n
	}
	return filled(n)
}

// list shows each item on a line of its own, so that it has room for its place.
func (c Config) list(v reflect.Value, path string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range v.Len() {
		at := index(path, i)
		item := c.node(v.Index(i), at)
		if item.Kind == yaml.MappingNode {
			item.Style = yaml.FlowStyle
			item.LineComment = c.sources.where(at)
			dropComments(item)
		}
		n.Content = append(n.Content, item)
	}
	if c.sources.has(path) && v.Len() == 0 {
		n.Style, n.LineComment = yaml.FlowStyle, c.sources.where(path)
		return n
	}
	return filled(n)
}

// dropComments leaves one comment to a section on one line, and none inside it.
func dropComments(n *yaml.Node) {
	for _, inner := range n.Content {
		inner.LineComment = ""
		if inner.Kind == yaml.SequenceNode {
			inner.Style = yaml.FlowStyle
		}
		dropComments(inner)
	}
}

// filled leaves out a section in which nothing is set.
func filled(n *yaml.Node) *yaml.Node {
	if len(n.Content) == 0 {
		return nil
	}
	return n
}

// appendPair adds a setting; one that is not set adds nothing.
func appendPair(content []*yaml.Node, name string, value *yaml.Node) []*yaml.Node {
	if value == nil {
		return content
	}
	var key yaml.Node
	key.SetString(name)
	return append(content, &key, value)
}

// settingText writes a value as a file would; ok is false for what has settings below it.
func settingText(v reflect.Value) (n *yaml.Node, ok bool) {
	n = &yaml.Node{}
	switch x := v.Interface().(type) {
	case providers.Secret:
		n.SetString(hidden)
		return n, true
	case Recipe:
		n.SetString(x.Name)
		return n, x.shipped()
	case providers.Rate:
		n.SetString(x.String())
		return n, true
	case Size:
		n.SetString(x.String())
		return n, true
	case time.Duration:
		n.SetString(span(x))
		return n, true
	case encoding.TextMarshaler:
		text, err := x.MarshalText()
		n.SetString(string(text))
		return n, err == nil
	}
	switch v.Kind() {
	case reflect.String:
		n.SetString(v.String())
	case reflect.Bool:
		n.Value = strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int64:
		n.Value = strconv.FormatInt(v.Int(), 10)
	case reflect.Float64:
		n.Value = strconv.FormatFloat(v.Float(), 'g', -1, 64)
	default:
		return nil, false
	}
	return n, true
}
