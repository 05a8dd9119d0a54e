package providers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sendonce/ledger"
)

// sendGridLookUps: the Email Logs keep 30 days. Nothing says how late a mail turns up there; a quarter of an hour is a margin.
var sendGridLookUps = ledger.LookUps{At: []time.Duration{2 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour}}

const (
	sendGridHits = 20 // mails to one address within some minutes that are looked at
	sendGridTime = "2006-01-02T15:04:05Z"
)

// LookUps implements ledger.Finder.
func (p *sendGrid) LookUps() ledger.LookUps { return p.lookUps }

// Together implements ledger.Finder: the log is asked about one address at a time.
func (p *sendGrid) Together(a, b ledger.Search) bool {
	return a.Recipient == b.Recipient && fitInto(a, b, time.Hour)
}

// Find implements ledger.Finder: the mails to the address in that time, and of each of them what we sent along.
func (p *sendGrid) Find(ctx context.Context, at time.Time, searches []ledger.Search) (ledger.LookedUp, error) {
	header := authorized("Bearer " + string(p.settings.APIKey))
	q := newInquiry(p.sender, at, header, searches)
	query, err := p.logQuery(searches)
	if err != nil {
		return q.out, err
	}
	x, err := q.ask(ctx, &request{url: p.logs, body: query, most: maxListRead})
	if err != nil {
		return q.out, err
	}
	ids, err := readSendGridLog(x)
	if err != nil {
		return q.out, err
	}
	if len(ids) > sendGridHits {
		ids, q.out.Cut = ids[:sendGridHits], true
	}
	for _, id := range ids {
		x, err := q.ask(ctx, &request{method: http.MethodGet, url: p.logs + "/" + url.PathEscape(id)})
		switch {
		case notFound(err):
			q.out.Cut = true
		case err != nil:
			return q.out, err
		default:
			readSendGridMail(q, x, id, searches)
		}
	}
	return q.done(), nil
}

// logQuery asks for mails by recipient and time. An address with a mark that the query language may read is left out.
func (p *sendGrid) logQuery(searches []ledger.Search) ([]byte, error) {
	from, until := span(searches)
	query := fmt.Sprintf(`sg_message_id_created_at >= TIMESTAMP "%s" AND sg_message_id_created_at <= TIMESTAMP "%s"`,
		from.UTC().Format(sendGridTime), until.UTC().Add(time.Second).Format(sendGridTime))
	to, err := wireAddress(searches[0].Recipient)
	if err != nil {
		return nil, fmt.Errorf("look-up: %w", err)
	}
	if strings.Trim(to, wordChars+".+-@") == "" {
		query = "to_email = '" + to + "' AND " + query
	}
	return canonicalJSON(struct {
		Limit int    `json:"limit"`
		Query string `json:"query"`
	}{1000, query})
}

// readSendGridLog lists the ids of the mails that a query found.
func readSendGridLog(x *exchange) ([]string, error) {
	var a struct {
		Messages *[]struct {
			ID string `json:"sg_message_id"`
		} `json:"messages"`
	}
	if x.read(&a) != nil || a.Messages == nil {
		return nil, illegible(x)
	}
	ids := make([]string, 0, len(*a.Messages))
	for _, m := range *a.Messages {
		if id := messageID(m.ID); id != "" {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// sendGridDeliveries are the statuses of a mail in the log.
var sendGridDeliveries = map[string]ledger.Delivery{
	"processed": ledger.Queued, "deferred": ledger.Delayed, "dropped": ledger.Undelivered, "blocked": ledger.Undelivered,
	"bounced": ledger.Bounced, "delivered": ledger.Delivered,
}

// readSendGridMail compares what we sent along with one of the searches. Both marks have to be ours: the reference names the
// attempt, and the key the row.
func readSendGridMail(q *inquiry, x *exchange, id string, searches []ledger.Search) {
	var a struct {
		ID     string          `json:"sg_message_id"`
		Status string          `json:"status"`
		Args   json.RawMessage `json:"custom_args"`
	}
	var args sendGridArgs
	if x.read(&a) != nil || a.ID != id || x.readPart(a.Args, &args) != nil {
		return
	}
	for i := range searches {
		number, ok := searches[i].Attempt(args.Reference)
		if !ok || args.DedupeKey != searches[i].WireKey {
			continue
		}
		name, _, _ := strings.Cut(id, ".") // what X-Message-Id is, and receipts are found by
		q.found(i, ledger.Found{MessageID: name, Number: number, Delivery: sendGridDeliveries[a.Status], Body: x.answer()})
	}
}
