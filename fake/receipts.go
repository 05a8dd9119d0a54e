package fake

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Receipts say how the delivery reports about what a Provider took leave it. Unless it is well behaved they are late, out of
// order, several times there, or lost; some come before the message's own answer, some are about messages that nobody here sent.
type Receipts struct {
	Client  *http.Client  // posts them; nil: none leave by themselves, and Report uses the default client
	Webhook string        // URL for SendGrid's and Resend's; Twilio and Vonage post to the one that a message names
	Lost    int           // per cent of the messages whose receipts never leave by themselves; 0: 10, negative: none
	After   time.Duration // the last one leaves at most so long after the message, its copies twice as long; 0: 10 min
	Keys    Keys          // the zero value signs with what stands there
}

// postTimeout is how long a provider waits for the answer to a receipt.
const postTimeout = 15 * time.Second

// report is one receipt, posted as often as it takes.
type report struct {
	m     *message
	word  string
	at    time.Time // of what it reports
	event string    // id that the provider gives to it: an event of SendGrid, a message of Svix
	odd   any       // in place of all that: an element of an array that nobody can read
	tries int
}

// errNoReceipts: this message's provider posts none, or the message named no address and there is no webhook.
var errNoReceipts = errors.New("fake provider: nowhere to post a receipt about this message")

// Report posts one receipt about the newest message with a token, in the provider's own word for what happened to it, and
// returns the status that it was answered with.
func (p *Provider) Report(token, word string) (status int, err error) {
	request, err := p.Receipt(token, word)
	if err != nil {
		return 0, err
	}
	return p.deliver(request)
}

// Receipt makes the signed request of Report, for who wants to post it himself, changed or not.
func (p *Provider) Receipt(token, word string) (*http.Request, error) {
	p.mu.Lock()
	var m *message
	for _, kept := range p.messages {
		if kept.Token == token {
			m = kept
		}
	}
	p.mu.Unlock()
	if m == nil {
		return nil, errors.New("fake provider: nothing with the token " + token + " went out")
	}
	return p.compose([]*report{p.report(m, word, time.Now())})
}

func (p *Provider) report(m *message, word string, at time.Time) *report {
	return &report{m: m, word: word, at: at, event: p.eventID()}
}

// compose makes the signed request of one receipt, or of SendGrid's many.
func (p *Provider) compose(reports []*report) (*http.Request, error) {
	make, ok := composers[reports[0].m.kind]
	to := reports[0].m.callback
	if to == "" {
		to = p.options.Receipts.Webhook
	}
	u, err := url.Parse(to)
	if !ok || to == "" || err != nil {
		return nil, errNoReceipts
	}
	u.Fragment = "" // says how Twilio is to try, and never leaves it
	return make(p, u.String(), reports, time.Now())
}

// composers make requests by the kind of route that the message came by.
var composers = map[string]func(p *Provider, to string, reports []*report, now time.Time) (*http.Request, error){
	"twilio": (*Provider).twilioReceipt, "vonage_sms": (*Provider).vonageSMSReceipt, "vonage_messages": (*Provider).vonageMessagesReceipt,
	"sendgrid": (*Provider).sendGridReceipt, "resend": (*Provider).resendReceipt,
}

// deliver posts a request; status 0: nobody answered.
func (p *Provider) deliver(r *http.Request) (status int, err error) {
	client := p.options.Receipts.Client
	if client == nil {
		client = http.DefaultClient
	}
	ctx, cancel := context.WithTimeout(context.Background(), postTimeout)
	defer cancel()
	answer, err := client.Do(r.WithContext(ctx))
	if err == nil {
		status = answer.StatusCode
		_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxBody))
		_ = answer.Body.Close()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.posted[status]++
	return status, err
}

// Posted counts the receipts that were posted by the status of their answer; 0: nobody answered.
func (p *Provider) Posted() map[int]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[int]int{}
	for status, n := range p.posted {
		out[status] = n
	}
	return out
}

// sendReceipts lets the receipts about a message leave, each at its time.
func (p *Provider) sendReceipts(m *message) {
	if p.options.Receipts.Client == nil || m.way.lost {
		return
	}
	for i, s := range m.way.steps {
		one := p.report(m, s.word, m.At.Add(s.after))
		fresh := *one // whose tries nobody counts yet
		if i == 0 && m.way.early {
			p.post(one) // the message's own answer waits for it
		} else {
			p.after(s.leaves, func() { p.post(one) })
		}
		for _, again := range s.copies {
			same := fresh
			if m.kind == "sendgrid" { // which gives a new id to what it posts again
				same.event = p.eventID()
			}
			p.after(again, func() { p.post(&same) })
		}
	}
	if m.way.stray {
		other := p.stranger(m)
		p.after(m.way.steps[0].leaves, func() { p.post(p.report(other, m.way.steps[0].word, m.At)) })
	}
}

// after does something later, unless the fake is closed by then.
func (p *Provider) after(d time.Duration, do func()) {
	time.AfterFunc(d, func() {
		p.mu.Lock()
		select {
		case <-p.closed:
			p.mu.Unlock()
			return
		default:
		}
		p.posting.Add(1)
		p.mu.Unlock()
		defer p.posting.Done()
		do()
	})
}

// post posts a receipt, and again for as long as the provider would.
func (p *Provider) post(r *report) {
	if r.m.kind == "sendgrid" {
		p.collect(r)
		return
	}
	request, err := p.compose([]*report{r})
	if err != nil {
		return // a message without an address asked for none
	}
	status, err := p.deliver(request)
	if status/100 == 2 {
		return
	}
	r.tries++
	if wait, again := patience(r, status, err); again {
		p.after(wait, func() { p.post(r) })
	}
}

// patience says whether and when a provider posts a receipt again that it got no 2xx for.
func patience(r *report, status int, err error) (wait time.Duration, again bool) {
	switch r.m.kind {
	case "twilio": // one more where nobody could be reached, or what the fragment of the address says
		fragment := ""
		if u, err := url.Parse(r.m.callback); err == nil {
			fragment = u.Fragment
		}
		wish, _ := url.ParseQuery(fragment)
		most, policy := 1, wish.Get("rp")
		if n, err := strconv.Atoi(wish.Get("rc")); err == nil {
			most = min(max(n, 0), 5)
		}
		var dial *net.OpError
		unreachable := errors.As(err, &dial) && dial.Op == "dial"
		return time.Second << r.tries, r.tries <= most && (unreachable || policy == "all" || policy == "5xx" && status >= 500 || policy == "rt" && err != nil)
	case "vonage_messages": // for a day
		return time.Minute << min(r.tries, 6), r.tries < 30
	case "resend":
		waits := []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour}
		if r.tries <= len(waits) {
			return waits[r.tries-1], true
		}
	}
	return 0, false // whether Vonage posts a receipt of its SMS API again was not confirmed
}

// stranger is a message like this one that somebody else sent from the same account.
func (p *Provider) stranger(m *message) *message {
	other := *m
	other.ID, other.Token = p.newID(m.kind, -m.number), ""
	p.mu.Lock()
	defer p.mu.Unlock()
	random := rand.New(rand.NewPCG(p.options.Seed, uint64(m.number)))
	reference := uuid([32]byte{byte(random.Uint64()), byte(m.number), byte(m.number >> 8), 1}) + "-1"
	if other.reference != "" {
		other.reference = reference
	}
	if u, err := url.Parse(m.callback); err == nil && m.callback != "" {
		u.Path = u.Path[:len(u.Path)-min(len(u.Path), len(reference))] + reference
		other.callback = u.String()
	}
	other.args = nil
	return &other
}
