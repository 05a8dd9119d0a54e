package config

import (
	"encoding"
	"fmt"
	"reflect"
	"time"

	"sendonce/providers"
)

var (
	durationType = reflect.TypeFor[time.Duration]()
	secretType   = reflect.TypeFor[providers.Secret]()
	providerType = reflect.TypeFor[Provider]()
)

// decoder turns the values of a layer into settings. It is stricter than a general one: no number is read
// as text or the reverse, nothing is skipped, and no fault holds a value.
type decoder struct {
	table  map[string]providers.Type
	kinds  map[string]string // provider to its type
	faults *faults
	layer  layer // the one that is read
	quiet  bool  // the values were checked before
}

// check reads a layer for its faults, fetches its secrets from their files, and takes faulty values out.
func (d *decoder) check(l layer) {
	d.layer, d.quiet = l, false
	var scratch Config
	d.section(reflect.ValueOf(&scratch).Elem(), l.tree, "")
}

// settle reads merged values that check has passed.
func (d *decoder) settle(c *Config, tree map[string]any) {
	d.layer, d.quiet = layer{text: true}, true
	d.section(reflect.ValueOf(c).Elem(), tree, "")
}

// fault notes a fault of the layer that is read. It returns false, for callers that answer whether a value fits.
func (d *decoder) fault(path, format string, args ...any) bool {
	if !d.quiet {
		d.faults.add(d.layer.where(path), path, format, args...)
	}
	return false
}

// value reads raw into v and reports whether it fits.
func (d *decoder) value(v reflect.Value, raw any, path string) bool {
	if raw == nil {
		return d.fault(path, "is empty: give it a value or leave it out")
	}
	if text, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		switch raw.(type) {
		case map[string]any, []any:
			if v.Kind() != reflect.Struct {
				return d.fault(path, "must be text")
			}
		default:
			return d.parsed(v, text.UnmarshalText([]byte(fmt.Sprint(raw))), path)
		}
	}
	switch v.Kind() {
	case reflect.Struct, reflect.Map:
		section, ok := raw.(map[string]any)
		if !ok {
			return d.fault(path, "is a section: it takes keys below it, no value")
		}
		if v.Kind() == reflect.Map {
			return d.mapping(v, section, path)
		}
		return d.section(v, section, path)
	case reflect.Slice:
		return d.list(v, raw, path)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(v.Elem(), raw, path)
	default:
		return d.scalar(v, raw, path)
	}
}

// parsed reports what a type says of its own text; a rate's error cites it.
func (d *decoder) parsed(v reflect.Value, err error, path string) bool {
	switch {
	case err == nil:
		return true
	case v.Type() == reflect.TypeFor[providers.Rate]():
		return d.fault(path, "must be a whole number over s, m or h, such as 10/s, and at most %d/s", providers.MaxRate)
	}
	return d.fault(path, "%v", err)
}

// section reads the keys of a struct. It answers for the section as a whole, and faulty values are taken out.
func (d *decoder) section(v reflect.Value, raw map[string]any, path string) bool {
	known := fieldsOf(v)
	good := d.secretFiles(known, raw, path)
	for name, value := range raw {
		key := join(path, name)
		target, ok := known.find(name)
		if !ok {
			delete(raw, name)
			good = d.unknown(v, known, name, key) && good
			continue
		}
		if !d.value(target, value, key) {
			good = false
			if _, section := value.(map[string]any); !section {
				delete(raw, name)
			}
		}
	}
	return good
}

// unknown is silent about settings of a provider whose type is not known: that is a fault of its own.
func (d *decoder) unknown(v reflect.Value, known fields, name, key string) bool {
	if p, ok := v.Interface().(Provider); ok && p.Settings == nil {
		return true
	}
	return d.fault(key, "is no setting%s", suggest(name, known.names()))
}

// mapping reads a section whose keys are names.
func (d *decoder) mapping(v reflect.Value, raw map[string]any, path string) bool {
	v.Set(reflect.MakeMap(v.Type()))
	good := true
	for name, value := range raw {
		elem := d.element(v.Type(), name)
		if !d.value(elem, value, join(path, name)) {
			good = false
			if _, section := value.(map[string]any); !section {
				delete(raw, name)
				continue
			}
		}
		v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), elem)
	}
	return good
}

// element makes an empty value of a map; a provider gets the settings of its type.
func (d *decoder) element(t reflect.Type, name string) reflect.Value {
	elem := reflect.New(t.Elem()).Elem()
	if t.Elem() == providerType {
		if kind, ok := d.table[d.kinds[name]]; ok {
			elem.Set(reflect.ValueOf(Provider{Settings: kind.Settings()}))
		}
	}
	return elem
}

// list reads every item, so that all their faults are seen, and answers for the list as a whole.
func (d *decoder) list(v reflect.Value, raw any, path string) bool {
	items, ok := raw.([]any)
	if !ok {
		return d.fault(path, "must be a list")
	}
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	good := true
	for i, item := range items {
		fits := d.value(v.Index(i), item, index(path, i))
		if _, section := item.(map[string]any); !section { // a section lost its faulty keys and may stay
			good = good && fits
		}
	}
	return good
}
