package ledger

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// readVectors reads a file of testdata/keys.
func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", "keys", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// The keys of these files were computed by sha256sum; a release that changes one sends old events again.
func TestKey_GoldenVectors(t *testing.T) {
	for name, shipped := range map[string]*Recipe{
		"event.json": new(RecipeEvent()), "type-user-event.json": new(RecipeTypeUserEvent()), "event-ufffd.json": nil, "own.json": nil,
	} {
		var file struct {
			Recipe struct {
				Name, Separator string
				Fields          []string
				Length          int
			}
			Vectors []struct {
				Note, Key string
				Event     struct {
					EventID           string `json:"event_id"`
					EventType         string `json:"event_type"`
					UserID            string `json:"user_id"`
					Source, Recipient string
					Channel           Channel
				}
			}
		}
		readVectors(t, name, &file)
		recipe := Recipe{Name: file.Recipe.Name, Fields: file.Recipe.Fields, Separator: file.Recipe.Separator, Length: file.Recipe.Length}
		if faults := recipe.Validate(); faults != nil {
			t.Errorf("%s: %v", name, faults)
		}
		if shipped != nil && !recipe.equal(*shipped) {
			t.Errorf("%s: the file's recipe is %+v, the shipped one %+v", name, recipe, *shipped)
		}
		if len(file.Vectors) == 0 {
			t.Errorf("%s has no vectors", name)
		}
		for _, v := range file.Vectors {
			e := Event{EventID: v.Event.EventID, EventType: v.Event.EventType, Source: v.Event.Source, UserID: v.Event.UserID, Channel: v.Event.Channel}
			form, err := RecipientKey(e.Channel, v.Event.Recipient, "")
			if err != nil {
				t.Errorf("%s, %s: %v", name, v.Note, err)
				continue
			}
			if key, _, err := recipe.Key(&e, form); key != v.Key || err != nil {
				t.Errorf("%s, %s: key %q, error %v, want %q", name, v.Note, key, err, v.Key)
			}
		}
	}
}

