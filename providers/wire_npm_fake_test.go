package providers

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"sendonce/fake"
)

// What the fake signs is what the providers' own libraries verify: the tests through the whole service take the fake's word.
func TestWire_LibrariesVerifyWhatTheFakeSigns(t *testing.T) {
	const form, callback = "application/x-www-form-urlencoded", "https://notify.example.test/v1/receipts/main/row-1"
	p := fake.New(fake.Options{WellBehaved: true, Receipts: fake.Receipts{
		Webhook: callback, Keys: fake.Keys{TwilioToken: "example-token", TwilioKeyID: "example", TwilioSharedKey: "example-shared-key"},
	}})
	send := func(token, path, contentType, body string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(strings.ReplaceAll(body, "TOKEN", token)))
		r.Header.Set("Content-Type", contentType)
		r.SetBasicAuth("abcd1234", "example-secret")
		p.ServeHTTP(httptest.NewRecorder(), r)
		receipt, err := p.Receipt(token, "delivered")
		if err != nil {
			t.Fatal(err)
		}
		return receipt
	}
	text := func(r *http.Request) string {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var tasks []npmTask
	var want []string
	const sms = "To=%2B15550100001&From=%2B15005550006&Body=TOKEN&StatusCallback=https%3A%2F%2Fnotify.example.test%2Fv1%2Freceipts%2Fmain%2Frow-1%23rc%3D5"
	for _, token := range []string{"tok_1", "tok_2"} { // every second one is signed with the shared key
		r := send(token, "/2010-04-01/Accounts/AC1/Messages.json", form, sms)
		task := npmTask{Does: "twilio_valid", Secret: "example-token", URL: r.URL.String(), Params: map[string]any{}, Signature: r.Header.Get(twilioSignature)}
		if settings := r.Header.Get("X-Twilio-Webhooks-Signature-Settings"); settings != "" {
			task.Secret, task.Algorithm = "example-shared-key", settings[strings.LastIndexByte(settings, '=')+1:]
		}
		params, err := url.ParseQuery(text(r))
		if err != nil {
			t.Fatal(err)
		}
		for name := range params {
			task.Params[name] = params.Get(name)
		}
		tasks, want = append(tasks, task), append(want, "true")
	}
	r := send("tok_3", "/v3/mail/send", "application/json", `{"from":{"email":"a@example.test"},"subject":"TOKEN","personalizations":[{"to":[{"email":"b@example.test"}]}]}`)
	at, err := strconv.ParseInt(r.Header.Get(sendGridTimestamp), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	tasks = append(tasks, npmTask{Does: "sendgrid_valid", Key: fake.EventKey(), Signature: r.Header.Get(sendGridSignature), Timestamp: at, Body: text(r)})
	r = send("tok_4", "/v1/messages", "application/json", `{"to":"15550100001","from":"Shop","text":"TOKEN","webhook_url":"`+callback+`"}`)
	tasks = append(tasks, npmTask{Does: "vonage_valid", Token: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), Secret: fake.VonageSecret})
	r = send("tok_5", "/emails", "application/json", `{"from":"a@example.test","subject":"TOKEN","to":["b@example.test"]}`)
	if at, err = strconv.ParseInt(r.Header.Get(svixTimestamp), 10, 64); err != nil {
		t.Fatal(err)
	}
	tasks = append(tasks, npmTask{Does: "standardwebhooks", Secret: fake.SvixSecret, ID: r.Header.Get(svixID), Timestamp: at, Body: text(r)})
	want = append(want, "true", "true", r.Header.Get(svixSignature))
	for i, got := range npm(t, tasks) {
		if got != want[i] {
			t.Errorf("%s: %s, want %s", tasks[i].Does, got, want[i])
		}
	}
	if algorithms := fmt.Sprint(tasks[0].Algorithm, tasks[1].Algorithm); algorithms != "HMAC_SHA256" {
		t.Errorf("signed with %q: one of the two has to be by the shared key", algorithms)
	}
}
