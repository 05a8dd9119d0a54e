package fake_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/fake"
)

// sends are one message in the form of each provider that reports, with the reference ref and the token.
var sends = map[string]func(token string) *http.Request{
	"twilio": func(token string) *http.Request {
		r := form("/2010-04-01/Accounts/AC1/Messages.json", "To=%2B15550100001&From=%2B15005550006&Body="+token+"&StatusCallback=https://us.test/receipts/ref-1")
		r.SetBasicAuth("AC1", "token")
		return r
	},
	"vonage sms": func(token string) *http.Request {
		return form("/sms/json", "api_key=abcd1234&to=15550100001&from=Shop&text="+token+"&client-ref=ref-1&callback=https://us.test/receipts/ref-1")
	},
	"vonage messages": func(token string) *http.Request {
		r := jsonRequest("/v1/messages", `{"to":"15550100001","from":"Shop","text":"`+token+`","client_ref":"ref-1","webhook_url":"https://us.test/receipts/ref-1"}`)
		r.SetBasicAuth("abcd1234", "secret")
		return r
	},
	"sendgrid": func(token string) *http.Request {
		return jsonRequest("/v3/mail/send", `{"categories":["shop"],"content":[{"type":"text/plain","value":"`+token+`"}],"from":{"email":"shop@example.test"},"subject":"Hi",`+
			`"personalizations":[{"to":[{"email":"a@example.test"}],"custom_args":{"reference":"ref-1"}}]}`)
	},
	"resend": func(token string) *http.Request {
		return jsonRequest("/emails", `{"from":"shop@example.test","subject":"Hi","tags":[{"name":"reference","value":"ref-1"}],"text":"`+token+`","to":["a@example.test"]}`)
	},
}

func form(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}

func jsonRequest(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer key")
	return r
}

// inbox is where receipts arrive.
type inbox struct {
	mu     sync.Mutex
	status func(n int) int // of the answer to the nth; 0: nobody answers
	posts  []posted
}

type posted struct {
	at     time.Time
	url    string
	header http.Header
	body   string
}

// RoundTrip takes a receipt.
func (b *inbox) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.posts = append(b.posts, posted{time.Now(), r.URL.String(), r.Header, string(body)})
	status := http.StatusNoContent
	if b.status != nil {
		status = b.status(len(b.posts))
	}
	if status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	return &http.Response{StatusCode: status, Body: io.NopCloser(bytes.NewReader(nil)), Request: r}, nil
}

func (b *inbox) count(text string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.posts {
		n += strings.Count(p.body, text)
	}
	return n
}

func (b *inbox) size() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.posts)
}

func reporting(b *inbox, o fake.Options) *fake.Provider {
	o.Receipts.Client, o.Receipts.Webhook = &http.Client{Transport: b}, "https://us.test/r/webhook"
	return fake.New(o)
}

func TestReceipts_WellBehaved(t *testing.T) {
	signatures := map[string]string{
		"twilio": "X-Twilio-Signature", "vonage sms": "", "vonage messages": "Authorization",
		"sendgrid": "X-Twilio-Email-Event-Webhook-Signature", "resend": "Svix-Signature",
	}
	for kind, send := range sends {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &inbox{}
				p := reporting(b, fake.Options{WellBehaved: true})
				p.ServeHTTP(httptest.NewRecorder(), send("tok_a"))
				time.Sleep(time.Hour)
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
				id := p.Accepted()[0].ID
				if len(b.posts) != 2 || b.count(id) < 2 || b.count("delivered") < 1 || p.Posted()[204] != 2 {
					t.Fatalf("posted %+v", b.posts)
				}
				for _, post := range b.posts {
					if !strings.Contains(post.body+post.url, "ref-1") || strings.Contains(post.body, "tok_a") {
						t.Errorf("the receipt %s %s has no reference of ours, or the text", post.url, post.body)
					}
					if name := signatures[kind]; name != "" && post.header.Get(name) == "" || name == "" && !strings.Contains(post.body, "sig=") {
						t.Errorf("no signature: %v", post.header)
					}
				}
			})
		})
	}
}

// A hundred messages of each provider: some receipts are lost, early, late, there several times, about nobody's messages.
func TestReceipts_Misbehave(t *testing.T) {
	for kind, send := range sends {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, early, begin := &inbox{}, 0, time.Now()
				p := reporting(b, fake.Options{Weights: map[fake.Behaviour]int{fake.Accept: 1}})
				for n := range 100 {
					before := b.size()
					p.ServeHTTP(httptest.NewRecorder(), send(fmt.Sprintf("tok_%d", n)))
					early += min(1, b.size()-before)
					synctest.Wait()
				}
				time.Sleep(48 * time.Hour)
				_ = p.Close()
				if kind == "sendgrid" { // its events wait for one another
					early = 5
				}
				lost, several, all := 0, 0, ""
				for _, post := range b.posts {
					all += post.body + post.url + "\n"
				}
				reports := strings.Count(all, "\n")
				if kind == "sendgrid" {
					reports = strings.Count(all, `"sg_event_id"`) - strings.Count(all, `"invented"`)
				}
				strange := reports - max(strings.Count(all, "receipts/ref-1\n"), strings.Count(all, `"ref-1"`))
				for _, m := range p.Accepted() {
					switch n := strings.Count(all, m.ID); {
					case n == 0:
						lost++
					case n > 4:
						several++
					}
				}
				late := b.posts[len(b.posts)-1].at.Sub(begin)
				if lost < 3 || lost > 20 || early < 3 || early > 25 || several == 0 || strange < 1 || strange > 60 || late < 10*time.Minute || late > 21*time.Minute {
					t.Errorf("lost %d, early %d, several %d, strange %d, the last after %v", lost, early, several, strange, late)
				}
			})
		})
	}
}
