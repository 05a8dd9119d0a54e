package config

import (
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
	"sendonce/providers"
)

func TestLoad_LaterPlacesWin(t *testing.T) {
	file := writeFile(t, "sendonce.yaml", "listen: 127.0.0.1:1\ndatabase: file.db\nshutdown: {drain: 1s}\nnear_duplicate: {window: 1m}\n")
	c := mustLoad(t, Source{
		File: file, FileGiven: true,
		Env:   []string{"SENDONCE_LISTEN=127.0.0.1:2", "SENDONCE_DATABASE=env.db", "SENDONCE_NEAR_DUPLICATE__ACTION=off", "PATH=/bin"},
		Flags: map[string]string{"listen": "127.0.0.1:3"},
	})
	if c.Listen != "127.0.0.1:3" || c.Database != "env.db" || c.Shutdown.Drain != time.Second {
		t.Errorf("listen %s, database %s, drain %s", c.Listen, c.Database, c.Shutdown.Drain)
	}
	// A variable changes one setting of a section, the others stay.
	if c.NearDuplicate != (NearDuplicate{Window: time.Minute, Action: "off"}) || c.Keys.Header != HeaderRefuse {
		t.Errorf("near duplicate %+v, header %s", c.NearDuplicate, c.Keys.Header)
	}
	if got := c.Ledger().NearDuplicate.Window; got != 0 {
		t.Errorf("action off leaves a window of %s", got)
	}
}

// typeNames lists the types of providers as a fault does.
var typeNames = oneOf(slices.Sorted(maps.Keys(providers.Types)))

