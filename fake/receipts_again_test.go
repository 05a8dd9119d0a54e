package fake_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/fake"
)

func TestReceipts_PostedAgain(t *testing.T) {
	cases := map[string]struct {
		kind   string
		status int // of the first two answers
		posts  int
	}{
		"twilio gives up":               {"twilio", 500, 2},
		"twilio, unreachable by a dial": {"twilio", 0, 2}, // the connection was there, so it is no failed dial
		"vonage sms gives up":           {"vonage sms", 500, 2},
		"vonage messages":               {"vonage messages", 500, 4},
		"resend":                        {"resend", 403, 4},
		"sendgrid":                      {"sendgrid", 500, 4},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &inbox{status: func(n int) int {
					if n <= 2 {
						return c.status
					}
					return 204
				}}
				p := reporting(b, fake.Options{WellBehaved: true})
				p.ServeHTTP(httptest.NewRecorder(), sends[c.kind]("tok_a"))
				time.Sleep(48 * time.Hour)
				_ = p.Close()
				if len(b.posts) != c.posts {
					t.Errorf("%d posts, want %d: %+v", len(b.posts), c.posts, b.posts)
				}
				ids := map[string]bool{}
				for _, post := range b.posts {
					ids[post.header.Get("Svix-Id")] = true
					var events []struct {
						ID string `json:"sg_event_id"`
					}
					if c.kind == "sendgrid" && json.Unmarshal([]byte(post.body), &events) == nil {
						ids[events[0].ID] = true
					}
				}
				if c.kind == "resend" && len(ids) != 2 || c.kind == "sendgrid" && len(ids) != 5 {
					t.Errorf("ids %v", ids)
				}
			})
		})
	}
}

// SendGrid posts the events of many messages in one array, and every fifth has one that nobody can read.
func TestReceipts_SendGridMixes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &inbox{}
		p := reporting(b, fake.Options{Weights: map[fake.Behaviour]int{fake.Accept: 1}})
		for n := range 400 {
			p.ServeHTTP(httptest.NewRecorder(), sends["sendgrid"](fmt.Sprintf("tok_%d", n)))
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour)
		_ = p.Close()
		mixed, odd := 0, 0
		for _, post := range b.posts {
			var events []any
			if err := json.Unmarshal([]byte(post.body), &events); err != nil || !strings.HasSuffix(post.body, "]\r\n") {
				t.Fatalf("%v: %s", err, post.body)
			}
			ids := map[any]bool{}
			for _, e := range events {
				event, _ := e.(map[string]any)
				if id, _ := event["sg_message_id"].(string); strings.Contains(id, ".recvd-") {
					ids[id] = true
				} else {
					odd++
				}
			}
			if len(ids) > 5 {
				mixed++
			}
		}
		if mixed < 10 || odd < 3 || odd > len(b.posts)/3 {
			t.Errorf("of %d arrays %d mix messages, %d have an odd event", len(b.posts), mixed, odd)
		}
	})
}