func TestWireKey_GoldenVectors(t *testing.T) {
	var file struct {
		Vectors []struct {
			Note, Source string
			DedupeKey    string `json:"dedupe_key"`
			SourceInKey  bool   `json:"source_in_key"`
			WireKey      string `json:"wire_key"`
		}
	}
	readVectors(t, "wire.json", &file)
	if len(file.Vectors) < 6 {
		t.Fatalf("only %d vectors", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		if got := WireKey(v.Source, v.DedupeKey, v.SourceInKey); got != v.WireKey {
			t.Errorf("%s: %q, want %q", v.Note, got, v.WireKey)
		}
	}
}

func TestResendKey_GoldenVectors(t *testing.T) {
	var file struct {
		Vectors []struct {
			Note      string
			ParentKey string `json:"parent_key"`
			N         int
			DedupeKey string `json:"dedupe_key"`
		}
	}
	readVectors(t, "resend.json", &file)
	if len(file.Vectors) < 6 {
		t.Fatalf("only %d vectors", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		if got := ResendKey(v.ParentKey, v.N); got != v.DedupeKey {
			t.Errorf("%s: %q, want %q", v.Note, got, v.DedupeKey)
		}
	}
}

func TestKey_ShowsItsParts(t *testing.T) {
	e := Event{EventID: "e", EventType: "t", UserID: "u", Channel: SMS}
	_, parts, err := RecipeEvent().Key(&e, "+14155550142")
	want := []KeyPart{{"event_id", "e"}, {"channel", "sms"}, {"recipient", "+14155550142"}}
	if err != nil || !equalParts(parts, want) {
		t.Errorf("without source: %v, %v", parts, err)
	}
	if RecipeEvent().SourceInKey(&e) {
		t.Error("an empty source counts as being in the key")
	}
	e.Source = "shop"
	_, parts, err = RecipeEvent().Key(&e, "+14155550142")
	if err != nil || !equalParts(parts, append([]KeyPart{{"source", "shop"}}, want...)) {
		t.Errorf("with source: %v, %v", parts, err)
	}
	if !RecipeEvent().SourceInKey(&e) || RecipeTypeUserEvent().SourceInKey(&e) {
		t.Error("SourceInKey is wrong about a source")
	}
}

func equalParts(a, b []KeyPart) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// F05: parts that hold the separator, or are empty, would let two events share a key.
func TestKey_F05_RefusesPartsThatBlurTheJoint(t *testing.T) {
	own := func(separator string) Recipe {
		return Recipe{Name: "own", Fields: []string{"event_type", "event_id"}, Separator: separator, Length: 40}
	}
	for _, c := range []struct {
		recipe  Recipe
		event   Event
		refused string // the field; "" is allowed
	}{
		{own(":"), Event{EventType: "a:b", EventID: "c"}, "event_type"},
		{own(":"), Event{EventType: "a", EventID: "b:c"}, "event_id"},
		{own(":"), Event{EventType: `a\:b`, EventID: "c"}, "event_type"},
		{own("|"), Event{EventType: "a|b", EventID: "c"}, "event_type"},
		{own("/"), Event{EventType: "a", EventID: "b/c"}, "event_id"},
		{own("%3A"), Event{EventType: "a%3Ab", EventID: "c"}, "event_type"},
		{own("::"), Event{EventType: "a:", EventID: "b"}, "event_type"}, // a:::b could be a + :b
		{own("::"), Event{EventType: "a", EventID: ":b"}, ""},
		{own("aba"), Event{EventType: "xab", EventID: "c"}, "event_type"},
		{own("\ufffd"), Event{EventType: "a\ufffd", EventID: "c"}, "event_type"},
		{own("|"), Event{EventType: "a:b", EventID: "c"}, ""},
		{own("\x00"), Event{EventType: "a|b", EventID: "%00"}, ""},
		{own("\x00"), Event{EventType: "a\x00b", EventID: "c"}, "event_type"},
		{own("\x00"), Event{EventType: "a", EventID: "b\nc"}, "event_id"},
		{own("\x00"), Event{EventType: "a", EventID: "b\u0085c"}, "event_id"},
		{own("\x00"), Event{EventType: "a", EventID: "b\x7f"}, "event_id"},
		{own("\x00"), Event{EventType: "a", EventID: ""}, "event_id"},
		{own("\x00"), Event{EventType: "", EventID: "a"}, "event_type"},
		{own("\x00"), Event{EventType: "a", EventID: "a\xff"}, "event_id"},
		{RecipeTypeUserEvent(), Event{EventType: "t", UserID: "", EventID: "e"}, "user_id"},
		{RecipeTypeUserEvent(), Event{EventType: "t", UserID: "u:1", EventID: "e"}, "user_id"},
		{RecipeEvent(), Event{EventID: "e", Channel: ""}, "channel"},
	} {
		key, _, err := c.recipe.Key(&c.event, "+14155550142")
		var invalid *InvalidError
		switch {
		case c.refused == "" && (err != nil || len(key) != 40):
			t.Errorf("%q %+v: key %q, error %v", c.recipe.Separator, c.event, key, err)
		case c.refused != "" && (!errors.As(err, &invalid) || len(invalid.Fields) != 1 || invalid.Fields[0].Field != c.refused || key != ""):
			t.Errorf("%q %+v: key %q, error %v, want a fault of %s", c.recipe.Separator, c.event, key, err, c.refused)
		}
	}
}

func TestKey_NamesEveryFaultyPart(t *testing.T) {
	_, _, err := RecipeTypeUserEvent().Key(&Event{EventType: "a:b", EventID: "e\n"}, "")
	var invalid *InvalidError
	if !errors.As(err, &invalid) || len(invalid.Fields) != 3 {
		t.Errorf("want three faults, got %v", err)
	}
}

// F05: for tuples of allowed parts, different tuples have different keys, and the joined text can be cut again.
func TestKey_F05_DifferentPartsDifferentKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		recipe := Recipe{Name: "own", Fields: []string{"source", "event_type", "user_id", "event_id"}, Length: 40,
			Separator: rapid.SampledFrom([]string{"\x00", ":", "|", "::", "aba", "\ufffd", ":|", "aa"}).Draw(t, "separator")}
		part := func(name string) string {
			return rapid.StringOfN(rapid.SampledFrom([]rune("ab:|\x00\n\ufffdé")), 0, 5, -1).Draw(t, name)
		}
		event := func(n string) Event {
			return Event{Source: part("source" + n), EventType: part("type" + n), UserID: part("user" + n), EventID: part("id" + n)}
		}
		a, b := event("1"), event("2")
		keyA, partsA, errA := recipe.Key(&a, "")
		keyB, partsB, errB := recipe.Key(&b, "")
		for _, x := range []struct {
			e   Event
			err error
		}{{a, errA}, {b, errB}} {
			bad := x.e.EventType == "" || x.e.UserID == "" || x.e.EventID == "" || strings.ContainsAny(x.e.Source+x.e.EventType+x.e.UserID+x.e.EventID, "\x00\n")
			if bad && x.err == nil {
				t.Fatalf("%+v is allowed", x.e)
			}
		}
		if errA != nil || errB != nil {
			return
		}
		if (keyA == keyB) != equalParts(partsA, partsB) {
			t.Fatalf("%q: %v and %v: keys %s and %s", recipe.Separator, partsA, partsB, keyA, keyB)
		}
		var values []string
		for _, p := range partsA {
			values = append(values, p.Value)
		}
		if got := strings.Split(strings.Join(values, recipe.Separator), recipe.Separator); len(got) != len(values) || strings.Join(got, "\n") != strings.Join(values, "\n") {
			t.Fatalf("%q cut at %q gives %q", values, recipe.Separator, got)
		}
	})
}

