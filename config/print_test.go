package config

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sendonce/providers"
)

func printed(t *testing.T, c Config) string {
	t.Helper()
	var out bytes.Buffer
	if err := c.Print(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestPrint_NamesThePlaceOfEachLine(t *testing.T) {
	file := writeFile(t, "sendonce.yaml", `shutdown: {drain: 90s}
providers:
  infrai_main: {type: infrai, api_key: example-key, rate: 300/m, price: 0.0079 USD}
channels:
  sms:
    providers: [infrai_main]
    retry: []
policies:
  - {event_type: "otp.*", lane: urgent}
`)
	c := mustLoad(t, Source{
		File: file, FileGiven: true, Flags: map[string]string{"database": "other.db"},
		Env: []string{"SENDONCE_CHANNELS__SMS__ON_AMBIGUOUS=abandon", "SENDONCE_CHANNELS__SMS__AFTER=1h"},
	})
	want := `listen: 127.0.0.1:8484 # default
database: other.db # --database
providers:
  infrai_main:
    type: infrai # FILE:3
    rate: 5/s # FILE:3
    workers: 64 # default
    repeat_window: 0s # default
    price: 0.0079 USD # FILE:3
    api_key: '***' # FILE:3
channels:
  sms:
    providers:
      - infrai_main # FILE:6
    timeout: 15s # default
    retry: [] # FILE:7
    on_ambiguous: abandon # SENDONCE_CHANNELS__SMS__ON_AMBIGUOUS
    after: 1h # SENDONCE_CHANNELS__SMS__AFTER
    expires_after: 72h # default
policies:
  - {event_type: otp.*, lane: urgent} # FILE:9
keys:
  recipes:
    - event # default
  header: refuse # default
  on_message_change: refuse # default
near_duplicate:
  window: 10m # default
  action: warn # default
shutdown:
  drain: 1m30s # FILE:1
retention:
  after: 0s # default
  unmatched: 720h # default
storage:
  reserve: 64MiB # default
log:
  level: info # default
  format: text # default
`
	if got := strings.ReplaceAll(printed(t, c), file, "FILE"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is printed is a configuration again, and the same one: nothing is left out or changed on the way.
func TestPrint_LoadsAgain(t *testing.T) {
	for _, path := range append(glob(t, "working_*.yaml"), filepath.Join(fixtures, "example.yaml")) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			c := mustLoad(t, Source{File: path, FileGiven: true})
			text := printed(t, c)
			// Masks are filled with the secrets of the fixtures, so that the settings can be compared as a whole.
			for name, secret := range map[string]string{
				"api_key": "example-key", "auth_token": "example-token", "api_secret": "example-secret", "signature_secret": "example-signature",
			} {
				text = strings.ReplaceAll(text, " "+name+": '***'", " "+name+": "+secret)
			}
			text = strings.ReplaceAll(text, "'***'", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
			again := mustLoad(t, Source{File: writeFile(t, "printed.yaml", text), FileGiven: true})
			c.sources, again.sources, c.table, again.table = nil, nil, nil, nil
			if !reflect.DeepEqual(c, again) {
				t.Errorf("got back\n%+v\nof\n%+v\nby\n%s", again, c, text)
			}
		})
	}
}

// Every setting has its paragraph in the documentation, under the heading of its section or type.
func TestDocs_HaveEveryKey(t *testing.T) {
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	heading := ""
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(line, "## "); ok {
			heading = strings.Trim(strings.TrimSpace(name), "`")
			continue
		}
		sections[heading] += line
	}
	check := func(heading string, v reflect.Value) {
		if sections[heading] == "" {
			t.Errorf("there is no section %q", heading)
		}
		for _, f := range fieldsOf(v) {
			if !strings.Contains(sections[heading], "| `"+f.name+"` |") {
				t.Errorf("section %q has no row for %s", heading, f.name)
			}
		}
	}
	check("General", reflect.ValueOf(Config{}))
	check("auth.keys", reflect.ValueOf(Key{}))
	check("auth", reflect.ValueOf(Auth{}))
	check("providers", reflect.ValueOf(Provider{}))
	check("channels", reflect.ValueOf(Channel{}))
	check("policies", reflect.ValueOf(Policy{}))
	check("keys", reflect.ValueOf(Keys{}))
	check("keys.recipes", reflect.ValueOf(Recipe{}))
	check("near_duplicate", reflect.ValueOf(NearDuplicate{}))
	check("operator", reflect.ValueOf(providers.OperatorSettings{}))
	check("shutdown", reflect.ValueOf(Shutdown{}))
	check("retention", reflect.ValueOf(Retention{}))
	check("storage", reflect.ValueOf(Storage{}))
	check("log", reflect.ValueOf(Log{}))
	for name, kind := range mustLoad(t, Source{}).table {
		check("Provider type "+name, reflect.ValueOf(kind.Settings()).Elem())
	}
}
