package providers

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sendonce/ledger"
)

// npmTask is one call of a provider's own library.
type npmTask struct {
	Does      string         `json:"does"`
	Secret    string         `json:"secret,omitempty"`
	URL       string         `json:"url,omitempty"`
	Params    map[string]any `json:"params,omitempty"`
	Algorithm string         `json:"algorithm,omitempty"`
	ID        string         `json:"id,omitempty"`
	Timestamp int64          `json:"timestamp,omitempty"`
	Body      string         `json:"body,omitempty"`
	Key       string         `json:"key,omitempty"`
	Signature string         `json:"signature,omitempty"`
	Token     string         `json:"token,omitempty"`
}

// installNPM puts the providers' libraries into the user's cache folder, as the lock file has them, and returns the folder.
func installNPM(t *testing.T) string {
	t.Helper()
	if !*wire {
		t.Skip("SKIPPED: needs -wire (make test-wire)")
	}
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			unproven(t, "there is no %s", tool)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		unproven(t, "no cache folder: %v", err)
	}
	lock := read(t, "../testdata/npm/package-lock.json")
	sum := sha256.Sum256(lock)
	dir := filepath.Join(cache, "sendonce-wire", "npm-"+hex.EncodeToString(sum[:6]))
	done := filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return dir
	}
	for name, text := range map[string][]byte{"package.json": read(t, "../testdata/npm/package.json"), "package-lock.json": lock} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			unproven(t, "%v", err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			unproven(t, "%v", err)
		}
	}
	cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		unproven(t, "the providers' libraries cannot be installed: %v\n%s", err, out)
	}
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// npm does tasks with the providers' libraries.
func npm(t *testing.T, tasks []npmTask) (results []string) {
	t.Helper()
	dir := installNPM(t)
	program, err := filepath.Abs("../testdata/npm/signatures.js")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(tasks)
	if err != nil {
		t.Fatal(err)
	}
	var out, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "node", "-e", string(read(t, program)))
	cmd.Dir = dir // where require finds them
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &out, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if err := json.Unmarshal(out.Bytes(), &results); err != nil || len(results) != len(tasks) {
		t.Fatalf("%v, %d results of %d tasks", err, len(results), len(tasks))
	}
	return results
}

// What the providers' own libraries sign is taken, and one changed byte of it is not.
func TestWire_LibrariesSignWhatWeTake(t *testing.T) {
	type signed struct {
		poster string
		task   npmTask
		post   func(signature string) ledger.Posted
	}
	var all []signed
	twilio := func(name, address, algorithm string, form url.Values, body []byte) {
		task := npmTask{Does: "twilio", Secret: testKey, URL: address, Algorithm: algorithm}
		if form != nil {
			task.Params, body = map[string]any{}, []byte(form.Encode())
			for k, v := range form {
				if task.Params[k] = any(v); len(v) == 1 {
					task.Params[k] = v[0]
				}
			}
		}
		if algorithm != "" {
			task.Secret = "shared " + testKey
		}
		all = append(all, signed{name, task, func(signature string) ledger.Posted {
			r := posted(testTime, testReference, "", body, twilioSignature, signature)
			if r.URL = receiptsURL + "/" + testReference; form == nil {
				r.URL = address
			}
			if algorithm != "" {
				r.Header[twilioSettings] = []string{"key=" + testSharedKeyID + ",algorithm=" + algorithm}
			}
			return r
		}})
	}
	good := posterOf(t, "twilio").good
	form, _ := url.ParseQuery(string(twilioFormBody(good)))
	odd, _ := url.ParseQuery(string(twilioFormBody(good)))
	odd["Tag"], odd["Größe"], odd["Empty"] = []string{"b", "a", "a", "ü"}, []string{"1 & 2 = 3 + %"}, []string{""}
	plain := receiptsURL + "/" + testReference
	for _, f := range []url.Values{form, odd} {
		for _, address := range []string{plain, strings.Replace(plain, ".test/", ".test:443/", 1)} {
			for _, algorithm := range []string{"", "HMAC_SHA1", "HMAC_SHA256"} {
				twilio("twilio", address, algorithm, f, nil)
			}
		}
	}
	body := posterOf(t, "twilio_json").body(good)
	twilio("twilio_json", fmt.Sprintf("%s?bodySHA256=%x", plain, sha256.Sum256(body)), "", nil, body)
	resend := posterOf(t, "resend")
	body = resend.body(resend.good)
	all = append(all, signed{"resend", npmTask{Does: "standardwebhooks", Secret: testSecret, ID: "msg_2", Timestamp: testTime.Unix(), Body: string(body)},
		func(signature string) ledger.Posted {
			return posted(testTime, "", "", body, svixID, "msg_2", svixTimestamp, fmt.Sprint(testTime.Unix()), svixSignature, signature)
		}})
	var tasks []npmTask
	for _, s := range all {
		tasks = append(tasks, s.task)
	}
	for i, signature := range npm(t, tasks) {
		a, r := posterOf(t, all[i].poster).make(t, true), all[i].post(signature)
		got, err := a.Receipts(r)
		if err != nil || len(got) != 1 || got[0].ID != testRow || got[0].Number != 2 {
			t.Errorf("%+v: %v, %+v", tasks[i], err, got)
		}
		r.Body[len(r.Body)-1] ^= 1
		refuses(t, a, r, "one changed byte of what a library signed")
	}
	t.Logf("%d requests signed by the libraries", len(all))
}

// What our tests sign is what the providers' own libraries verify: the tests' requests are those of the providers.
func TestWire_LibrariesVerifyWhatOurTestsSign(t *testing.T) {
	var tasks []npmTask
	var want []string
	add := func(task npmTask, valid bool) {
		tasks, want = append(tasks, task), append(want, fmt.Sprint(valid))
	}
	for _, p := range posters {
		r := p.post(p.good, testTime)
		h := http.Header(r.Header)
		for _, changed := range []bool{false, true} {
			body := string(r.Body)
			if changed {
				body = strings.Replace(body, p.good.word, p.good.word+"x", 1)
			}
			form, _ := url.ParseQuery(body)
			params := map[string]any{}
			for name := range form {
				params[name] = form.Get(name)
			}
			switch p.name {
			case "twilio":
				add(npmTask{Does: "twilio_valid", Secret: testKey, URL: r.URL, Signature: h.Get(twilioSignature), Params: params}, !changed)
			case "twilio_shared":
				add(npmTask{Does: "twilio_valid", Secret: "shared " + testKey, URL: r.URL, Signature: h.Get(twilioSignature), Params: params, Algorithm: "HMAC_SHA256"}, !changed)
			case "twilio_json":
				add(npmTask{Does: "twilio_valid", Secret: testKey, URL: r.URL, Signature: h.Get(twilioSignature), Body: body}, !changed)
			case "sendgrid":
				add(npmTask{Does: "sendgrid_valid", Key: eventKeyText(t), Signature: h.Get(sendGridSignature), Timestamp: testTime.Unix(), Body: body}, !changed)
			case "vonage_messages":
				token := strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
				if changed {
					token = strings.Replace(token, ".", ".e", 1)
				}
				add(npmTask{Does: "vonage_valid", Token: token, Secret: testSignature}, !changed)
			}
		}
	}
	for i, got := range npm(t, tasks) {
		if got != want[i] {
			t.Errorf("%+v: %s, want %s", tasks[i], got, want[i])
		}
	}
	t.Logf("%d requests held against the libraries", len(tasks))
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
