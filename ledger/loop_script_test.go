package ledger_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"sendonce/ledger"
)

// script is a provider that does what the test says. It keeps every order that it was handed.
type script struct {
	name     string
	channels []ledger.Channel
	account  string
	window   time.Duration // of its wire key; 0: it honours none
	rate     float64
	workers  int
	timeout  time.Duration
	disguise func(*script) ledger.Provider // nil: the script itself
	price    ledger.Price
	suffix   string // of each body that is built

	mu       sync.Mutex
	answer   func(context.Context, *call) ledger.Result // nil: accept
	calls    []*call
	inFlight int
	most     int // in flight at the same time
}

// call is one handing.
type call struct {
	ledger.Order
	body []byte
	at   time.Time
}

func (c *call) Body() []byte { return c.body }

func newScript(name string, channels ...ledger.Channel) *script {
	if channels == nil {
		channels = []ledger.Channel{ledger.SMS}
	}
	return &script{name: name, account: name, channels: channels, workers: 64}
}

func (s *script) settings() ledger.ProviderSettings {
	p := ledger.ProviderSettings{Name: s.name, Type: "script", Channels: s.channels, Provider: s, Rate: s.rate, Workers: s.workers, Timeout: s.timeout, Price: s.price}
	if s.window > 0 {
		p.Provider = repeater{s}
	}
	if s.disguise != nil {
		p.Provider = s.disguise(s)
	}
	return p
}

// repeater is a script that honours a wire key.
type repeater struct{ *script }

func (r repeater) RepeatWindow() time.Duration { return r.window }

func (s *script) Account() (a [8]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := sha256.Sum256([]byte(s.account))
	copy(a[:], sum[:])
	return a
}

var errUnbuildable = errors.New("this message cannot be built")

// Build refuses what is no JSON object, as the adapters do. The reference is part of the bytes.
func (s *script) Build(o ledger.Order) (ledger.Request, error) {
	if o.Stored != nil {
		return &call{Order: o, body: o.Stored}, nil
	}
	if _, err := ledger.ParseMessage(o.Channel, o.Message); err != nil {
		return nil, errUnbuildable
	}
	return &call{Order: o, body: []byte(o.Reference() + " " + o.WireKey + " " + string(o.Message) + s.suffix)}, nil
}

func (s *script) Send(ctx context.Context, r ledger.Request) ledger.Result {
	c := r.(*call)
	c.at = time.Now()
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.inFlight++
	s.most = max(s.most, s.inFlight)
	answer := s.answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.inFlight--
		s.mu.Unlock()
	}()
	if answer == nil {
		return accepted("")
	}
	return answer(ctx, c)
}

// then makes every further call end so.
func (s *script) then(r ledger.Result) {
	s.thenDo(func(context.Context, *call) ledger.Result { return r })
}

func (s *script) thenDo(answer func(context.Context, *call) ledger.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// sent lists the calls so far.
func (s *script) sent() []*call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[:len(s.calls):len(s.calls)]
}

// of lists the calls about one row.
func (s *script) of(n ledger.Notification) (list []*call) {
	for _, c := range s.sent() {
		if c.ID == n.ID.String() {
			list = append(list, c)
		}
	}
	return list
}

func accepted(id string) ledger.Result {
	r := ledger.Result{Outcome: ledger.Accepted, Phase: ledger.Answered, Status: 200}
	if id != "" {
		r.MessageIDs = []string{id}
	}
	return r
}

var (
	rejected    = ledger.Result{Outcome: ledger.Rejected, Phase: ledger.Answered, Status: 400, Code: "bad_number"}
	deferred    = ledger.Result{Outcome: ledger.Deferred, Phase: ledger.Answered, Status: 400, Code: "queue_full"}
	unreachable = ledger.Result{Outcome: ledger.Deferred, Fault: ledger.FaultUnreachable, Phase: ledger.NotWritten, Error: "connection refused"}
	credentials = ledger.Result{Outcome: ledger.Deferred, Fault: ledger.FaultCredentials, Phase: ledger.Answered, Status: 401}
	lost        = ledger.Result{Outcome: ledger.Ambiguous, Phase: ledger.Written, Reason: ledger.ReasonNoAnswer}
)

func throttled(after time.Duration) ledger.Result {
	return ledger.Result{Outcome: ledger.Deferred, Fault: ledger.FaultThrottled, Phase: ledger.Answered, Status: 429, RetryAfter: after}
}

// hang never answers: it ends with its deadline, or when it is cut.
func hang(ctx context.Context, _ *call) ledger.Result {
	<-ctx.Done()
	return lost
}
