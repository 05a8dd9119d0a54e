// Package fake is a provider that misbehaves, for tests, crash runs and the demonstration.
//
// It speaks Infrai's batch and single routes, Twilio's, both of Vonage's, SendGrid's, Resend's and FCM's, takes any POST under
// /hook/ as a webhook, and mails over SMTP. It hangs, resets, answers 500 after it took the message, cuts its answers and lets kept-alive
// connections drop, unless it is told otherwise. Whatever it answers, it counts what a person would have received: each message carries a
// token, and Received says how often the message with that token went out. A client that keeps the promise
// "at most one blind send" never makes a count of two. What it took it reports later, in signed receipts, and answers look-ups about.
//
// It imports nothing of the product, so that it cannot share a mistake with it.
package fake

import (
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Options say how a Provider behaves. The zero value misbehaves by DefaultWeights.
type Options struct {
	Seed        uint64            // of the choice by weights; the same seed and tokens give the same run
	Weights     map[Behaviour]int // nil: DefaultWeights
	WellBehaved bool              // accept and answer everything; Force and Script still come first
	Delay       time.Duration     // before every answer
	Slow        time.Duration     // before the answer of AcceptSlow; 0: 2 s
	RetryAfter  time.Duration     // told by Throttle, in whole seconds; 0: 1 s
	Outage      int               // further requests that get a 401 once the weights chose one; 0: 3
	Token       *regexp.Regexp    // finds the token in a text; nil: tok_[a-z0-9_]+
	HonourKeys  bool              // a message under a known key is answered as before and not sent again
	Receipts    Receipts          // how receipts leave; the zero value posts none by itself
	LookUps     LookUps           // how questions about messages are answered

	// OnRequest is called when a request was read whole and, where the behaviour accepts, counted, before a byte
	// of the answer. It may block: that holds the request.
	OnRequest func(Request)
}

// Request is a POST as the fake saw it.
type Request struct {
	N         int    // from 1, in order of arrival
	Path      string // of the URL
	Key       string // idempotency_key, Idempotency-Key or webhook-id
	Token     string // of its first message
	Behaviour Behaviour
	Body      []byte
	Header    http.Header
}

// Message is what went out to a person.
type Message struct {
	Token string
	Key   string
	ID    string
	At    time.Time
}

// Provider is the fake; an http.Handler. Its methods may be called at any time from any goroutine.
type Provider struct {
	options Options

	mu        sync.Mutex
	requests  int
	conflicts int
	accepted  []Message
	counts    map[string]int
	known     map[string]answered // by key; only with HonourKeys
	seen      map[string]int      // requests by token, for the choice by weights
	forced    []Behaviour
	scripts   map[string][]Behaviour
	always    Behaviour
	outage    int
	released  chan struct{}

	messages    []*message
	byID        map[string]*message
	byRecipient map[string][]*message
	lookUps     int
	silent      bool
	batch       []*report // SendGrid's events that wait for others
	flushes     int
	posted      map[int]int
	events      atomic.Uint64

	closed  chan struct{}
	closers []io.Closer
	posting sync.WaitGroup
}

// answered is what a key was used for.
type answered struct {
	body string
	ids  []string
}

// New makes a fake provider.
func New(o Options) *Provider {
	if o.Weights == nil {
		o.Weights = DefaultWeights
	}
	if o.Slow == 0 {
		o.Slow = 2 * time.Second
	}
	if o.RetryAfter == 0 {
		o.RetryAfter = time.Second
	}
	if o.Outage == 0 {
		o.Outage = 3
	}
	if o.Receipts.After == 0 {
		o.Receipts.After = 10 * time.Minute
	}
	o.Receipts.Lost = share(o.Receipts.Lost)
	o.LookUps.Faults = share(o.LookUps.Faults)
	if o.Token == nil {
		o.Token = regexp.MustCompile(`tok_[a-z0-9_]+`)
	}
	p := &Provider{
		options: o, counts: map[string]int{}, known: map[string]answered{}, seen: map[string]int{},
		scripts: map[string][]Behaviour{}, released: make(chan struct{}), closed: make(chan struct{}),
		byID: map[string]*message{}, byRecipient: map[string][]*message{}, posted: map[int]int{},
	}
	if o.WellBehaved {
		p.always = Accept
	}
	return p
}

// share is a share in per cent: 0 stands for 10, what is negative for 0.
func share(n int) int {
	if n == 0 {
		return 10
	}
	return max(n, 0)
}

// Force queues behaviours for the next requests, whatever their token; a script for a token comes before it.
func (p *Provider) Force(b ...Behaviour) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forced = append(p.forced, b...)
}

// Script queues behaviours for the next requests with a token.
func (p *Provider) Script(token string, b ...Behaviour) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scripts[token] = append(p.scripts[token], b...)
}

// Behave makes every request meet the same behaviour from now on; "" goes back to the weights.
func (p *Provider) Behave(b Behaviour) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.always = b
}

// Release lets the requests that hang now have their answers.
func (p *Provider) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.released)
	p.released = make(chan struct{})
}

// Received is how often the message with this token went out.
func (p *Provider) Received(token string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[token]
}

// Counts is Received for every token that went out at all; "" stands for messages without one.
func (p *Provider) Counts() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.counts)
}

// Requests is how many POSTs were read whole, whatever became of them.
func (p *Provider) Requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

// Conflicts is how many requests came under a known key with another body; only with HonourKeys.
func (p *Provider) Conflicts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conflicts
}

// Accepted lists what went out, in order.
func (p *Provider) Accepted() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.accepted)
}

// choose says how the next request with this token is treated. p.mu is held.
func (p *Provider) choose(token string) Behaviour {
	p.seen[token]++
	if s := p.scripts[token]; len(s) > 0 {
		p.scripts[token] = s[1:]
		return s[0]
	}
	if len(p.forced) > 0 {
		b := p.forced[0]
		p.forced = p.forced[1:]
		return b
	}
	if p.always != "" {
		return p.always
	}
	if p.outage > 0 {
		p.outage--
		return Unauthorized
	}
	b := weighted(p.options.Weights, rand.New(rand.NewPCG(p.options.Seed, fold(token, p.seen[token]))))
	if b == Unauthorized {
		p.outage = p.options.Outage
	}
	return b
}
