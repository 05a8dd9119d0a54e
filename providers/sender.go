package providers

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"sendonce/ledger"
)

// Limits of the sender. What is over them is cut, never waited for.
const (
	maxBodyRead    = 64 << 10         // bytes of an answer's body that are read
	maxHeaderBytes = 64 << 10         // of an answer's header, 1xx answers before it included
	idleLife       = 10 * time.Second // of a connection between two requests
)

// sender hands one request over HTTP/1.1, once. It has no time-out of its own: the context's deadline is the
// only one. It uses no proxy, not even one of the environment: a proxy's answer would pass for the provider's,
// and it would dial where the address guard cannot look.
type sender struct {
	transport *transport
	secrets   [][]byte // blotted out of stored answers
}

// newSender makes a sender that keeps so many idle connections for further requests; 0: each request has its own.
// Where a connection carries several requests, the peer may close it just when one is on its way, which is
// ambiguous, and a second answer to one request may be taken for the answer to the next. So reuse is for providers
// that can settle the first, by a wire key or a look-up, and whose answers carry an id, which shows the second.
// dial is nil for the network.
func newSender(dial DialFunc, keep int, secrets ...Secret) *sender {
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	s := &sender{transport: &transport{dial: watched(dial), TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, keep: keep}}
	for _, secret := range secrets {
		if secret != "" {
			s.secrets = append(s.secrets, []byte(secret))
		}
	}
	return s
}

// request is what an adapter of an HTTP service builds.
type request struct {
	method string // "": POST
	url    string
	header http.Header
	body   []byte
	at     time.Time // the attempt's, or the look-up's
	most   int       // bytes of the answer's body that are read; 0: maxBodyRead

	ownSender bool // the message chose its sender, so a refusal of it is about this message alone
}

// Body returns the bytes that leave.
func (r *request) Body() []byte { return r.body }

// exchange is what became of a request, before an adapter reads it.
type exchange struct {
	phase   ledger.Phase
	status  int
	header  http.Header
	body    []byte
	whole   bool  // the body was read to its end
	twice   bool  // the body names something twice, so that nobody can say what it means; known once it was read
	cut     bool  // the body ended in an error; neither whole nor cut: it went on past what is read
	begun   bool  // at least one byte of an answer came
	conns   int32 // connections that the request was given to; more than one would be a hidden repeat
	err     error // why there is no answer, or why the body is cut
	at      time.Time
	secrets [][]byte

	ownSender bool // the request's
}

// post sends the request and reads the answer.
func (s *sender) post(ctx context.Context, r *request) exchange {
	x := exchange{phase: ledger.NotWritten, at: r.at, secrets: s.secrets, ownSender: r.ownSender}
	req, err := http.NewRequest(cmp.Or(r.method, http.MethodPost), r.url, bytes.NewReader(r.body))
	if err != nil {
		x.err = errBadURL
		return x
	}
	req.Header = r.header // the request is sent once, so nobody else has it
	req.Header["User-Agent"] = userAgent
	req.Close = s.transport.keep == 0
	to, err := originOf(req.URL)
	if err == nil && !validHeader(req.Header) {
		err = errBadHeader
	}
	if err != nil {
		x.err = err
		return x
	}
	l, err := s.transport.take(ctx, to)
	if err != nil {
		x.err = err
		return x
	}
	x.conns = 1
	stop := context.AfterFunc(ctx, func() { _ = l.SetDeadline(time.Unix(1, 0)) })
	again := x.over(l, req, r)
	if again = stop() && again; again {
		s.transport.rest(l)
	} else {
		l.end(x.whole)
	}
	if x.err != nil && ctx.Err() != nil {
		x.err = ctx.Err()
	}
	return x
}

// over hands the request over on a connection, and reports whether that may have a further one.
func (x *exchange) over(l *link, req *http.Request, r *request) (again bool) {
	sent := func() bool { return true }
	if len(r.body) > inOneGo {
		sent = l.sendBeside(req)
	} else if err := l.send(req); err != nil {
		x.fails(l, err)
		return false
	}
	resp, err := l.answer(req)
	if err != nil {
		sent()
		x.fails(l, err)
		return false
	}
	x.phase, x.status, x.header, x.begun = ledger.Answered, resp.StatusCode, resp.Header, true
	if x.status == http.StatusSwitchingProtocols { // its body is the connection, without an end
		sent()
		return false
	}
	most := cmp.Or(r.most, maxBodyRead)
	x.body, err = bodyOf(resp, most)
	switch {
	case err != nil:
		x.cut, x.err = true, err
	case len(x.body) > most:
		x.body = x.body[:most]
	default:
		x.whole = true
	}
	return sent() && x.whole && !req.Close && !resp.Close && l.in.Buffered() == 0
}

// fails notes why there is no answer.
func (x *exchange) fails(l *link, err error) {
	x.err, x.begun = err, l.begun
	if l.wrote {
		x.phase = ledger.Written
	}
}

// Header fields that requests share; nobody writes to them.
var (
	userAgent = []string{"sendonce"}
	jsonType  = []string{"application/json"}
)

// authorized are the header fields of a request to an API that speaks JSON.
func authorized(value string) http.Header {
	return http.Header{"Accept": jsonType, "Authorization": {value}}
}

// bodyOf reads an answer's body, at most one byte more than most. Most answers say how long they are.
func bodyOf(resp *http.Response, most int) ([]byte, error) {
	const usual = 512
	size := int64(usual)
	if resp.ContentLength >= 0 {
		size = min(resp.ContentLength, int64(most)) + 1
	}
	b := make([]byte, 0, size)
	for {
		n, err := resp.Body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF, err == nil && len(b) > most:
			return b, nil
		case err != nil:
			return b, err
		case len(b) == cap(b):
			b = slices.Grow(b, min(len(b), most+1-len(b)))
		}
	}
}

// result starts a Result with what the exchange alone says; its outcome is still the zero value.
func (x *exchange) result() ledger.Result {
	r := ledger.Result{Phase: x.phase, Status: x.status, Answer: x.answer(), RetryAfter: x.retryAfter()}
	if x.err != nil {
		r.Error = plainError(x.phase, x.err)
	}
	return r
}

// answer is the body as it is stored: bounded, without the secrets that a provider may echo.
func (x *exchange) answer() []byte {
	body := x.body
	for _, secret := range x.secrets {
		if bytes.Contains(body, secret) {
			body = bytes.ReplaceAll(body, secret, []byte(masked))
		}
	}
	if len(body) > ledger.MaxAnswerBytes { // the row must not keep the rest alive
		return bytes.Clone(body[:ledger.MaxAnswerBytes])
	}
	return body
}

var (
	errBadURL         = errors.New("bad URL")
	errAddressRefused = errors.New("address refused")
)
