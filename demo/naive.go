package demo

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"sendonce/fake"
)

// maxTries is how often the naive loop tries, the first time included.
const maxTries = 4

// The causes of a request of the naive loop, in the header that its provider counts copies by.
const (
	causeHeader = "Demo-Cause"
	causeAsked  = "asked_again" // the shop asked for the message, for the first time or again
	causeRetry  = "retry"       // no answer, or an error
	causeCrash  = "crash"       // it was in the queue when the process died
)

// naive is a retry loop as it is written without a ledger: a queue that delivers at least once, and another try after an error, a
// time-out, a 429 or a 5xx. It really sends, to providers of its own that have the same faults.
type naive struct {
	providers map[string]*provider
	client    *http.Client
	under     sync.WaitGroup

	mu     sync.Mutex
	life   context.Context // of the process that is up
	die    context.CancelFunc
	up     chan struct{} // closed while it is up
	seen   map[string]bool
	copies map[string]int // messages beyond the first, by cause
	gaveUp map[string]bool
	no     map[string]bool // tokens that their provider refused
}

func newNaive(providers map[string]*provider) *naive {
	n := &naive{
		providers: providers, client: &http.Client{Timeout: timeout}, seen: map[string]bool{}, copies: map[string]int{},
		gaveUp: map[string]bool{}, no: map[string]bool{},
	}
	n.live()
	return n
}

// live starts the process.
func (n *naive) live() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.life, n.die = context.WithCancel(context.Background())
	n.up = make(chan struct{})
	close(n.up)
}

// crash kills the process, and starts another one after a while. What is in its queue is delivered to that one.
func (n *naive) crash() {
	n.mu.Lock()
	up := make(chan struct{})
	n.up = up
	n.die()
	n.mu.Unlock()
	n.under.Go(func() {
		pause(context.Background(), downtime)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.life, n.die = context.WithCancel(context.Background())
		close(up)
	})
}

// halt ends the process for good: whoever asks it has gone.
func (n *naive) halt() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.die()
}

// now is the process, once there is one.
func (n *naive) now(ctx context.Context) context.Context {
	n.mu.Lock()
	up := n.up
	n.mu.Unlock()
	select {
	case <-up:
	case <-ctx.Done():
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.life
}

// saw counts what went out beyond the first message with a token.
func (n *naive) saw(r fake.Request) {
	if !r.Behaviour.Accepts() {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen[r.Token] {
		n.copies[r.Header.Get(causeHeader)]++
	}
	n.seen[r.Token] = true
}

// ask puts a message into the queue.
func (n *naive) ask(ctx context.Context, m *notification) {
	n.under.Go(func() {
		for cause := causeAsked; ctx.Err() == nil; cause = causeCrash {
			life := n.now(ctx)
			n.work(life, m, cause)
			if life.Err() == nil {
				return
			}
		}
	})
}

// work tries until it is content, or its process dies.
func (n *naive) work(life context.Context, m *notification, cause string) {
	wait := 150 * time.Millisecond
	for range maxTries {
		status, err := n.try(life, m, cause)
		switch {
		case life.Err() != nil:
			return
		case err == nil && status < 300:
			return
		case err == nil && status < 500 && status != http.StatusTooManyRequests:
			n.note(n.no, m)
			return
		}
		cause = causeRetry
		pause(life, wait)
		wait *= 2
	}
	n.note(n.gaveUp, m)
}

func (n *naive) note(in map[string]bool, m *notification) {
	n.mu.Lock()
	defer n.mu.Unlock()
	in[m.token] = true
}

// try is one request, as the provider's page shows it.
func (n *naive) try(life context.Context, m *notification, cause string) (status int, err error) {
	req, err := http.NewRequestWithContext(life, http.MethodPost, n.providers[m.kind.provider].url+m.kind.path, strings.NewReader(m.kind.body(m)))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", m.kind.form)
	req.Header.Set(causeHeader, cause)
	req.SetBasicAuth("AC00000000000000000000000000000000", "example-token")
	res, err := n.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode, err
}

// wait waits until the queue is empty.
func (n *naive) wait() { n.under.Wait() }
