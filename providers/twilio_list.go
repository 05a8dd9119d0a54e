package providers

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sendonce/ledger"
)

const (
	// A fresh message was seen missing from the list for a quarter of an hour (twilio/twilio-java#442), and one that waits at
	// Twilio has no time of sending yet.
	twilioLag      = 30 * time.Minute
	twilioListPage = "500"
)

// ListLag implements ledger.Lister.
func (p *twilio) ListLag() time.Duration { return twilioLag }

// Reference implements ledger.Lister: Twilio keeps nothing that we send along.
func (p *twilio) Reference(context.Context, ledger.ListQuery, ledger.Listed) (string, error) {
	return "", nil
}

func (p *twilio) listing(q ledger.ListQuery) *listing {
	header := authorized(p.authorization)
	return &listing{sender: p.sender, header: header, query: q}
}

// Holds implements ledger.Holder: a message by its id. The list goes by the time of sending, which one that never left has none of.
func (p *twilio) Holds(ctx context.Context, q ledger.ListQuery, messageID string) (bool, error) {
	l := p.listing(q)
	l.begun = true
	x, err := l.ask(ctx, request{method: http.MethodGet, url: strings.TrimSuffix(p.url, ".json") + "/" + url.PathEscape(messageID) + ".json"})
	if err != nil {
		if notFound(err) {
			err = nil
		}
		return false, err
	}
	var m struct {
		SID string `json:"sid"`
	}
	if x.read(&m) != nil || m.SID != messageID {
		return false, illegible(x)
	}
	return true, nil
}

// List implements ledger.Lister: the message list by time of sending, page by page. What was made in that time and left later is
// listed too: it may wait there for as long as its validity. What waits yet is not.
func (p *twilio) List(ctx context.Context, q ledger.ListQuery) error {
	made, now := q.Until, q.Now().Truncate(time.Second)
	if left := made.Add(twilioValidity); left.Before(now) {
		q.Until = left
	} else if made.Before(now) {
		q.Until = now
	}
	l := p.listing(q)
	return l.days(func(from, until time.Time) error {
		query := url.Values{}
		query.Set("DateSent>", from.UTC().Format(time.RFC3339)) // the sign is part of the name
		query.Set("DateSent<", until.UTC().Format(time.RFC3339))
		query.Set("PageSize", twilioListPage)
		for next := p.url + "?" + query.Encode(); next != ""; {
			x, err := l.ask(ctx, request{method: http.MethodGet, url: next, most: maxListRead})
			if err != nil {
				return err
			}
			list, page, err := readTwilioList(x)
			if err != nil {
				return err
			}
			list = slices.DeleteFunc(list, func(m ledger.Listed) bool { return !m.At.Before(made) })
			if err := l.visit(list); err != nil {
				return err
			}
			following, ok := p.nextPage(page)
			if !ok || following == next {
				return illegible(x)
			}
			next = following
		}
		return nil
	})
}

// readTwilioList reads a page and the path of the next one; "": it is the last.
func readTwilioList(x *exchange) (list []ledger.Listed, next string, err error) {
	var a struct {
		Messages *[]struct {
			SID       string `json:"sid"`
			To        string `json:"to"`
			Status    string `json:"status"`
			Direction string `json:"direction"`
			Created   string `json:"date_created"`
		} `json:"messages"`
		Next *string `json:"next_page_uri"`
	}
	if x.read(&a) != nil || a.Messages == nil {
		return nil, "", illegible(x)
	}
	for _, m := range *a.Messages {
		if m.Direction != "outbound-api" { // one that came in, or a reply to it
			continue
		}
		at, err := time.Parse(time.RFC1123Z, m.Created)
		if messageID(m.SID) == "" || err != nil {
			return nil, "", illegible(x)
		}
		list = append(list, ledger.Listed{MessageID: m.SID, Name: m.SID, Recipient: m.To, Status: m.Status, At: at})
	}
	if a.Next != nil {
		next = *a.Next
	}
	return list, next, nil
}
