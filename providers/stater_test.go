package providers

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sendonce/fake"
	"sendonce/ledger"
)

// eachStater runs a case on every adapter that is asked for states.
func eachStater(t *testing.T, run func(t *testing.T, k kit)) {
	count := 0
	for _, k := range kits {
		if _, ok := k.make(t, Common{BaseURL: k.base}).(ledger.Stater); ok {
			count++
			t.Run(k.name, func(t *testing.T) { run(t, k) })
		}
	}
	if count != 1 {
		t.Fatalf("%d adapters are asked for states", count)
	}
}

// stateSummary says what an answer to a question for msg_1 is, as the second line of a fixture does.
func stateSummary(r ledger.Receipt, err error) string {
	var failed *ledger.LookUpError
	switch {
	case errors.As(err, &failed):
		return summary(ledger.LookedUp{}, err)
	case err != nil:
		return err.Error()
	case r.MessageID == "":
		return "unknown"
	case r.Delivery != ledger.NoDelivery:
		return "state " + r.Kind + " delivery=" + string(r.Delivery)
	}
	return "state " + r.Kind
}

// Each fixture goes through the real sender, as the bytes that a server would send.
func TestStates_Fixtures(t *testing.T) {
	eachStater(t, func(t *testing.T, k kit) {
		paths, err := filepath.Glob("../testdata/lookups/" + k.name + "/*.http")
		if err != nil || len(paths) < 10 {
			t.Fatalf("%d fixtures: %v", len(paths), err)
		}
		for _, path := range paths {
			name := strings.TrimSuffix(filepath.Base(path), ".http")
			t.Run(name, func(t *testing.T) {
				raw, want := readLookUp(t, path)
				if word, _, _ := strings.Cut(want, " "); !strings.HasPrefix(name, word+"_") {
					t.Errorf("the name says something else than %q", want)
				}
				a := &answers{raw: raw}
				r, err := askState(t, k, a)
				if got := stateSummary(r, err); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
				if len(a.seen) != 1 || a.seen[0].Method != "GET" {
					t.Fatalf("requests %+v", a.seen)
				}
				if r.MessageID != "" && (r.MessageID != "msg_1" || len(r.Body) == 0 || len(r.Body) > ledger.MaxAnswerBytes) {
					t.Errorf("receipt %+v", r)
				}
				if err != nil && (strings.Contains(err.Error(), testKey) || strings.Contains(err.Error(), testNumber)) {
					t.Errorf("the error shows what is private: %v", err)
				}
			})
		}
	})
}

// askState asks for msg_1 over a pipe.
func askState(t *testing.T, k kit, a *answers) (ledger.Receipt, error) {
	t.Helper()
	s := k.make(t, Common{BaseURL: k.base, Dial: a.dial}).(ledger.Stater)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return s.State(ctx, testTime, "msg_1")
}

func TestInfrai_StateRequest(t *testing.T) {
	a := &answers{raw: [][]byte{[]byte(answer{404, ""}.raw())}}
	p := newInfrai(t, InfraiSettings{}, Common{BaseURL: "http://127.0.0.1", Dial: a.dial})
	if _, err := p.State(t.Context(), testTime, "msg/1?x"); err == nil {
		t.Error("an empty 404 says nothing about a message")
	}
	if len(a.seen) != 1 || a.seen[0].URL.EscapedPath() != "/v1/sms/status/msg%2F1%3Fx" || a.seen[0].Header.Get("Authorization") != "Bearer "+testKey {
		t.Errorf("%+v", a.seen)
	}
}

func TestStates_LookUpOff(t *testing.T) {
	eachStater(t, func(t *testing.T, k kit) {
		for setting, want := range map[string]bool{"": true, LookUpOn: true, LookUpOff: false} {
			if at := k.make(t, Common{BaseURL: k.base, LookUp: setting}).(ledger.Stater).StatesAt(); len(at) > 0 != want {
				t.Errorf("look_up %q: asked %v", setting, at)
			}
		}
	})
}

// What an adapter sends it is told of, over real HTTP at a fake that knows nothing of us.
func TestStates_OfWhatWasSent(t *testing.T) {
	eachStater(t, func(t *testing.T, k kit) {
		f := fake.New(fake.Options{WellBehaved: true})
		base, err := f.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		p := k.make(t, Common{BaseURL: base})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		sent := p.Send(ctx, k.request(t, p, base))
		if sent.Outcome != ledger.Accepted {
			t.Fatalf("%+v", sent)
		}
		r, err := p.(ledger.Stater).State(ctx, time.Now(), sent.MessageIDs[0])
		if err != nil || r.MessageID != sent.MessageIDs[0] || r.Kind == "" {
			t.Errorf("%+v, %v", r, err)
		}
		if r, err = p.(ledger.Stater).State(ctx, time.Now(), "msg_of_nobody"); err != nil || r.MessageID != "" {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
