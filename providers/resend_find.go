package providers

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sendonce/ledger"
)

// resendLookUps: the list of the newest mails shows neither tags nor keys. It is there for what a repeat under the key cannot settle.
var resendLookUps = ledger.LookUps{At: []time.Duration{3 * time.Minute, 20 * time.Minute, 3 * time.Hour}, ByContent: true}

const (
	resendPage  = "100" // mails of one page, the most
	resendPages = 10    // that are read, from the newest mail back
	resendHits  = 5     // mails that look the same and are read in full
)

// LookUps implements ledger.Finder.
func (p *resend) LookUps() ledger.LookUps { return p.lookUps }

// Together implements ledger.Finder: one list shows the newest mails to everybody.
func (p *resend) Together(a, b ledger.Search) bool { return fitInto(a, b, time.Hour) }

// Find implements ledger.Finder: the newest mails back to the searches' time, compared by recipient, sender and subject, and the
// texts of those that are left.
func (p *resend) Find(ctx context.Context, at time.Time, searches []ledger.Search) (ledger.LookedUp, error) {
	header := http.Header{}
	header.Set("Authorization", "Bearer "+string(p.settings.APIKey))
	q := newInquiry(p.sender, at, header, searches)
	wanted := make([]*mailMessage, len(searches)) // nil: it cannot be told by what the list shows
	for i := range searches {
		if m, err := p.read(searches[i].Message, searches[i].Recipient); err == nil && m.Template == nil {
			wanted[i] = &m
		}
	}
	from, _ := span(searches)
	var hits []resendHit
	for after, page := "", 0; ; page++ {
		if page == resendPages {
			q.out.Cut = true
			break
		}
		query := url.Values{"limit": {resendPage}}
		if after != "" {
			query.Set("after", after)
		}
		x, err := q.ask(ctx, &request{method: http.MethodGet, url: p.url + "?" + query.Encode(), most: maxListRead})
		if err != nil {
			return q.out, err
		}
		list, more, ok := readResendList(q, x)
		if !ok {
			return q.out, illegible(x)
		}
		hits = append(hits, hitsOf(list, searches, wanted)...)
		if !more || len(list) == 0 || list[len(list)-1].at.Before(from) {
			break
		}
		after = list[len(list)-1].ID
	}
	return p.compare(ctx, q, hits, wanted)
}

// resendListed is a mail as the list and the page of one mail show it; only the latter has its texts.
type resendListed struct {
	ID        string   `json:"id"`
	To        []string `json:"to"`
	From      string   `json:"from"`
	CreatedAt string   `json:"created_at"`
	Subject   string   `json:"subject"`
	HTML      string   `json:"html"`
	Text      string   `json:"text"`
	LastEvent string   `json:"last_event"`

	at time.Time
}

// resendHit is a mail that may be a search's.
type resendHit struct {
	id  string
	row int
	at  time.Time
}

// resendTime reads a time as Resend writes it, with a blank or a T between day and time.
func resendTime(s string) (time.Time, error) {
	s = strings.Replace(s, " ", "T", 1)
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z07"} {
		if t, err := time.Parse(form, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errBadTime
}

// readResendList reads a page; false: it is none. A mail that cannot be read could be any, so the list counts as cut then.
func readResendList(q *inquiry, x *exchange) (list []resendListed, more, ok bool) {
	var a struct {
		Data *[]json.RawMessage `json:"data"`
		More bool               `json:"has_more"`
	}
	if x.read(&a) != nil || a.Data == nil {
		return nil, false, false
	}
	for _, text := range *a.Data {
		var m resendListed
		err := x.readPart(text, &m)
		if err == nil {
			m.at, err = resendTime(m.CreatedAt)
		}
		if err != nil || messageID(m.ID) == "" {
			q.out.Cut = true
			continue
		}
		list = append(list, m)
	}
	return list, a.More, true
}

// hitsOf lists the mails that have recipient, sender and subject of a search, in its time.
func hitsOf(list []resendListed, searches []ledger.Search, wanted []*mailMessage) (hits []resendHit) {
	for _, m := range list {
		for i, w := range wanted {
			in := !m.at.Before(searches[i].From) && !m.at.After(searches[i].Until)
			if w != nil && in && m.Subject == w.Subject && len(m.To) == 1 && sameAddress(m.To[0], w.to) && sameAddress(m.From, w.sender.Address) {
				hits = append(hits, resendHit{m.ID, i, m.at})
			}
		}
	}
	return hits
}

// sameAddress compares an address that may have a name with one that has none.
func sameAddress(shown, address string) bool {
	a, err := parseSender(shown)
	return err == nil && strings.EqualFold(a.Address, address)
}

// compare reads each hit in full and compares the texts.
func (p *resend) compare(ctx context.Context, q *inquiry, hits []resendHit, wanted []*mailMessage) (ledger.LookedUp, error) {
	read := map[string]*exchange{}
	for _, hit := range hits {
		if len(q.out.Found[hit.row]) == resendHits { // a person has to say in any case
			continue
		}
		x := read[hit.id]
		if x == nil {
			var err error
			if x, err = q.ask(ctx, &request{method: http.MethodGet, url: p.url + "/" + url.PathEscape(hit.id), most: maxListRead}); err != nil {
				return q.out, err
			}
			read[hit.id] = x
		}
		var m resendListed
		if x.read(&m) != nil || m.ID != hit.id {
			return q.out, illegible(x)
		}
		if w := wanted[hit.row]; slices.Equal(trimmed(m.Text, m.HTML), trimmed(w.Text, w.HTML)) || m.Text != "" && w.Text == "" && strings.TrimSpace(m.HTML) == strings.TrimSpace(w.HTML) {
			q.found(hit.row, ledger.Found{MessageID: m.ID, At: hit.at, Delivery: resendWords.delivery("email." + m.LastEvent), Body: x.answer()})
		}
	}
	return q.done(), nil
}

func trimmed(texts ...string) []string {
	for i := range texts {
		texts[i] = strings.TrimSpace(texts[i])
	}
	return texts
}
