package providers

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sendonce/ledger"
)

const (
	vonageLag        = time.Hour // a margin: nothing says how late a record turns up
	vonageRecordTime = "2006-01-02T15:04:05-0700"
)

// ListLag implements ledger.Lister.
func (p *vonage) ListLag() time.Duration { return vonageLag }

// Reference implements ledger.Lister: the records have it.
func (p *vonage) Reference(context.Context, ledger.ListQuery, ledger.Listed) (string, error) {
	return "", nil
}

// List implements ledger.Lister: the Reports API, which Vonage bills by use.
func (p *vonageSMS) List(ctx context.Context, q ledger.ListQuery) error {
	return p.listRecords(ctx, q, "SMS")
}

// List implements ledger.Lister, as for the SMS API. It takes the API key and its secret, also where an application sends.
func (p *vonageMessages) List(ctx context.Context, q ledger.ListQuery) error {
	return p.listRecords(ctx, q, "MESSAGES")
}

func (p *vonage) listRecords(ctx context.Context, q ledger.ListQuery, product string) error {
	s := &p.settings
	if s.APIKey == "" || s.APISecret == "" {
		return &ledger.LookUpError{Fault: ledger.FaultCredentials, Detail: "the Reports API takes api_key and api_secret"}
	}
	header := authorized(basic(s.APIKey, s.APISecret))
	l := listing{sender: p.sender, header: header, query: q}
	return l.days(func(from, until time.Time) error {
		return l.split(from, until, func(from, until time.Time) ([]ledger.Listed, bool, error) {
			query := url.Values{"account_id": {s.APIKey}, "product": {product}, "direction": {"outbound"}, "include_message": {"false"}}
			query.Set("date_start", from.UTC().Format(time.RFC3339))
			query.Set("date_end", until.UTC().Format(time.RFC3339))
			if product == "SMS" {
				query.Set("show_concatenated", "true")
			}
			x, err := l.ask(ctx, request{method: http.MethodGet, url: p.reports + "?" + query.Encode(), most: maxListRead})
			if err != nil {
				return nil, false, err
			}
			return readVonageRecords(x)
		})
	})
}

// readVonageRecords reads an answer; whole is false where there are further pages of it.
func readVonageRecords(x *exchange) (list []ledger.Listed, whole bool, err error) {
	var a struct {
		Records *[]struct {
			ID           string          `json:"message_id"`
			ClientRef    string          `json:"client_ref"`
			To           string          `json:"to"`
			Status       string          `json:"status"`
			Received     string          `json:"date_received"`
			Concatenated json.RawMessage `json:"concatenated"` // a truth, in quotes or without
		} `json:"records"`
		Links struct {
			Next *struct{} `json:"next"`
		} `json:"_links"`
	}
	if x.read(&a) != nil || a.Records == nil {
		return nil, false, illegible(x)
	}
	for _, m := range *a.Records {
		at, err := time.Parse(vonageRecordTime, m.Received)
		if err != nil {
			at, err = time.Parse(time.RFC3339, m.Received)
		}
		if messageID(m.ID) == "" || err != nil {
			return nil, false, illegible(x)
		}
		to := m.To
		if to != "" && strings.Trim(to, "0123456789") == "" {
			to = "+" + to
		}
		list = append(list, ledger.Listed{
			MessageID: m.ID, Name: m.ID, Reference: cmp.Or(longReference(m.ClientRef), m.ClientRef), Recipient: to, Status: m.Status, At: at, Part: strings.Trim(string(m.Concatenated), `"`) == "true",
		})
	}
	return list, a.Links.Next == nil, nil
}
