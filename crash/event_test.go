package crash

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"sendonce/fake"
)

// event is one event of the run: what is posted, what the provider does with it, and what callers were told.
type event struct {
	id     string
	token  string
	hook   bool
	body   json.RawMessage
	script []fake.Behaviour // for the provider's first requests with the token; then it accepts

	// What answers said; the run's lock guards them.
	claimed   bool   // acknowledged as new
	told      string // id of the row, once acknowledged
	toldState string // a final state that an answer showed
}

// scripts are what the provider does, drawn by weight. Its answer to a throttled or refused request is not lost, so the
// message goes on to another provider or to a later attempt; that second request is right.
var scripts = []struct {
	weight int
	sms    []fake.Behaviour
	hook   []fake.Behaviour
}{
	{700, nil, nil},
	{80, []fake.Behaviour{fake.AcceptSlow}, []fake.Behaviour{fake.AcceptSlow}},
	{30, []fake.Behaviour{fake.AcceptReset}, []fake.Behaviour{fake.AcceptReset}},
	{30, []fake.Behaviour{fake.AcceptError}, []fake.Behaviour{fake.Unavailable}},
	{20, []fake.Behaviour{fake.AcceptGarbage}, []fake.Behaviour{fake.AcceptGarbage}},
	{20, []fake.Behaviour{fake.AcceptCut}, []fake.Behaviour{fake.AcceptCut}},
	{30, []fake.Behaviour{fake.Unavailable}, []fake.Behaviour{fake.Unavailable, fake.Unavailable}},
	{40, []fake.Behaviour{fake.Refuse}, []fake.Behaviour{fake.Refuse}},
	{2, []fake.Behaviour{fake.Throttle}, []fake.Behaviour{fake.Throttle}},
	{2, []fake.Behaviour{fake.Throttle, fake.AcceptReset}, []fake.Behaviour{fake.Throttle, fake.AcceptReset}},
}

// newEvent draws an event. number is unique in the run.
func newEvent(number int, hookURL string, rng *rand.Rand) *event {
	e := &event{id: fmt.Sprintf("evt-%06d", number), token: fmt.Sprintf("tok_%06d", number), hook: rng.IntN(4) == 0}
	total := 0
	for _, s := range scripts {
		total += s.weight
	}
	n := rng.IntN(total)
	for _, s := range scripts {
		if n -= s.weight; n < 0 {
			if e.script = s.sms; e.hook {
				e.script = s.hook
			}
			break
		}
	}
	if e.hook {
		e.body = hookBody(e.id, hookURL+"crm", e.token)
	} else {
		e.body = smsBody(e.id, fmt.Sprintf("+1415555%04d", number%10000), e.token)
	}
	return e
}

// losesAnswer reports whether the provider may leave the client without knowing whether it took the message.
func (e *event) losesAnswer() bool {
	for _, b := range e.script {
		switch b {
		case fake.AcceptReset:
			return true
		case fake.AcceptError, fake.AcceptGarbage, fake.AcceptCut, fake.Unavailable: // the receiver of a webhook answers for itself by its status alone
			if !e.hook {
				return true
			}
		}
	}
	return false
}

// refused reports whether the provider refuses the message for good.
func (e *event) refused() bool { return len(e.script) > 0 && e.script[0] == fake.Refuse }

func smsBody(id, recipient, token string) json.RawMessage {
	return must(json.Marshal(map[string]any{
		"event_id": id, "event_type": "order.shipped", "channel": "sms", "recipient": recipient,
		"message": map[string]any{"text": "Order " + token + " shipped."},
	}))
}

func hookBody(id, url, token string) json.RawMessage {
	return must(json.Marshal(map[string]any{
		"event_id": id, "event_type": "order.shipped", "channel": "webhook", "recipient": url,
		"message": map[string]any{"data": map[string]any{"order": token}},
	}))
}

// must is for what cannot fail: maps of strings as JSON.
func must(b []byte, err error) json.RawMessage {
	if err != nil {
		panic(err)
	}
	return b
}
