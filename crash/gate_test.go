package crash

import (
	"context"
	"testing"
	"time"

	"sendonce/fake"
)

// oneProvider leaves sms with sms_main alone.
var oneProvider = setting{"providers: [sms_main, sms_backup]", "providers: [sms_main]"}

// Keeps out a transport that sends a POST again by itself when a kept-alive connection breaks under it.
func TestGate_DroppedConnection(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true}, oneProvider, setting{"key-of-main,", "key-of-main, repeat_window: 1h,"})
	s := p.start()
	first := p.send(s, "evt-1", "tok_1")
	p.fake.Script("tok_2", fake.AcceptDrop)
	second := p.send(s, "evt-2", "tok_2")
	if first.State != "sent" || second.State != "ambiguous" || second.Reason != "no_answer" || second.AttemptCount != 1 {
		t.Errorf("the first is %s, the second %s %s after %d attempts", first.State, second.State, second.Reason, second.AttemptCount)
	}
	if calls := p.fake.Requests(); calls != 2 {
		t.Errorf("%d calls, want one for each event", calls)
	}
	s.kill()
	p.check()
}

// gate is what the API says of one provider.
type gate struct {
	Name string `json:"name"`
	Gate struct {
		State  string `json:"state"`
		Reason string `json:"reason"`
	} `json:"gate"`
}

// closed returns the gates that /readyz shows with their reasons, and demands that it says yes all the same.
func (s *service) closed() []gate {
	s.t.Helper()
	var ready struct {
		Ready     bool   `json:"ready"`
		Providers []gate `json:"providers"`
	}
	if status, err := s.api.do(context.Background(), "GET", "/readyz", nil, &ready); err != nil || status != 200 || !ready.Ready {
		s.t.Errorf("/readyz: status %d, %+v: %v", status, ready, err)
	}
	return ready.Providers
}

// Keeps out wrong credentials that use up every row's retries: the gate closes, a probe opens it, nothing is lost.
func TestGate_CredentialsWrongForAWhile(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true}, oneProvider)
	p.fake.Behave(fake.Unauthorized)
	s := p.start()
	a := p.send(s, "evt-1", "tok_1")
	if a.State != "claimed" || a.Reason != "provider_paused" {
		t.Errorf("the row is %s %s", a.State, a.Reason)
	}
	if g := s.closed(); len(g) != 1 || g[0].Name != "sms_main" || g[0].Gate.State != "paused" || g[0].Gate.Reason != "credentials" {
		t.Errorf("/readyz shows %+v", g)
	}
	calls := p.fake.Requests()
	if a := p.send(s, "evt-2", "tok_2"); a.State != "claimed" {
		t.Errorf("a row behind a closed gate is %s", a.State)
	}
	if p.fake.Requests() != calls {
		t.Error("a closed gate let a second row pass")
	}
	p.fake.Behave(fake.Accept)
	s.idle()
	if g := s.closed(); len(g) != 0 {
		t.Errorf("/readyz shows %+v", g)
	}
	p.received("tok_1", 1)
	p.received("tok_2", 1)
	s.stop(patience)
	p.check()
}

// Keeps out one bad number that stops everybody's messages.
func TestGate_OneRefusalPausesNobody(t *testing.T) {
	t.Parallel()
	p := newPlace(t, fake.Options{WellBehaved: true}, oneProvider)
	p.fake.Script("tok_1", fake.Refuse)
	s := p.start()
	if a := p.send(s, "evt-1", "tok_1"); a.State != "failed" || a.Reason != "rejected" {
		t.Errorf("the refused row is %s %s", a.State, a.Reason)
	}
	if g := s.closed(); len(g) != 0 {
		t.Errorf("/readyz shows %+v", g)
	}
	if a := p.send(s, "evt-2", "tok_2"); a.State != "sent" {
		t.Errorf("the next row is %s %s", a.State, a.Reason)
	}
	s.stop(patience)
	p.check()
}

// send posts an SMS and waits a little for the end of its first attempt.
func (p *place) send(s *service, id, token string) answer {
	p.t.Helper()
	a, err := s.api.post(context.Background(), smsBody(id, "+14155550101", token), 2*time.Second)
	if err != nil || a.Status != 202 {
		p.t.Fatalf("%s: status %d %s: %v", id, a.Status, a.Code, err)
	}
	return a
}
