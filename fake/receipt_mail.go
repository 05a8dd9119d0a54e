package fake

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	eventsAtOnce = 1000             // events in one array
	eventsWait   = 20 * time.Second // for others, before an array leaves
)

// eventID is an id that the provider gives to a report or a post; no two are equal.
func (p *Provider) eventID() string {
	return uuid(sha256.Sum256(fmt.Appendf(nil, "%d event %d", p.options.Seed, p.events.Add(1))))
}

// collect keeps an event until its array leaves.
func (p *Provider) collect(r *report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.batch = append(p.batch, r)
	switch len(p.batch) {
	case 1:
		wait := eventsWait
		if p.options.WellBehaved {
			wait = 0
		}
		p.after(wait, p.flush)
	case eventsAtOnce:
		p.after(0, p.flush)
	}
}

// flush lets the events leave that were collected, every fifth time with one among them that nobody can read.
func (p *Provider) flush() {
	p.mu.Lock()
	batch := p.batch
	p.batch = nil
	p.flushes++
	if odd := oddEvents[p.flushes/5%len(oddEvents)]; p.flushes%5 == 0 && !p.options.WellBehaved && len(batch) > 0 {
		middle := len(batch) / 2
		batch = append(batch[:middle:middle], append([]*report{{m: batch[0].m, odd: odd}}, batch[middle:]...)...)
	}
	p.mu.Unlock()
	p.postEvents(batch, 0)
}

// oddEvents are elements of an array of events that are none.
var oddEvents = []any{
	42, nil, []any{}, "delivered", map[string]any{}, map[string]any{"event": 7, "timestamp": "soon"},
	map[string]any{"event": "delivered", "email": "a@example.test", "timestamp": -1, "sg_message_id": nil},
	map[string]any{"event": "invented", "email": "a@example.test", "timestamp": 1600112492, "sg_event_id": "x", "sg_message_id": "y"},
}

// postEvents posts an array until it is answered with a 2xx, for a day. Each time all ids are new.
func (p *Provider) postEvents(batch []*report, tries int) {
	if len(batch) == 0 {
		return
	}
	request, err := p.compose(batch)
	if err != nil {
		return
	}
	if status, _ := p.deliver(request); status/100 == 2 || tries > 30 {
		return
	}
	for _, r := range batch {
		r.event = p.eventID()
	}
	p.after(time.Minute<<min(tries, 6), func() { p.postEvents(batch, tries+1) })
}

// sendGridReceipt is an array of events of any messages. The line end behind it is signed too.
func (p *Provider) sendGridReceipt(to string, reports []*report, now time.Time) (*http.Request, error) {
	events := make([]any, len(reports))
	for i, r := range reports {
		if events[i] = r.odd; r.event != "" {
			events[i] = r.sendGridEvent()
		}
	}
	body, err := json.Marshal(events)
	if err != nil {
		return nil, err
	}
	body = append(body, "\r\n"...)
	request, err := http.NewRequest(http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	timestamp := strconv.FormatInt(now.Unix(), 10)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "SendGrid Event API")
	request.Header.Set("X-Twilio-Email-Event-Webhook-Timestamp", timestamp)
	request.Header.Set("X-Twilio-Email-Event-Webhook-Signature", signEvents(timestamp, body))
	return request, nil
}

// sendGridEvent is one event; what the message brought as custom_args stands beside the rest.
func (r *report) sendGridEvent() map[string]any {
	event := map[string]any{
		"email": r.m.to, "event": r.word, "timestamp": r.at.Unix(), "sg_event_id": r.event, "sg_message_id": r.m.logID(),
		"smtp-id": "<" + r.m.ID + "@geopod-ismtpd-1>", "category": r.m.category,
	}
	switch r.word {
	case "delivered":
		event["response"] = "250 2.0.0 OK"
	case "deferred":
		event["response"], event["attempt"] = "450 4.2.1 come back", strconv.Itoa(1+int(r.at.Sub(r.m.At)/time.Second))
	case "bounce":
		event["type"], event["status"], event["reason"] = "bounce", "5.1.1", "550 5.1.1 No such user"
	case "dropped":
		event["reason"] = "Bounced Address"
	case "click":
		event["url"] = "https://shop.example.test/"
	}
	for name, value := range r.m.args {
		event[name] = value
	}
	return event
}

// logID is SendGrid's id of a message in events and logs: what X-Message-Id says, and then where it went.
func (m *message) logID() string { return m.ID + ".recvd-fake-1-" + strconv.Itoa(m.number) + ".0" }

// resendReceipt is one webhook, signed as Svix does.
func (p *Provider) resendReceipt(to string, reports []*report, now time.Time) (*http.Request, error) {
	r := reports[0]
	const iso = "2006-01-02T15:04:05.000Z"
	data := map[string]any{
		"email_id": r.m.ID, "created_at": r.m.At.UTC().Format(iso), "from": r.m.from, "to": []string{r.m.to}, "subject": r.m.subject,
	}
	if len(r.m.args) > 0 {
		data["tags"] = r.m.args
	}
	switch r.word {
	case "bounced":
		data["bounce"] = map[string]any{"message": "No such user", "type": "Permanent", "subType": "General", "diagnosticCode": []string{"smtp; 550 5.1.1"}}
	case "failed":
		data["failed"] = map[string]any{"reason": "reached_daily_quota"}
	case "suppressed":
		data["suppressed"] = map[string]any{"message": "previously bounced", "type": "Suppressed", "reason": "previous_bounce", "diagnosticCode": []string{}}
	case "clicked":
		data["click"] = map[string]any{"ipAddress": "203.0.113.7", "link": "https://shop.example.test/", "timestamp": r.at.UTC().Format(iso), "userAgent": "fake"}
	}
	body, err := json.Marshal(map[string]any{"type": "email." + r.word, "created_at": r.at.UTC().Format(iso), "data": data})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequest(http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	id := "msg_" + r.event
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("svix-id", id)
	request.Header.Set("svix-timestamp", strconv.FormatInt(now.Unix(), 10))
	request.Header.Set("svix-signature", signSvix(cmp.Or(p.options.Receipts.Keys.SvixSecret, SvixSecret), id, now, body))
	return request, nil
}