// Key refuses exactly the characters that Event.Validate refuses, so no recipe meets a part that it could not take.
func TestKey_AgreesWithValidate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) })).Draw(t, "event_id")
		e := Event{EventID: id, Channel: SMS, Recipient: "+14155550142", Message: []byte(`{"text":"x"}`)}
		_, _, keyErr := RecipeEvent().Key(&e, e.Recipient)
		valid := e.Validate() == nil
		want := utf8.ValidString(id) && strings.IndexFunc(id, unicode.IsControl) < 0 && strings.TrimSpace(id) != "" && utf8.RuneCountInString(id) <= MaxEventID
		if valid != want {
			t.Fatalf("%q: Validate accepts: %v, want %v", id, valid, want)
		}
		if valid && keyErr != nil {
			t.Fatalf("%q is valid but has no key: %v", id, keyErr)
		}
	})
}

func TestRecipe_Validate(t *testing.T) {
	good := Recipe{Name: "mine", Fields: []string{"event_id", "user_id"}, Separator: "|", Length: 40}
	for name, c := range map[string]struct {
		change func(*Recipe)
		field  string // "" is valid
	}{
		"as it is":                  {func(r *Recipe) {}, ""},
		"one field":                 {func(r *Recipe) { r.Fields = []string{"event_id"} }, ""},
		"64 digits":                 {func(r *Recipe) { r.Length = 64 }, ""},
		"several characters":        {func(r *Recipe) { r.Separator = "::" }, ""},
		"NUL":                       {func(r *Recipe) { r.Separator = "\x00" }, ""},
		"the shipped recipe":        {func(r *Recipe) { *r = RecipeEvent() }, ""},
		"the other shipped recipe":  {func(r *Recipe) { *r = RecipeTypeUserEvent() }, ""},
		"no name":                   {func(r *Recipe) { r.Name = "" }, "name"},
		"a name with a blank":       {func(r *Recipe) { r.Name = "my recipe" }, "name"},
		"a long name":               {func(r *Recipe) { r.Name = strings.Repeat("a", 41) }, "name"},
		"given":                     {func(r *Recipe) { r.Name = RecipeGiven }, "name"},
		"a shipped name":            {func(r *Recipe) { r.Name = "event" }, "name"},
		"unknown field":             {func(r *Recipe) { r.Fields = []string{"event_id", "occurred_at"} }, "fields"},
		"field in another case":     {func(r *Recipe) { r.Fields = []string{"event_id", "User_ID"} }, "fields"},
		"field twice":               {func(r *Recipe) { r.Fields = []string{"event_id", "event_id"} }, "fields"},
		"no fields":                 {func(r *Recipe) { r.Fields = nil }, "fields"},
		"no event_id":               {func(r *Recipe) { r.Fields = []string{"event_type", "user_id"} }, "fields"},
		"no separator":              {func(r *Recipe) { r.Separator = "" }, "separator"},
		"a separator of 17 bytes":   {func(r *Recipe) { r.Separator = strings.Repeat("|", 17) }, "separator"},
		"a separator without UTF-8": {func(r *Recipe) { r.Separator = "\xff" }, "separator"},
		"no length":                 {func(r *Recipe) { r.Length = 0 }, "length"},
		"another length":            {func(r *Recipe) { r.Length = 41 }, "length"},
	} {
		r := good
		c.change(&r)
		faults := r.Validate()
		if c.field == "" && faults != nil {
			t.Errorf("%s: %v", name, faults)
		}
		if c.field != "" && (len(faults) != 1 || faults[0].Field != c.field) {
			t.Errorf("%s: faults %v, want one of %s", name, faults, c.field)
		}
	}
}
