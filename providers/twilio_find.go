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

// twilioLookUps: the list shows no reference of ours. A fresh message may be missing from it for a quarter of an hour
// (github.com/twilio/twilio-java/issues/442).
var twilioLookUps = ledger.LookUps{At: []time.Duration{2 * time.Minute, 10 * time.Minute, 30 * time.Minute, 3 * time.Hour}, ByContent: true}

const (
	twilioPage  = "100" // messages of one page
	twilioPages = 3     // that are read of the messages to one number
	twilioTrial = "Sent from your Twilio trial account - "
)

// LookUps implements ledger.Finder.
func (p *twilio) LookUps() ledger.LookUps { return p.lookUps }

// Together implements ledger.Finder: one list shows all messages to a number.
func (p *twilio) Together(a, b ledger.Search) bool { return a.Recipient == b.Recipient }

// Find implements ledger.Finder: the messages to the number, compared by sender and text. The list is asked for by the recipient
// alone: a filter by the day that a message was sent would hide those that wait.
func (p *twilio) Find(ctx context.Context, at time.Time, searches []ledger.Search) (ledger.LookedUp, error) {
	header := authorized(p.authorization)
	q := newInquiry(p.sender, at, header, searches)
	next := p.url + "?" + url.Values{"To": {searches[0].Recipient}, "PageSize": {twilioPage}}.Encode()
	for page := 0; next != ""; page++ {
		if page == twilioPages {
			q.out.Cut = true
			break
		}
		x, err := q.ask(ctx, &request{method: http.MethodGet, url: next, most: maxListRead})
		if err != nil {
			return q.out, err
		}
		var ok bool
		if next, ok = p.readList(q, x, searches); !ok {
			return q.out, illegible(x)
		}
	}
	return q.done(), nil
}

// twilioListed is a message in the list.
type twilioListed struct {
	SID       string          `json:"sid"`
	Account   string          `json:"account_sid"`
	Direction string          `json:"direction"`
	To        string          `json:"to"`
	From      string          `json:"from"`
	Service   string          `json:"messaging_service_sid"`
	Body      string          `json:"body"`
	Created   string          `json:"date_created"` // RFC 2822
	Status    string          `json:"status"`
	ErrorCode json.RawMessage `json:"error_code"`
}

// readList notes what on a page may be one of the searches' messages, and returns where the next page is; false: it is no page.
// A message that cannot be read could be any, so the list counts as cut then.
func (p *twilio) readList(q *inquiry, x *exchange, searches []ledger.Search) (next string, ok bool) {
	var a struct {
		Messages *[]json.RawMessage `json:"messages"`
		Next     string             `json:"next_page_uri"` // null at the end
	}
	if x.read(&a) != nil || a.Messages == nil {
		return "", false
	}
	for _, text := range *a.Messages {
		var m twilioListed
		created, err := time.Time{}, x.readPart(text, &m)
		if err == nil {
			created, err = time.Parse(time.RFC1123Z, m.Created)
		}
		if err != nil || !twilioMessageSID.MatchString(m.SID) {
			q.out.Cut = true
			continue
		}
		for i := range searches {
			if p.looksLike(&m, &searches[i]) && !created.Before(searches[i].From) && !created.After(searches[i].Until) {
				q.found(i, ledger.Found{
					MessageID: m.SID, At: created, Delivery: twilioWords.delivery(m.Status), Code: plainCode(zeroIsNone(scalar(m.ErrorCode))), Body: text,
				})
			}
		}
	}
	return p.nextPage(a.Next)
}

// nextPage is the address of a page that an answer names, "" at the end. ok is false for any place but the message list of the
// account, since the credentials go along.
func (p *twilio) nextPage(path string) (address string, ok bool) {
	if path == "" {
		return "", true
	}
	const root = "/2010-04-01/"
	host, _, _ := strings.Cut(p.url, root)
	return host + path, strings.HasPrefix(path, root+"Accounts/"+p.settings.AccountSID+"/Messages.json?")
}

// looksLike compares a message with what would have been sent. What a template says is not known here.
func (p *twilio) looksLike(m *twilioListed, s *ledger.Search) bool {
	sent, err := p.read(s.Message)
	if err != nil || sent.contentSID != "" || m.Direction != "outbound-api" || m.To != s.Recipient || !strings.EqualFold(m.Account, p.settings.AccountSID) {
		return false
	}
	from := cmp.Or(sent.From, p.settings.From)
	if from != "" && m.From != from || from == "" && m.Service != p.settings.MessagingServiceSID {
		return false
	}
	return plainMarks(strings.TrimPrefix(m.Body, twilioTrial)) == plainMarks(sent.Text)
}

// smartMarks are marks that Smart Encoding of a Messaging Service writes in another way, so that a text needs fewer parts
// (twilio.com/docs/messaging/features/smart-encoding).
var smartMarks = strings.NewReplacer(
	"\u00ab", `"`, "\u00bb", `"`, "\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u02ba", `"`, "\u02ee", `"`, "\u201f", `"`, "\u2033", `"`,
	"\u2018", "'", "\u2019", "'", "\u02bb", "'", "\u02c8", "'", "\u02bc", "'", "\u02bd", "'", "\u02b9", "'", "\u201b", "'", "\u2032", "'", "\u201a", "'",
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2015", "-", "\u2043", "-", "\u2212", "-",
	"\u2026", "...", "\u00a0", " ", "\u2002", " ", "\u2003", " ", "\u2007", " ", "\u2009", " ", "\u200a", " ", "\u202f", " ", "\u3000", " ",
	"\u200b", "", "\u200c", "", "\u200d", "", "\ufeff", "",
)

// plainMarks writes a text as Smart Encoding might. Blanks around a text are not told apart.
func plainMarks(s string) string { return strings.TrimSpace(smartMarks.Replace(s)) }
