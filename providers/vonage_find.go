package providers

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sendonce/ledger"
)

// vonageLookUps: no page says how late a record turns up. Reports are billed, so there are few looks.
var vonageLookUps = ledger.LookUps{At: []time.Duration{5 * time.Minute, 30 * time.Minute, 3 * time.Hour, 12 * time.Hour}}

// vonageReport is the longest time that one report may be about.
const vonageReport = 24 * time.Hour

// LookUps implements ledger.Finder.
func (p *vonage) LookUps() ledger.LookUps { return p.lookUps }

// Together implements ledger.Finder: a report of some hours shows all messages of the account.
func (p *vonage) Together(a, b ledger.Search) bool { return fitInto(a, b, vonageReport-time.Minute) }

// Find implements ledger.Finder.
func (p *vonageSMS) Find(ctx context.Context, at time.Time, searches []ledger.Search) (ledger.LookedUp, error) {
	return p.find(ctx, "SMS", at, searches)
}

// Find implements ledger.Finder.
func (p *vonageMessages) Find(ctx context.Context, at time.Time, searches []ledger.Search) (ledger.LookedUp, error) {
	return p.find(ctx, "MESSAGES", at, searches)
}

// find reads the records of the searches' time and compares our references.
func (p *vonage) find(ctx context.Context, product string, at time.Time, searches []ledger.Search) (ledger.LookedUp, error) {
	header := authorized(basic(p.settings.APIKey, p.settings.APISecret))
	q := newInquiry(p.sender, at, header, searches)
	r := &request{method: http.MethodGet, url: p.reports + "?" + p.reportQuery(product, searches).Encode(), most: maxListRead}
	x, err := q.ask(ctx, r)
	if err != nil {
		return q.out, err
	}
	if !readVonageReport(q, x, searches) {
		return q.out, illegible(x)
	}
	return q.done(), nil
}

// reportQuery asks for the records of a time. Those of one SMS are asked for by their reference too; whether that narrows the
// answer or not, the references are compared again.
func (p *vonage) reportQuery(product string, searches []ledger.Search) url.Values {
	from, until := span(searches)
	if earliest := until.Add(-vonageReport + time.Minute); from.Before(earliest) {
		from = earliest // what is older was looked for before, or is left to a person
	}
	query := url.Values{
		"account_id": {p.settings.APIKey}, "product": {product}, "direction": {"outbound"}, "include_message": {"false"},
		"date_start": {from.UTC().Format(time.RFC3339)}, "date_end": {until.UTC().Add(time.Second).Format(time.RFC3339)},
	}
	if product == "SMS" && len(searches) == 1 && len(searches[0].Attempts) == 1 {
		query.Set("client_ref", shortReference(ledger.Order{ID: searches[0].ID, Number: searches[0].Attempts[0]}))
	}
	return query
}

// vonageRecord is a message in a report.
type vonageRecord struct {
	AccountID string          `json:"account_id"`
	MessageID string          `json:"message_id"`
	ClientRef string          `json:"client_ref"`
	Direction string          `json:"direction"`
	Status    string          `json:"status"`
	ErrorCode json.RawMessage `json:"error_code"`
}

// readVonageReport compares each record's reference with the searches; false: the answer is no report.
func readVonageReport(q *inquiry, x *exchange, searches []ledger.Search) bool {
	var a struct {
		Records *[]json.RawMessage `json:"records"`
		Links   struct {
			Next json.RawMessage `json:"next"`
		} `json:"_links"`
	}
	if x.read(&a) != nil || a.Records == nil {
		return false
	}
	q.out.Cut = given(a.Links.Next)
	rows := make(map[string]int, 2*len(searches)) // by the id as either API has it: see shortReference
	for i := range searches {
		rows[searches[i].ID], rows[strings.ReplaceAll(searches[i].ID, "-", "")] = i, i
	}
	for _, text := range *a.Records {
		var m vonageRecord
		if x.readPart(text, &m) != nil || messageID(m.MessageID) == "" || m.Direction != "outbound" {
			continue
		}
		cut := strings.LastIndexByte(m.ClientRef, '-')
		if cut < 0 {
			continue
		}
		i, ok := rows[m.ClientRef[:cut]]
		if !ok {
			continue
		}
		if number, ok := searches[i].Attempt(searches[i].ID + m.ClientRef[cut:]); ok {
			q.found(i, ledger.Found{
				MessageID: m.MessageID, Number: number, Delivery: vonageWords.delivery(m.Status), Code: plainCode(zeroIsNone(scalar(m.ErrorCode))), Body: text,
			})
		}
	}
	return true
}
