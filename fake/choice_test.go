package fake_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"sendonce/fake"
)

// choices runs tokens through a fake and returns the behaviour of each.
func choices(o fake.Options, tokens []string) map[string]fake.Behaviour {
	out := map[string]fake.Behaviour{}
	o.OnRequest = func(r fake.Request) { out[r.Token] = r.Behaviour }
	o.Slow = time.Nanosecond
	p := fake.New(o)
	for _, token := range tokens {
		r := httptest.NewRequest(http.MethodPost, "/hook/x", bytes.NewBufferString(token))
		func() {
			defer func() { _ = recover() }() // a recorder has no connection to break
			p.ServeHTTP(httptest.NewRecorder(), r)
		}()
	}
	return out
}

func TestWeights_SameSeedSameRunInAnyOrder(t *testing.T) {
	var tokens []string
	for c := 'a'; c <= 'z'; c++ {
		tokens = append(tokens, "tok_"+string(c), "tok_"+string(c)+"2")
	}
	// Without outages and hangs: the first hang on the order by their nature, the second wait for a Release.
	weights := map[fake.Behaviour]int{fake.Accept: 3, fake.AcceptError: 2, fake.AcceptReset: 2, fake.Throttle: 2, fake.Refuse: 1}
	first := choices(fake.Options{Seed: 7, Weights: weights}, tokens)
	slices.Reverse(tokens)
	second := choices(fake.Options{Seed: 7, Weights: weights}, tokens)
	other := choices(fake.Options{Seed: 8, Weights: weights}, tokens)
	kinds, same := map[fake.Behaviour]bool{}, true
	for _, token := range tokens {
		if first[token] != second[token] || first[token] == "" {
			t.Errorf("%s met %q, then %q", token, first[token], second[token])
		}
		kinds[first[token]] = true
		same = same && first[token] == other[token]
	}
	if len(kinds) != len(weights) || same {
		t.Errorf("kinds %v, same run with another seed: %v", kinds, same)
	}
}

func TestChoice_ScriptBeforeQueueBeforeTheRest(t *testing.T) {
	met := make(chan fake.Behaviour, 4)
	p, url, client := start(t, fake.Options{WellBehaved: true, OnRequest: func(r fake.Request) { met <- r.Behaviour }})
	p.Force(fake.Throttle, fake.Unavailable)
	p.Script("tok_a1", fake.Refuse)
	var got []fake.Behaviour
	for range 4 {
		_, _, _, _ = post(t, client, url+"/v1/sms/batch/send", batch)
		got = append(got, <-met)
	}
	want := []fake.Behaviour{fake.Refuse, fake.Throttle, fake.Unavailable, fake.Accept}
	if !slices.Equal(got, want) {
		t.Errorf("met %v, want %v", got, want)
	}
}

func TestWeights_UnauthorizedLastsForAWhile(t *testing.T) {
	var tokens []string
	for i := range 200 {
		tokens = append(tokens, fmt.Sprintf("tok_%d", i))
	}
	o := fake.Options{Weights: map[fake.Behaviour]int{fake.Accept: 3, fake.Unauthorized: 1}, Outage: 4}
	met, run, outages := choices(o, tokens), 0, 0
	for _, token := range tokens {
		switch {
		case met[token] == fake.Unauthorized:
			run++
		case run > 0 && run < 5:
			t.Fatalf("an outage of %d requests before %s, want at least 1 and 4 more", run, token)
		case run > 0:
			run, outages = 0, outages+1
		}
	}
	if outages < 2 || outages > 60 {
		t.Errorf("%d outages in 200 requests", outages)
	}
}
