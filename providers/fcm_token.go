package providers

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"

	"sendonce/ledger"
)

// tokenSource gets access tokens for a service account and keeps one while it lives. The library signs and reads; what goes
// over the network is ours: one request, no redirect, a bounded answer, and the deadline of the attempt that needs the token.
type tokenSource struct {
	config jwt.Config
	sender *sender

	mu      sync.Mutex
	token   *oauth2.Token // nil: none
	running *tokenFetch   // nil: none; one at a time is enough for all workers
}

// tokenFetch is one fetch, for the attempt that began it and for those that came meanwhile.
type tokenFetch struct {
	done   chan struct{}
	token  *oauth2.Token // nil: failed says why
	failed ledger.Result
}

// get returns an access token, or "" and what its lack means: nothing of the message left.
func (s *tokenSource) get(ctx context.Context, at time.Time) (string, ledger.Result) {
	s.mu.Lock()
	if s.token.Valid() {
		defer s.mu.Unlock()
		return s.token.AccessToken, ledger.Result{}
	}
	f := s.running
	if f == nil {
		f = &tokenFetch{done: make(chan struct{})}
		s.running = f
		s.mu.Unlock()
		s.run(ctx, at, f)
	} else {
		s.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			return "", noToken(ledger.FaultUnreachable, cause(ctx.Err()))
		}
	}
	if f.token == nil {
		return "", f.failed
	}
	return f.token.AccessToken, ledger.Result{}
}

// run makes a fetch and tells its result to all who wait. A panic is told to them too, and goes on to the ledger.
func (s *tokenSource) run(ctx context.Context, at time.Time, f *tokenFetch) {
	f.failed = noToken(ledger.FaultUnexpectedReply, "the fetch broke off")
	defer func() {
		s.mu.Lock()
		s.token, s.running = f.token, nil
		s.mu.Unlock()
		close(f.done)
	}()
	trip := &tokenTrip{ctx: ctx, at: at, sender: s.sender}
	client := &http.Client{Transport: trip, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	token, err := s.config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, client)).Token()
	if err == nil && usableToken(token.AccessToken) {
		f.token = token
		return
	}
	f.failed = trip.failure()
}

// forget drops a token that was not accepted, so that the next attempt fetches another.
func (s *tokenSource) forget(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != nil && s.token.AccessToken == token {
		s.token = nil
	}
}

// usableToken reports whether text can stand in a header.
func usableToken(token string) bool { return bearerFault(Secret(token)) == "" }

// tokenTrip carries the library's request over our sender and keeps what became of it.
type tokenTrip struct {
	ctx    context.Context // of the attempt; the library gives its request none
	at     time.Time
	sender *sender
	x      exchange
}

var errCutToken = errors.New("the answer is cut or too long")

// RoundTrip implements http.RoundTripper.
func (t *tokenTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err != nil {
		return nil, err
	}
	t.x = t.sender.post(t.ctx, &request{url: r.URL.String(), header: r.Header, body: body, at: t.at})
	switch {
	case t.x.phase != ledger.Answered:
		return nil, t.x.err
	case !t.x.whole:
		return nil, errCutToken
	}
	return &http.Response{
		StatusCode: t.x.status, Header: t.x.header, Body: io.NopCloser(bytes.NewReader(t.x.body)), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(t.x.body)),
	}, nil
}

// failure says what it means that no token came. The answer itself is not kept, since it may hold one.
func (t *tokenTrip) failure() ledger.Result {
	switch t.x.phase {
	case "": // it never got as far as a request
		return noToken(ledger.FaultCredentials, "the key does not sign")
	case ledger.NotWritten, ledger.Written:
		return noToken(ledger.FaultUnreachable, cause(t.x.err))
	}
	status := strconv.Itoa(t.x.status)
	for _, name := range []string{"token " + status, "token " + status[:1] + "xx"} {
		row, ok := fcmCodes.find(name)
		if !ok || row.Fault == ledger.FaultCredentials && t.oauthError() == "" {
			continue // a 4xx in somebody else's words
		}
		r := noToken(row.Fault, "refused with "+strings.TrimSpace(status+" "+t.oauthError()))
		r.Code, r.RetryAfter = t.oauthError(), t.x.retryAfter()
		return r
	}
	if t.x.cut {
		return noToken(ledger.FaultUnreachable, cause(t.x.err))
	}
	return noToken(ledger.FaultUnexpectedReply, "an odd answer with "+status)
}

// oauthError is the code of RFC 6749 section 5.2; "": none.
func (t *tokenTrip) oauthError() string {
	var a struct {
		Error string `json:"error"`
	}
	if t.x.read(&a) != nil {
		return ""
	}
	return plainCode(a.Error)
}

// noToken is the result of an attempt that had no access token.
func noToken(fault ledger.Fault, why string) ledger.Result {
	return ledger.Result{Outcome: ledger.Deferred, Phase: ledger.NotWritten, Fault: fault, Error: "not sent: no access token: " + why}
}
