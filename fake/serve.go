package fake

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const maxBody = 8 << 20

// call is one POST on its way through the fake.
type call struct {
	Request
	texts []string // one for each message
	kind  string   // batch, single, hook, or the name of its dialect
	ids   []string // of the messages that went out

	dialect *dialect   // nil: Infrai's or a webhook's
	details []details  // of each message, as far as its provider reports and answers questions
	kept    []*message // that went out by this call
}

// ServeHTTP takes POSTs as a provider does; GET /counts answers Counts as JSON.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == "/counts" {
		writeJSON(w, http.StatusOK, p.Counts())
		return
	}
	if p.lookUp(w, r) {
		return
	}
	if r.Method != http.MethodPost {
		refuse(w, http.StatusMethodNotAllowed, "METHOD_NOT_ALLOWED")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		panic(http.ErrAbortHandler) // not read whole: it was never a request
	}
	if r.URL.Path == TokenPath {
		grantToken(w)
		return
	}
	c, code := parse(r, body)
	p.take(&c, code == "")
	for _, m := range c.kept {
		p.sendReceipts(m)
	}
	if p.options.OnRequest != nil {
		p.options.OnRequest(c.Request)
	}
	p.wait(r, p.options.Delay)
	if code != "" {
		refuse(w, http.StatusBadRequest, code)
		return
	}
	p.answer(w, r, &c)
}

// parse reads a request's key and texts; code says what is wrong with it.
func parse(r *http.Request, body []byte) (c call, code string) {
	c.Path, c.Body, c.Header = r.URL.Path, body, r.Header.Clone()
	var sms struct {
		Messages []struct {
			Body string `json:"body"`
			To   string `json:"to"`
		} `json:"messages"`
		To             string `json:"to"`
		Body           string `json:"body"`
		IdempotencyKey string `json:"idempotency_key"`
	}
	if c.kind, c.dialect = speaking(c.Path); c.dialect != nil {
		if c.dialect.key != "" {
			c.Key = r.Header.Get(c.dialect.key)
		}
		if c.dialect.details != nil {
			c.details = []details{c.dialect.details(r, body)}
		}
		text, err := c.dialect.text(body)
		if c.texts = []string{text}; err != nil {
			return c, "INVALID_BODY"
		}
		return c, ""
	}
	switch {
	case strings.HasPrefix(c.Path, "/hook/"):
		c.kind, c.Key, c.texts = "hook", r.Header.Get("webhook-id"), []string{string(body)}
		return c, ""
	case json.Unmarshal(body, &sms) != nil:
		return c, "INVALID_JSON"
	case c.Path == "/v1/sms/batch/send":
		c.kind = "batch"
		for _, m := range sms.Messages {
			c.texts, c.details = append(c.texts, m.Body), append(c.details, details{to: m.To})
		}
	case c.Path == "/v1/sms/send":
		c.kind, c.texts, c.details = "single", []string{sms.Body}, []details{{to: sms.To}}
	default:
		return c, "NOT_FOUND"
	}
	if c.Key = sms.IdempotencyKey; c.Key == "" {
		c.Key = r.Header.Get("Idempotency-Key")
	}
	if len(c.texts) == 0 {
		return c, "NO_MESSAGES"
	}
	return c, ""
}

// take counts the request, chooses its behaviour and sends its messages out, all before anybody else's.
func (p *Provider) take(c *call, valid bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests++
	c.N = p.requests
	if !valid {
		return
	}
	c.Token = p.options.Token.FindString(c.texts[0])
	c.Behaviour = p.choose(c.Token)
	c.known()
	if c.Behaviour.Accepts() {
		p.sendOut(c)
	}
}

// sendOut sends a call's messages out, unless its key is known. p.mu is held.
func (p *Provider) sendOut(c *call) {
	honour := p.options.HonourKeys && c.Key != ""
	if before, ok := p.known[c.Key]; ok && honour {
		c.ids = before.ids
		if before.body != string(c.Body) {
			p.conflicts++
		}
		return
	}
	for i, text := range c.texts {
		m := Message{
			Token: p.options.Token.FindString(text), Key: c.Key,
			ID: p.newID(c.kind, len(p.accepted)+1), At: time.Now(),
		}
		p.accepted = append(p.accepted, m)
		p.counts[m.Token]++
		c.kept = append(c.kept, p.keep(c, m, i))
		c.ids = append(c.ids, m.ID)
	}
	if honour {
		p.known[c.Key] = answered{body: string(c.Body), ids: c.ids}
	}
}

// wait delays an answer.
func (p *Provider) wait(r *http.Request, d time.Duration) {
	if d == 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	until(p, r, timer.C)
}

// until waits for a signal. When the client goes or the fake is closed first, the request ends without an answer.
func until[T any](p *Provider, r *http.Request, signal <-chan T) {
	select {
	case <-signal:
		return
	case <-r.Context().Done():
	case <-p.closed:
	}
	panic(http.ErrAbortHandler) // a plain return would be an empty 200
}

func (p *Provider) answer(w http.ResponseWriter, r *http.Request, c *call) {
	switch c.Behaviour {
	case AcceptSlow:
		p.wait(r, p.options.Slow)
	case AcceptHang:
		p.mu.Lock()
		released := p.released
		p.mu.Unlock()
		until(p, r, released)
	case AcceptDrop:
		if reused(r) {
			hijack(w, func(net.Conn) {})
			return
		}
	case AcceptReset:
		hijack(w, reset)
		return
	case Lose:
		hijack(w, func(net.Conn) {})
		return
	case AcceptGarbage:
		status, _ := yes(c)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "\x00\x1f<<not json>>{")
		return
	case AcceptCut, AcceptTwice:
		whole := rawOK(c)
		if c.Behaviour == AcceptCut {
			whole = whole[:len(whole)-8]
		} else {
			whole += whole
		}
		hijack(w, func(conn net.Conn) { _, _ = io.WriteString(conn, whole) })
		return
	case Throttle:
		w.Header().Set("Retry-After", strconv.Itoa(int(p.options.RetryAfter/time.Second)))
	}
	if status, body := no(c); status != 0 {
		writeJSON(w, status, body)
		return
	}
	status, body := yes(c)
	if name := idHeader(c); name != "" {
		w.Header().Set(name, c.ids[0])
		w.WriteHeader(status)
		return
	}
	writeJSON(w, status, body)
}
