package config

import (
	"reflect"
	"strings"
)

// field is one setting of a section.
type field struct {
	name  string
	value reflect.Value
}

// fields are the settings of a section in the order of the struct.
type fields []field

// fieldsOf lists the settings of a struct; those of an embedded struct or of a provider's type count as its own.
func fieldsOf(v reflect.Value) fields {
	var out fields
	for i := range v.NumField() {
		tag, ok := v.Type().Field(i).Tag.Lookup("koanf")
		if !ok || tag == "-" {
			continue
		}
		value := v.Field(i)
		if name, option, _ := strings.Cut(tag, ","); option != "squash" {
			out = append(out, field{name, value})
			continue
		}
		if value.Kind() == reflect.Interface {
			if value.IsNil() {
				continue
			}
			value = value.Elem().Elem()
		}
		out = append(out, fieldsOf(value)...)
	}
	return out
}

// find looks a setting up by its name.
func (fs fields) find(name string) (reflect.Value, bool) {
	for _, f := range fs {
		if f.name == name {
			return f.value, true
		}
	}
	return reflect.Value{}, false
}

// names are all that a person may write in this section, for suggestions.
func (fs fields) names() []string {
	var out []string
	for _, f := range fs {
		out = append(out, f.name)
		if f.value.Type() == secretType {
			out = append(out, f.name+fileSuffix)
		}
	}
	return out
}

// fileSuffix turns the name of a secret into the name of a setting that says which file holds it.
const fileSuffix = "_file"

// secretFiles puts the content of NAME_file in the place of NAME, for every secret of a section.
func (d *decoder) secretFiles(known fields, raw map[string]any, path string) bool {
	good := true
	for _, f := range known {
		name := f.name + fileSuffix
		given, ok := raw[name]
		if _, own := known.find(name); !ok || own || f.value.Type() != secretType {
			continue
		}
		delete(raw, name)
		key := join(path, name)
		if _, both := raw[f.name]; both {
			good = d.fault(key, "stands beside %s: give one of them", f.name)
			continue
		}
		secret, ok := d.secretFile(given, key)
		if !ok {
			good = false
			continue
		}
		raw[f.name] = secret
		d.layer.marks[join(path, f.name)] = d.layer.where(key)
	}
	return good
}

// secretFile reads one secret. Editors and shells end a file with a newline that is no part of the secret, so
// one is cut; more than one is somebody's wish.
func (d *decoder) secretFile(given any, key string) (string, bool) {
	file, ok := given.(string)
	if !ok || file == "" {
		return "", d.fault(key, "must be the path of a file")
	}
	content, err := readFile(file, maxSecret)
	if err != nil {
		return "", d.fault(key, "can't be read: %v", plainError(err))
	}
	secret := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
	if strings.TrimSpace(secret) == "" {
		return "", d.fault(key, "names a file with nothing in it")
	}
	return secret, true
}

// locate finds the setting that a path of names leads to, in empty settings.
func (d *decoder) locate(path []string) (reflect.Value, bool) {
	at := reflect.ValueOf(new(Config)).Elem()
	for _, name := range path {
		switch at.Kind() {
		case reflect.Struct:
			known := fieldsOf(at)
			next, ok := known.find(name)
			if base, cut := strings.CutSuffix(name, fileSuffix); !ok && cut {
				next, ok = known.find(base)
				ok = ok && next.Type() == secretType
			}
			if !ok {
				return at, false
			}
			at = next
		case reflect.Map:
			at = d.element(at.Type(), name)
		default:
			return at, false
		}
	}
	return at, true
}

// typeless reports whether a path leads into a provider whose type is not known.
func (d *decoder) typeless(path []string) bool {
	if len(path) < 3 || path[0] != "providers" {
		return false
	}
	_, known := d.table[d.kinds[path[1]]]
	return !known
}

// providerTypes looks ahead for the type of each provider: it decides which settings there are.
func providerTypes(file map[string]any, env []string) map[string]string {
	kinds := map[string]string{logName: logName}
	section, _ := file["providers"].(map[string]any)
	for name, raw := range section {
		if p, ok := raw.(map[string]any); ok {
			if kind, ok := p["type"].(string); ok {
				kinds[name] = kind
			}
		}
	}
	for _, pair := range env {
		name, value, _ := strings.Cut(pair, "=")
		if path, ok := envPath(name); ok && len(path) == 3 && path[0] == "providers" && path[2] == "type" {
			kinds[path[1]] = value
		}
	}
	return kinds
}
