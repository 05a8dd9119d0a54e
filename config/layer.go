package config

import (
	"strconv"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/v2"
)

// layer is one place that settings come from.
type layer struct {
	tree  map[string]any    // nested, as written; what proved faulty is taken out
	text  bool              // every value is text: environment and flags
	marks map[string]string // key to the place where it stands; "" is the layer itself
}

// where names the place of a key, or of the nearest section above it that has one: its own, else the first
// place of what stands in it, since variables name no sections.
func (l layer) where(key string) string {
	for ; key != ""; key = parent(key) {
		if place, ok := l.marks[key]; ok {
			return place
		}
		first := ""
		for k, place := range l.marks {
			if within(k, key) && (first == "" || place < first) {
				first = place
			}
		}
		if first != "" {
			return first
		}
	}
	return l.marks[""]
}

// parent cuts the last step from a key: "a.b[0].c", "a.b[0]", "a.b", "a", "".
func parent(key string) string { return key[:max(strings.LastIndexAny(key, ".["), 0)] }

// reach is how far a layer has a key.
type reach struct {
	steps int  // sections it has on the way
	whole bool // all of it
	list  bool // the key leads into a list of this layer, and lists are never joined
}

// reach walks along a key: "providers.mail.from", "auth.keys[0].name".
func (l layer) reach(key string) reach {
	var r reach
	var at any = l.tree
	for step := range strings.SplitSeq(strings.ReplaceAll(key, "[", ".["), ".") {
		var ok bool
		switch here := at.(type) {
		case map[string]any:
			at, ok = here[step]
		case []any:
			r.list = true
			i, err := strconv.Atoi(strings.Trim(step, "[]"))
			if ok = err == nil && i < len(here); ok {
				at = here[i]
			}
		}
		if !ok {
			return r
		}
		r.steps++
	}
	r.whole = true
	return r
}

// layers stand in rising order of precedence; the first holds the defaults.
type layers []layer

// merge lays them over one another. Lists are replaced, never joined.
func (ls layers) merge() map[string]any {
	k := koanf.New(".")
	for _, l := range ls {
		// A confmap without delimiter reads a map that is nested already: it has nothing to fail on.
		if err := k.Load(confmap.Provider(l.tree, ""), nil); err != nil {
			panic("config: a map could not be merged: " + err.Error())
		}
	}
	return k.Raw()
}

// withoutValues keeps what says who decides a key, and drops the values: there are secrets among them.
func (ls layers) withoutValues() layers {
	out := make(layers, len(ls))
	for i, l := range ls {
		out[i] = layer{tree: shape(l.tree).(map[string]any), marks: l.marks}
	}
	return out
}

// shape copies sections and the length of lists; every value becomes nil.
func shape(raw any) any {
	switch v := raw.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, inner := range v {
			out[name] = shape(inner)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = shape(inner)
		}
		return out
	}
	return nil
}

// decides finds the layer that has the last word about a key.
func (ls layers) decides(key string) (layer, reach, bool) {
	for i := len(ls) - 1; i >= 0; i-- {
		if r := ls[i].reach(key); r.whole || r.list {
			return ls[i], r, true
		}
	}
	return layer{}, reach{}, false
}

// where names the place that decides a key. One that is missing belongs to the lowest place that opened its section.
func (ls layers) where(key string) string {
	if l, _, ok := ls.decides(key); ok {
		return l.where(key)
	}
	best, most := ls[0], 0
	for _, l := range ls[1:] {
		if n := l.reach(key).steps; n > most {
			best, most = l, n
		}
	}
	return best.where(key)
}

// has reports whether any layer has a key, the defaults included.
func (ls layers) has(key string) bool {
	_, r, _ := ls.decides(key)
	return r.whole
}

// gives is has without the defaults.
func (ls layers) gives(key string) bool { return ls[1:].has(key) }

// flagLayer holds what stood on the command line.
func flagLayer(flags map[string]string) layer {
	l := layer{tree: map[string]any{}, text: true, marks: map[string]string{"": "flags"}}
	for key, value := range flags {
		l.tree[key] = value
		l.marks[key] = "--" + strings.ReplaceAll(key, "_", "-")
	}
	return l
}
