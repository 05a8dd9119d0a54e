package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"sendonce/fake"
)

// smsTypes are the settings of each type of provider of SMS that the fake speaks.
var smsTypes = map[string]string{
	"infrai":          "{type: infrai, api_key: example-key, base_url: URL}",
	"twilio":          `{type: twilio, account_sid: AC00000000000000000000000000000000, auth_token: example-token, from: "+15005550006", base_url: URL}`,
	"vonage":          "{type: vonage, api_key: abcd1234, api_secret: example-secret, from: AcmeShip, base_url: URL}",
	"vonage messages": "{type: vonage, api: messages, api_key: abcd1234, api_secret: example-secret, from: AcmeShip, base_url: URL}",
}

// F02: whatever a provider of SMS does with the one request, there is no second by itself, the row says what came back, and
// the gate closes for what is the provider's fault and for nothing else.
func TestSend_F02_EverySMSProvider(t *testing.T) {
	t.Parallel()
	for kind, line := range smsTypes {
		lost := "accepted" // what a yes with a lost body is
		if kind == "infrai" || kind == "vonage" {
			lost = "ambiguous"
		}
		for behaviour, want := range map[fake.Behaviour][2]string{ // outcome of the attempt, then the gate
			fake.Accept:        {"accepted", "open"},
			fake.AcceptReset:   {"ambiguous", "open"},
			fake.AcceptError:   {"ambiguous", "open"},
			fake.Unavailable:   {"ambiguous", "open"},
			fake.AcceptGarbage: {"ambiguous", "open"}, // a whole page of somebody's: no yes
			fake.AcceptCut:     {lost, "open"},
			fake.Refuse:        {"rejected", "open"},
			fake.Throttle:      {"deferred", "slowed"},
			fake.Unauthorized:  {"deferred", "paused"},
			fake.NoCredit:      {"deferred", "paused"},
		} {
			t.Run(kind+" "+string(behaviour), func(t *testing.T) {
				p := newPlace(t, fake.Options{WellBehaved: true}, "{type: infrai, api_key: example-key, base_url: URL}", line)
				p.fake.Script("tok_a", behaviour)
				r := p.start()
				a := r.get(r.settled(event(`"event_id":"evt_1"`)).ID)
				if len(a.Attempts) != 1 || a.Attempts[0].Outcome != want[0] {
					t.Errorf("attempts %+v, want one that is %s", a.Attempts, want[0])
				}
				if gate := r.gate("sms_main"); gate != want[1] {
					t.Errorf("the gate is %s, want %s", gate, want[1])
				}
				p.calls(1)
				r.stop()
				p.check()
			})
		}
	}
}

// gates are the states of all providers' gates.
func (r *running) gates() map[string]string {
	r.t.Helper()
	var list struct {
		Providers []struct {
			Name string `json:"name"`
			Gate struct {
				State string `json:"state"`
			} `json:"gate"`
		} `json:"providers"`
	}
	if err := json.Unmarshal([]byte(r.do(http.MethodGet, "/v1/providers", "").body), &list); err != nil {
		r.t.Fatal(err)
	}
	states := map[string]string{}
	for _, p := range list.Providers {
		states[p.Name] = p.Gate.State
	}
	return states
}

// gate is the state of a provider's gate.
func (r *running) gate(name string) string {
	r.t.Helper()
	state, ok := r.gates()[name]
	if !ok {
		r.t.Fatalf("there is no provider %s", name)
	}
	return state
}

// What a provider is known to refuse is a 400 before anything is claimed; what it takes shows its parts.
func TestSend_SMSIsCheckedBeforeTheClaim(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true}, "{type: infrai, api_key: example-key, base_url: URL}",
		strings.Replace(smsTypes["twilio"], "base_url", "max_segments: 3, base_url", 1))
	r := p.start()
	for message, want := range map[string]string{
		`{"text":"` + strings.Repeat("a", 460) + `"}`:         "message.text: takes 4 parts in GSM-7, and max_segments is 3",
		`{"text":"x","from":"AcmeShippingCo"}`:                "message.from: must be a name of at most 11 characters, or a number",
		`{"template":{"id":"welcome","variables":{"n":"1"}}}`: "message.template.id: must be the id of a content template: HX and 32 hex digits",
	} {
		a := r.post(event(`"event_id":"refused","message":` + message))
		if a.status != 400 || len(a.Errors) != 1 || a.Errors[0].Field+": "+a.Errors[0].Detail != want {
			t.Errorf("%.40s: %d %+v, want %s", message, a.status, a.Errors, want)
		}
	}
	a := r.post(event(`"event_id":"refused","message":{"text":"` + strings.Repeat("ж", 71) + `"}`)) // nothing stands under the key
	if a.status != 202 || !strings.Contains(a.body, `"segments":{"encoding":"UCS-2","count":2}`) {
		t.Errorf("%d %s", a.status, a.body)
	}
}
