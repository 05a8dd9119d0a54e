package fake

import (
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"
)

// LookUps say how a Provider answers questions about what it took. Unless it is well behaved, some of them fail.
type LookUps struct {
	Lag    time.Duration // until a message shows up; up to as much again is added, each message has its own. 0: at once
	Hidden int           // per cent of the messages that never show up
	Faults int           // per cent of the look-ups that are answered 429 or 500, with garbage, or not at all; 0: 10, negative: none

	// OnLookUp is called for each look-up, before it is answered. It may block: that holds it.
	OnLookUp func(*http.Request)
}

// lag is how long a message takes to show up in look-ups.
func (p *Provider) lag(m *message) time.Duration {
	o := p.options.LookUps
	random := rand.New(rand.NewPCG(p.options.Seed^0x6c6f6f6b, fold(m.Token, p.counts[m.Token])))
	if percent(random, o.Hidden) {
		return 1000 * 24 * time.Hour
	}
	if o.Lag <= 0 || p.options.WellBehaved {
		return o.Lag
	}
	return o.Lag + time.Duration(random.Int64N(int64(o.Lag)))
}

// question is one route of a provider's look-ups.
type question struct {
	method string
	speaks func(path string) bool
	answer func(p *Provider, r *http.Request, body []byte) (status int, answer any)
	no     func(status int, word string) any // a refusal in the provider's form
}

var questions = []question{
	{http.MethodPost, func(path string) bool { return path == "/v3/logs" }, (*Provider).sendGridLogs, sendGridNo},
	{http.MethodGet, func(path string) bool { return strings.HasPrefix(path, "/v3/logs/") }, (*Provider).sendGridLog, sendGridNo},
	{http.MethodGet, func(path string) bool { return path == "/v2/reports/records" }, (*Provider).vonageReports, vonageNo},
	{http.MethodGet, dialects["twilio"].speaks, (*Provider).twilioMessages, twilioNo},
	{http.MethodGet, twilioOne, (*Provider).twilioMessage, twilioNo},
	{http.MethodGet, func(path string) bool { return path == "/emails" }, (*Provider).resendEmails, resendNo},
	{http.MethodGet, func(path string) bool { return strings.HasPrefix(path, "/emails/") }, (*Provider).resendEmail, resendNo},
	{http.MethodGet, func(path string) bool { return strings.HasPrefix(path, "/v1/sms/status/") }, (*Provider).infraiStatus, infraiNo},
}

// lookUp answers a look-up; false: this is none.
func (p *Provider) lookUp(w http.ResponseWriter, r *http.Request) bool {
	for _, q := range questions {
		if q.method == r.Method && q.speaks(r.URL.Path) {
			p.ask(w, r, q)
			return true
		}
	}
	return false
}

func (p *Provider) ask(w http.ResponseWriter, r *http.Request, q question) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		panic(http.ErrAbortHandler) // not read whole
	}
	p.mu.Lock()
	p.lookUps++
	n, fault, silent := uint64(p.lookUps), false, p.silent
	p.mu.Unlock()
	random := rand.New(rand.NewPCG(p.options.Seed^0x61736b, n))
	if !p.options.WellBehaved {
		fault = percent(random, p.options.LookUps.Faults)
	}
	if p.options.LookUps.OnLookUp != nil {
		p.options.LookUps.OnLookUp(r)
	}
	p.wait(r, p.options.Delay)
	if silent {
		writeJSON(w, http.StatusInternalServerError, q.no(http.StatusInternalServerError, "internal error"))
		return
	}
	if fault {
		failLookUp(w, q, random.IntN(5))
		return
	}
	status, answer := q.answer(p, r, body)
	writeJSON(w, status, answer)
}

// failLookUp fails a look-up in one of five ways.
func failLookUp(w http.ResponseWriter, q question, how int) {
	switch how {
	case 0:
		w.Header().Set("Retry-After", "30")
		writeJSON(w, http.StatusTooManyRequests, q.no(http.StatusTooManyRequests, "too many requests"))
	case 1:
		writeJSON(w, http.StatusInternalServerError, q.no(http.StatusInternalServerError, "internal error"))
	case 2:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "\x00\x1f<<not json>>{")
	case 3: // a page of somebody on the way, who knows nothing of messages
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><body>Welcome</body></html>")
	default:
		hijack(w, func(net.Conn) {})
	}
}

// LookUps is how many look-ups were read, whatever became of them.
func (p *Provider) LookUps() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lookUps
}

// Silence makes every look-up fail from now on, or no longer.
func (p *Provider) Silence(yes bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.silent = yes
}

// visible lists the messages to a recipient, or all, that show up by now and fit, the newest first.
func (p *Provider) visible(to string, fits func(*message) bool) (out []*message) {
	p.mu.Lock()
	list := p.messages
	if to != "" {
		list = p.byRecipient[to]
	}
	list = list[:len(list):len(list)]
	p.mu.Unlock()
	now := time.Now()
	for i := len(list) - 1; i >= 0; i-- {
		if m := list[i]; !now.Before(m.shows) && fits(m) {
			out = append(out, m)
		}
	}
	return out
}

// byMessageID finds a message that shows up by now; nil: none.
func (p *Provider) byMessageID(kind, id string) *message {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m := p.byID[id]; m != nil && m.kind == kind && !time.Now().Before(m.shows) {
		return m
	}
	return nil
}

// infraiStatus is GET /v1/sms/status/{id}.
func (p *Provider) infraiStatus(r *http.Request, _ []byte) (int, any) {
	if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		return http.StatusUnauthorized, infraiNo(0, "UNAUTHORIZED")
	}
	id := strings.TrimPrefix(r.URL.Path, "/v1/sms/status/")
	m := p.byMessageID("batch", id)
	if m == nil {
		m = p.byMessageID("single", id)
	}
	if m == nil {
		return http.StatusNotFound, infraiNo(0, "SMS_MESSAGE_NOT_FOUND")
	}
	return http.StatusOK, envelope(true, map[string]any{
		"sms_id": m.ID, "message_id": m.ID, "to": m.to, "state": m.word(time.Now()), "vendor": "fake", "segments": 1,
		"created_at": m.At.UTC().Format(time.RFC3339),
	}, nil, m.number)
}

func infraiNo(_ int, word string) any {
	return envelope(false, nil, map[string]any{"code": word, "message": "the fake says no"}, 0)
}
