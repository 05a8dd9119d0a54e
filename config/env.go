package config

import (
	"encoding"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// envPrefix marks the variables that are ours. Two of them are read by the client commands instead.
const envPrefix = "SENDONCE_"

var clientVariables = []string{"SENDONCE_URL", "SENDONCE_KEY"}

// envPath turns the name of a variable into the path of a setting: two underscores part the levels, so a
// single one may stand in a name. ok is false for the variables of others.
func envPath(name string) (path []string, ok bool) {
	rest, ok := strings.CutPrefix(name, envPrefix)
	if !ok || rest == "" {
		return nil, false
	}
	for _, c := range clientVariables {
		if name == c {
			return nil, false
		}
	}
	return strings.Split(strings.ToLower(rest), "__"), true
}

// envLayer reads the variables with our prefix. One that leads to no setting is a fault.
func envLayer(env []string, d *decoder) layer {
	l := layer{tree: map[string]any{}, text: true, marks: map[string]string{"": "environment"}}
	for _, pair := range slices.Sorted(slices.Values(env)) { // a map comes before what is put into it
		name, text, _ := strings.Cut(pair, "=")
		path, ok := envPath(name)
		if !ok {
			continue
		}
		setting, found := d.locate(path)
		switch {
		case name != strings.ToUpper(name):
			d.faults.add(name, "", "must be written in capitals")
		case !found && d.typeless(path):
			put(l, path, text, name) // the missing type is a fault of its own
		case !found:
			d.faults.add(name, "", "leads to no setting%s", d.nearVariable(path, setting))
		case strings.TrimSpace(text) == "":
			d.faults.add(name, strings.Join(path, "."), "is empty: give it a value or unset it")
		case isSection(setting.Type()):
			// Without a key, so that faults of the settings in the section are reported beside it.
			d.faults.add(name, "", "leads to a section: set one of its settings, after two more underscores")
		default:
			value, ok := envValue(setting, text)
			if !ok {
				d.faults.add(name, strings.Join(path, "."), "is not readable: separate items with commas, or write YAML or JSON")
				continue
			}
			put(l, path, value, name)
		}
	}
	return l
}

// envValue splits a list at its commas. What starts with a bracket or brace is YAML, since items may hold
// commas or be sections.
func envValue(setting reflect.Value, text string) (any, bool) {
	kind := setting.Kind()
	if kind != reflect.Slice && kind != reflect.Map {
		return text, true
	}
	if t := strings.TrimSpace(text); t[0] == '[' || t[0] == '{' {
		var value any
		err := yaml.Unmarshal([]byte(t), &value)
		return value, err == nil
	}
	if kind == reflect.Map || isSection(setting.Type().Elem()) {
		return nil, false
	}
	var items []any
	for item := range strings.SplitSeq(text, ",") {
		items = append(items, strings.TrimSpace(item))
	}
	return items, true
}

// isSection reports whether a setting has settings below it instead of a value.
func isSection(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		return !reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	case reflect.Map:
		return isSection(t.Elem())
	}
	return false
}

// put sets a value in a nested map. Paths never cross: one that ends in a section was refused.
func put(l layer, path []string, value any, name string) {
	at := l.tree
	for _, step := range path[:len(path)-1] {
		next, ok := at[step].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[step] = next
		}
		at = next
	}
	at[path[len(path)-1]] = value
	l.marks[strings.Join(path, ".")] = name
}

// nearVariable suggests the variable that was meant: most often a single underscore stands for two.
func (d *decoder) nearVariable(path []string, reached reflect.Value) string {
	known := d.variables(reflect.ValueOf(new(Config)).Elem(), envPrefix)
	want := envPrefix + strings.ToUpper(strings.Join(path, "__"))
	for _, name := range known {
		if strings.ReplaceAll(name, "__", "_") == strings.ReplaceAll(want, "__", "_") {
			return ", did you mean " + name + "?"
		}
	}
	if reached.Kind() == reflect.Struct {
		return suggest(path[len(path)-1], fieldsOf(reached).names())
	}
	return suggest(want, known)
}

// variables lists every variable below a section that has no free names in it.
func (d *decoder) variables(v reflect.Value, prefix string) []string {
	var out []string
	for _, f := range fieldsOf(v) {
		name := prefix + strings.ToUpper(f.name)
		switch {
		case f.value.Kind() == reflect.Struct:
			out = append(out, d.variables(f.value, name+"__")...)
		case f.value.Type() == reflect.TypeFor[map[string]Provider]():
			for provider := range d.kinds {
				elem := d.element(f.value.Type(), provider)
				out = append(out, d.variables(elem, name+"__"+strings.ToUpper(provider)+"__")...)
			}
		case f.value.Kind() == reflect.Map:
		default:
			out = append(out, name)
		}
	}
	return out
}
