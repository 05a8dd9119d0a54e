package ledger_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"sendonce/ledger"
)

// finder is a script whose service can be asked what it took.
type finder struct {
	*script
	ups  ledger.LookUps
	find func(context.Context, []ledger.Search) ([][]ledger.Found, error) // nil: nothing is ever found
	cut  bool
	wide bool // one call may be about everything

	mu    sync.Mutex
	asked []asking
}

// asking is one call of Find.
type asking struct {
	at       time.Time
	searches []ledger.Search
}

var byReference = ledger.LookUps{At: []time.Duration{2 * time.Minute, 10 * time.Minute, 30 * time.Minute}}

func byContent() ledger.LookUps {
	l := byReference
	l.ByContent = true
	return l
}

// finding makes provider a one that is asked, and loses every answer to a send.
func finding(r *rig, ups ledger.LookUps) *finder {
	f := &finder{script: r.scripts["a"], ups: ups}
	r.random = func() float64 { return 0.5 }
	r.scripts["a"].disguise = func(s *script) ledger.Provider {
		if s.window > 0 {
			return repeatingFinder{f}
		}
		return f
	}
	r.scripts["a"].then(lost)
	return f
}

// repeatingFinder honours a wire key too.
type repeatingFinder struct{ *finder }

func (r repeatingFinder) RepeatWindow() time.Duration { return r.window }

func (f *finder) LookUps() ledger.LookUps { return f.ups }

func (f *finder) Together(a, b ledger.Search) bool { return f.wide || a.Recipient == b.Recipient }

func (f *finder) Find(ctx context.Context, at time.Time, searches []ledger.Search) (ledger.LookedUp, error) {
	f.mu.Lock()
	f.asked = append(f.asked, asking{time.Now(), searches})
	find := f.find
	f.mu.Unlock()
	out := ledger.LookedUp{Found: make([][]ledger.Found, len(searches)), Request: "GET /list", Status: 200, BodyHash: [32]byte{1}, Cut: f.cut}
	if find == nil {
		return out, nil
	}
	var err error
	out.Found, err = find(ctx, searches)
	return out, err
}

// finds makes every further look find the same about each row.
func (f *finder) finds(list ...ledger.Found) {
	f.does(func(_ context.Context, searches []ledger.Search) ([][]ledger.Found, error) {
		out := make([][]ledger.Found, len(searches))
		for i := range out {
			out[i] = list
		}
		return out, nil
	})
}

// fails makes every further look fail.
func (f *finder) fails(err error) {
	f.does(func(context.Context, []ledger.Search) ([][]ledger.Found, error) { return nil, err })
}

func (f *finder) does(find func(context.Context, []ledger.Search) ([][]ledger.Found, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.find = find
}

// looks lists the calls so far.
func (f *finder) looks() []asking {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[:len(f.asked):len(f.asked)]
}

// message is what the provider shows of a message.
func message(id string, number int, at time.Time) ledger.Found {
	return ledger.Found{MessageID: id, Number: number, At: at, Body: []byte(`{"id":"` + id + `"}`)}
}

// evidence are the looks that a row has, as they were kept.
type evidence struct {
	Request    string   `json:"request"`
	By         string   `json:"by"`
	Verdict    string   `json:"verdict"`
	Why        string   `json:"why"`
	Attempt    int      `json:"attempt"`
	MessageIDs []string `json:"message_ids"`
	BodySHA256 string   `json:"body_sha256"`
}

func evidenceOf(t *testing.T, rec ledger.Record) (list []evidence) {
	t.Helper()
	for _, s := range rec.Settlements {
		if s.Action != ledger.CauseLookUp {
			continue
		}
		var e evidence
		if err := json.Unmarshal(s.Evidence, &e); err != nil || e.Request != "GET /list" || e.BodySHA256 == "" {
			t.Fatalf("evidence %s: %v", s.Evidence, err)
		}
		if s.Actor != "provider:a" || s.From != ledger.StateAmbiguous || s.To != s.From {
			t.Errorf("settlement %+v", s)
		}
		list = append(list, e)
	}
	return list
}