// F37: a variable that does not do what it says stops the start.
func TestLoad_Environment(t *testing.T) {
	infrai := []string{"SENDONCE_PROVIDERS__INFRAI_MAIN__TYPE=infrai", "SENDONCE_PROVIDERS__INFRAI_MAIN__API_KEY=example-key"}
	for name, tc := range map[string]struct {
		env  []string
		want string // the faults; empty: none
	}{
		"two underscores part levels":         {[]string{"SENDONCE_SHUTDOWN__DRAIN=9s"}, ""},
		"one underscore does not":             {[]string{"SENDONCE_SHUTDOWN_DRAIN=9s"}, "SENDONCE_SHUTDOWN_DRAIN: leads to no setting, did you mean SENDONCE_SHUTDOWN__DRAIN?"},
		"too many levels":                     {[]string{"SENDONCE_PUBLIC__URL=x"}, "SENDONCE_PUBLIC__URL: leads to no setting, did you mean SENDONCE_PUBLIC_URL?"},
		"name with an underscore":             {infrai, ""},
		"name with one level too many":        {append(slices.Clone(infrai), "SENDONCE_PROVIDERS__INFRAI__MAIN__FROM=x"), "SENDONCE_PROVIDERS__INFRAI__MAIN__FROM: providers.infrai.type: is missing: it is " + typeNames},
		"name with one level less":            {append(slices.Clone(infrai), "SENDONCE_PROVIDERS_INFRAI_MAIN_FROM=x"), "SENDONCE_PROVIDERS_INFRAI_MAIN_FROM: leads to no setting, did you mean SENDONCE_PROVIDERS__INFRAI_MAIN__FROM?"},
		"setting of another type":             {append(slices.Clone(infrai), "SENDONCE_PROVIDERS__INFRAI_MAIN__URLS=x"), "SENDONCE_PROVIDERS__INFRAI_MAIN__URLS: leads to no setting"},
		"near miss":                           {append(slices.Clone(infrai), "SENDONCE_PROVIDERS__INFRAI_MAIN__APIKEY=x"), "SENDONCE_PROVIDERS__INFRAI_MAIN__APIKEY: leads to no setting, did you mean api_key?"},
		"scalar over a section":               {[]string{"SENDONCE_SHUTDOWN=oops"}, "SENDONCE_SHUTDOWN: leads to a section: set one of its settings, after two more underscores"},
		"scalar over named sections":          {[]string{"SENDONCE_PROVIDERS={}"}, "SENDONCE_PROVIDERS: leads to a section: set one of its settings, after two more underscores"},
		"empty value":                         {[]string{"SENDONCE_LISTEN="}, "SENDONCE_LISTEN: listen: is empty: give it a value or unset it"},
		"blank value":                         {[]string{"SENDONCE_SHUTDOWN__DRAIN= "}, "SENDONCE_SHUTDOWN__DRAIN: shutdown.drain: is empty: give it a value or unset it"},
		"unknown":                             {[]string{"SENDONCE_UNKNOWN=1"}, "SENDONCE_UNKNOWN: leads to no setting"},
		"small letters":                       {[]string{"SENDONCE_listen=127.0.0.1:1"}, "SENDONCE_listen: must be written in capitals"},
		"the client's variables":              {[]string{"SENDONCE_URL=", "SENDONCE_KEY=k"}, ""},
		"another program's":                   {[]string{"SENDONCEX=1", "XSENDONCE_LISTEN=1", "sendonce_listen=1"}, ""},
		"another program's, with the prefix":  {[]string{"SENDONCE_SERVICE_HOST=10.0.0.1"}, "SENDONCE_SERVICE_HOST: leads to no setting"},
		"list with commas":                    {[]string{"SENDONCE_CHANNELS__SMS__RETRY=1s, 2s"}, ""},
		"trailing comma":                      {[]string{"SENDONCE_CHANNELS__SMS__RETRY=1s,"}, "SENDONCE_CHANNELS__SMS__RETRY: channels.sms.retry[1]: must be a duration with a unit, such as 30s, 10m or 72h"},
		"list as JSON":                        {[]string{`SENDONCE_KEYS__RECIPES=["type-user-event", "event"]`}, ""},
		"list of sections as YAML":            {[]string{"SENDONCE_POLICIES=[{event_type: otp.*, lane: urgent}]"}, ""},
		"list of sections with commas":        {[]string{"SENDONCE_POLICIES=otp.*,urgent"}, "SENDONCE_POLICIES: policies: is not readable: separate items with commas, or write YAML or JSON"},
		"broken YAML":                         {[]string{"SENDONCE_POLICIES=[{event_type: otp.*"}, "SENDONCE_POLICIES: policies: is not readable: separate items with commas, or write YAML or JSON"},
		"number":                              {append(slices.Clone(infrai), "SENDONCE_PROVIDERS__INFRAI_MAIN__WORKERS=8"), ""},
		"no number":                           {append(slices.Clone(infrai), "SENDONCE_PROVIDERS__INFRAI_MAIN__WORKERS=eight"), "SENDONCE_PROVIDERS__INFRAI_MAIN__WORKERS: providers.infrai_main.workers: must be a whole number"},
		"duration without unit":               {[]string{"SENDONCE_SHUTDOWN__DRAIN=30"}, "SENDONCE_SHUTDOWN__DRAIN: shutdown.drain: must be a duration with a unit, such as 30s, 10m or 72h"},
		"no channel":                          {[]string{"SENDONCE_CHANNELS__FAX__TIMEOUT=1s"}, "SENDONCE_CHANNELS__FAX__TIMEOUT: channels.fax: is no channel: there are sms, email, push or webhook"},
		"out of range, and one more variable": {[]string{"SENDONCE_SHUTDOWN__DRAIN=11m", "SENDONCE_X=1"}, "SENDONCE_SHUTDOWN__DRAIN: shutdown.drain: must be 0s to 10m\nSENDONCE_X: leads to no setting"},
		"provider without type":               {[]string{"SENDONCE_PROVIDERS__X__API_KEY=k"}, "SENDONCE_PROVIDERS__X__API_KEY: providers.x.type: is missing: it is " + typeNames},
	} {
		t.Run(name, func(t *testing.T) {
			s := Source{Env: tc.env}
			if tc.want == "" {
				mustLoad(t, s)
				return
			}
			if got := faultsOf(t, s); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestLoad_EnvironmentTakesEffect(t *testing.T) {
	c := mustLoad(t, Source{Env: []string{
		"SENDONCE_SHUTDOWN__DRAIN=9s",
		"SENDONCE_CHANNELS__SMS__PROVIDERS=infrai_main,log",
		"SENDONCE_CHANNELS__SMS__RETRY=1s, 2s",
		"SENDONCE_PROVIDERS__INFRAI_MAIN__TYPE=infrai",
		"SENDONCE_PROVIDERS__INFRAI_MAIN__API_KEY=a=b",
		"SENDONCE_PROVIDERS__INFRAI_MAIN__RATE=300/m",
		"SENDONCE_POLICIES=[{event_type: otp.*, lane: urgent}]",
		`SENDONCE_KEYS__RECIPES=[{"name": "mine", "fields": ["event_id", "user_id"], "separator": "|", "length": 40}]`,
	}})
	sms := c.Channels[ledger.SMS]
	if !reflect.DeepEqual(sms.Providers, []string{"infrai_main", "log"}) || !reflect.DeepEqual(sms.Retry, []time.Duration{time.Second, 2 * time.Second}) {
		t.Errorf("sms is %+v", sms)
	}
	p := c.Providers["infrai_main"]
	if p.Settings.(*providers.InfraiSettings).APIKey != "a=b" || p.Rate != 5 {
		t.Errorf("the provider has rate %v, or not its key", p.Rate)
	}
	if c.Shutdown.Drain != 9*time.Second || c.Policies[0].Lane != "urgent" || c.Keys.Recipes[0].Length != 40 {
		t.Errorf("drain %s, policies %+v, recipes %+v", c.Shutdown.Drain, c.Policies, c.Keys.Recipes)
	}
}

// F37: a faulty variable leaves the other settings of its section as they are, so their faults are still seen.
func TestLoad_ScalarOverSectionHidesNothing(t *testing.T) {
	file := writeFile(t, "sendonce.yaml", "shutdown: {drain: 11m}\n")
	got := faultsOf(t, Source{File: file, FileGiven: true, Env: []string{"SENDONCE_SHUTDOWN=oops"}})
	if !strings.Contains(got, "SENDONCE_SHUTDOWN: ") || !strings.Contains(got, "sendonce.yaml:1: shutdown.drain: ") {
		t.Errorf("got\n%s", got)
	}
}

func TestLoad_FileThatIsNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.yaml")
	mustLoad(t, Source{File: path})
	if got := faultsOf(t, Source{File: path, FileGiven: true}); !strings.HasPrefix(got, path+": can't be read") {
		t.Errorf("got %s", got)
	}
}

func TestLoad_TypeFromAnotherPlace(t *testing.T) {
	file := writeFile(t, "sendonce.yaml", "providers: {main: {api_key: example-key}}\nchannels: {sms: {providers: [main]}}\n")
	env := []string{"SENDONCE_PROVIDERS__MAIN__TYPE=infrai"}
	if c := mustLoad(t, Source{File: file, FileGiven: true, Env: env}); !c.Real() {
		t.Error("infrai counts as real")
	}
	env = []string{"SENDONCE_PROVIDERS__MAIN__TYPE=log"}
	if got := faultsOf(t, Source{File: file, FileGiven: true, Env: env}); !strings.Contains(got, "sendonce.yaml:1: providers.main.api_key: is no setting") {
		t.Errorf("got %s", got)
	}
}

func TestLoad_FaultsOfAllPlacesAtOnce(t *testing.T) {
	file := writeFile(t, "sendonce.yaml", "listn: x\nshutdown: {drain: 5}\n")
	got := faultsOf(t, Source{File: file, FileGiven: true, Env: []string{"SENDONCE_X=1"}, Flags: map[string]string{"listen": "nowhere"}})
	for _, want := range []string{"--listen: listen: ", ":1: listn: ", ":2: shutdown.drain: ", "SENDONCE_X: "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// A list of a later place replaces the whole list: what the earlier one said about an item is gone.
func TestLoad_ListsAreReplaced(t *testing.T) {
	file := writeFile(t, "sendonce.yaml", "policies: [{event_type: a, on_ambiguous: abandon, after: 1m}]\n")
	env := []string{"SENDONCE_POLICIES=[{event_type: b, on_ambiguous: abandon}]"}
	want := "SENDONCE_POLICIES: policies[0].after: is missing: on_ambiguous needs a time to wait for evidence"
	if got := faultsOf(t, Source{File: file, FileGiven: true, Env: env}); got != want {
		t.Errorf("got %s", got)
	}
}

// A fault brings no second one that only follows from it.
func TestLoad_NoFollowingFaults(t *testing.T) {
	for _, text := range []string{
		"listen: 0.0.0.0:1\nauth: {keys: 5}\n",
		"providers: {p: {type: infrai, api_key: 5}}\n",
		"providers: {p: {type: nothing}}\nchannels: {sms: {providers: [p]}}\n",
		"providers: {p: 5}\nchannels: {sms: {providers: [p]}}\n",
		"channels: {sms: {providers: p}}\nproviders: {p: {type: infrai, api_key: k}}\n",
	} {
		file := writeFile(t, "sendonce.yaml", text)
		if got := faultsOf(t, Source{File: file, FileGiven: true}); strings.Count(got, "\n") != 0 {
			t.Errorf("%s: got\n%s", text, got)
		}
	}
}
