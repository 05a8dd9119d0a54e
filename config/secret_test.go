package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sendonce/ledger"
	"sendonce/providers"
)

const canary = "SECRETCANARY1"

// vault is a type with every kind of secret setting that there is.
type vault struct {
	Token  providers.Secret            `koanf:"token"`
	Shared map[string]providers.Secret `koanf:"shared"`
	Note   string                      `koanf:"note"`
}

func (v *vault) Validate(providers.Common) []ledger.FieldError         { return nil }
func (v *vault) New(string, providers.Common) (ledger.Provider, error) { return nil, nil }

var vaultTable = map[string]providers.Type{
	"vault": {Channels: ledger.Channels, Settings: func() providers.Settings { return &vault{} }, Real: true},
	"log":   providers.Types["log"],
}

func TestLoad_SecretFromFile(t *testing.T) {
	for name, tc := range map[string]struct{ content, want, fault string }{
		"one newline is cut":     {canary + "\n\n", canary + "\n", ""},
		"one CRLF is cut":        {canary + "\r\n", canary, ""},
		"blanks stay":            {" " + canary + " ", " " + canary + " ", ""},
		"empty":                  {"", "", "names a file with nothing in it"},
		"only a newline":         {"\n", "", "names a file with nothing in it"},
		"longer than any secret": {strings.Repeat("x", maxSecret+1), "", "can't be read: it has more than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, "secret", tc.content)
			file := writeFile(t, "sendonce.yaml", "providers: {v: {type: vault, token_file: "+path+"}}\n")
			for _, s := range []Source{
				{File: file, FileGiven: true},
				{Env: []string{"SENDONCE_PROVIDERS__V__TYPE=vault", "SENDONCE_PROVIDERS__V__TOKEN_FILE=" + path}},
			} {
				c, err := load(s, vaultTable)
				if tc.fault != "" {
					if err == nil || !strings.Contains(err.Error(), "providers.v.token_file: "+tc.fault) {
						t.Errorf("got %v, want %s", err, tc.fault)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := string(c.Providers["v"].Settings.(*vault).Token); got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			}
		})
	}
}

func TestLoad_SecretFileFaults(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	for name, tc := range map[string]struct{ settings, want string }{
		"no such file":  {"token_file: " + missing, "providers.v.token_file: can't be read: no such file or directory"},
		"a folder":      {"token_file: " + t.TempDir(), "providers.v.token_file: can't be read: is a directory"},
		"no path":       {"token_file: 5", "providers.v.token_file: must be the path of a file"},
		"both":          {"token: a, token_file: " + missing, "providers.v.token_file: stands beside token: give one of them"},
		"not a secret":  {"note_file: " + missing, "providers.v.note_file: is no setting"},
		"near a secret": {"tokn_file: " + missing, "providers.v.tokn_file: is no setting, did you mean token_file?"},
	} {
		t.Run(name, func(t *testing.T) {
			file := writeFile(t, "sendonce.yaml", "providers: {v: {type: vault, "+tc.settings+"}}\n")
			_, err := load(Source{File: file, FileGiven: true}, vaultTable)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// A secret that its file does not give is one fault, not the lack of the secret as well.
func TestLoad_SecretFileMissingIsOneFault(t *testing.T) {
	file := writeFile(t, "sendonce.yaml", "providers: {a: {type: infrai, api_key_file: none}}\nchannels: {sms: {providers: [a]}}\n")
	want := file + ":1: providers.a.api_key_file: can't be read: no such file or directory"
	if got := faultsOf(t, Source{File: file, FileGiven: true}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A later place replaces a secret also when one of the two names a file.
func TestLoad_SecretOverSecretFile(t *testing.T) {
	old := writeFile(t, "secret", "old")
	file := writeFile(t, "sendonce.yaml", "providers: {v: {type: vault, token_file: "+old+"}}\n")
	c, err := load(Source{File: file, FileGiven: true, Env: []string{"SENDONCE_PROVIDERS__V__TOKEN=new"}}, vaultTable)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(c.Providers["v"].Settings.(*vault).Token); got != "new" {
		t.Errorf("got %s", got)
	}
}

// F34: the printed configuration holds no secret.
func TestPrint_MasksSecrets(t *testing.T) {
	secret := writeFile(t, "secret", canary)
	file := writeFile(t, "sendonce.yaml", `
providers:
  a: {type: vault, token: `+canary+`, shared: {one: `+canary+`}, note: seen}
  b: {type: vault, token_file: `+secret+`}
`)
	c, err := load(Source{File: file, FileGiven: true, Env: []string{"SENDONCE_PROVIDERS__B__SHARED__TWO=" + canary}}, vaultTable)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := c.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{out.String(), fmt.Sprintf("%v", c), fmt.Sprintf("%+v", c.Providers["a"].Settings)} {
		if strings.Contains(text, canary) {
			t.Errorf("the secret shows in\n%s", text)
		}
	}
	if strings.Count(out.String(), "'***'")+strings.Count(out.String(), `"***"`) != 4 || !strings.Contains(out.String(), "note: seen") {
		t.Errorf("want four masks and the note in\n%s", out.String())
	}
}

// F34: a fault never cites a value, wherever a secret was put by mistake.
func TestLoad_FaultsHoldNoValue(t *testing.T) {
	for name, text := range map[string]string{
		"misspelt key":        "providers: {v: {type: vault, tokn: " + canary + "}}",
		"in place of type":    "providers: {v: {type: " + canary + "}}",
		"in place of section": "providers: {v: " + canary + "}",
		"as the whole file":   canary,
		"as a list":           "- " + canary,
		"as an alias":         "providers: {v: {type: vault, token: *" + canary + "}}",
		"with a tag":          "providers: {v: {type: vault, token: !!int " + canary + "}}",
		"broken quote":        "providers: {v: {type: vault, token: \"" + canary + "}}",
		"as duration":         "shutdown: {drain: " + canary + "}",
		"as size":             "storage: {reserve: " + canary + "}",
		"as rate":             "providers: {v: {type: vault, rate: " + canary + "}}",
		"as number":           "providers: {v: {type: vault, workers: " + canary + "}}",
		"as word":             "keys: {header: " + canary + ", recipes: [" + canary + "]}",
		"as hash":             "auth: {keys: [{name: a, sha256: " + canary + ", roles: [" + canary + "]}]}",
		"as provider":         "channels: {sms: {providers: [" + canary + "], region: " + canary + "}}",
		"as address":          "listen: " + canary + "\npublic_url: 'https://" + canary + "@x.test'",
		"as file":             "providers: {v: {type: vault, token_file: " + canary + "}}",
		"twice":               "listen: " + canary + "\nlisten: " + canary,
	} {
		t.Run(name, func(t *testing.T) {
			file := writeFile(t, "sendonce.yaml", text+"\n")
			_, err := load(Source{File: file, FileGiven: true}, vaultTable)
			if err == nil {
				t.Fatal("loaded")
			}
			if strings.Contains(err.Error(), canary) {
				t.Errorf("the value shows in\n%v", err)
			}
		})
	}
	file := writeFile(t, "sendonce.yaml", "providers: {h: {type: webhook, secret: "+canary+", urls: ["+canary+"], allow_private: ["+canary+"], base_url: "+canary+"}}\n")
	if got := faultsOf(t, Source{File: file, FileGiven: true}); strings.Contains(got, canary) {
		t.Errorf("the value shows in\n%s", got)
	}
	env := []string{"SENDONCE_UNKNOWN=" + canary, "SENDONCE_SHUTDOWN__DRAIN=" + canary, "SENDONCE_POLICIES=[" + canary, "SENDONCE_LISTEN=" + canary}
	if got := faultsOf(t, Source{Env: env}); strings.Contains(got, canary) {
		t.Errorf("the value shows in\n%s", got)
	}
}

// The real types mask too, each with every secret that it has.
func TestPrint_MasksRealTypes(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(fixtures, "example.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c := mustLoad(t, Source{File: filepath.Join(fixtures, "example.yaml"), FileGiven: true})
	var out bytes.Buffer
	if err := c.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"example-key", "example-token", "example-secret", "example-signature", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"} {
		if !bytes.Contains(text, []byte(secret)) || bytes.Contains(out.Bytes(), []byte(secret)) {
			t.Errorf("%s must stand in the file and not in\n%s", secret, out.String())
		}
	}
}
