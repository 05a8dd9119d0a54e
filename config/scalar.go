package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// scalar reads one value. The environment gives numbers as text, a file must not.
func (d *decoder) scalar(v reflect.Value, raw any, path string) bool {
	text, isText := raw.(string)
	switch {
	case v.Type() == durationType:
		return d.duration(v, text, isText, path)
	case v.Kind() == reflect.String:
		switch raw.(type) {
		case string:
		case []any, map[string]any:
			return d.fault(path, "must be text, no list and no section")
		default:
			return d.fault(path, "must be text: put it in quotes")
		}
		if strings.TrimSpace(text) == "" {
			return d.fault(path, "is empty: give it a value or leave it out")
		}
		if !utf8.ValidString(text) {
			return d.fault(path, "must be valid UTF-8")
		}
		v.SetString(text)
		return true
	case isText && !d.layer.text:
		return d.fault(path, "must be %s, without quotes", kindName(v.Kind()))
	}
	if !isText {
		text = fmt.Sprint(raw)
	}
	return d.number(v, text, path)
}

// duration refuses a number without unit: nobody knows whether 30 is seconds or milliseconds.
func (d *decoder) duration(v reflect.Value, text string, isText bool, path string) bool {
	length, err := time.ParseDuration(text)
	if !isText || err != nil {
		return d.fault(path, "must be a duration with a unit, such as 30s, 10m or 72h")
	}
	if length < 0 {
		return d.fault(path, "must not be negative")
	}
	v.SetInt(int64(length))
	return true
}

// number reads what is no text. It panics on a kind that no settings have: a programmer added one without a rule.
func (d *decoder) number(v reflect.Value, text, path string) bool {
	switch v.Kind() {
	case reflect.Bool:
		if text != "true" && text != "false" {
			return d.fault(path, "must be true or false")
		}
		v.SetBool(text == "true")
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return d.fault(path, "must be a whole number")
		}
		v.SetInt(n)
	case reflect.Float64:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return d.fault(path, "must be a number")
		}
		v.SetFloat(n)
	default:
		panic("config: no rule for settings of type " + v.Type().String())
	}
	return true
}

// kindName says what a value must be, for people.
func kindName(k reflect.Kind) string {
	if k == reflect.Bool {
		return "true or false"
	}
	return "a number"
}
