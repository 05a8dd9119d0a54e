package providers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

// What ttl of the SMS API may be; the longest an operator keeps a message is often less.
const (
	vonageMinTTL = 20 * time.Second
	vonageMaxTTL = 7 * 24 * time.Hour
)

// vonageSMS is the SMS API: a form that carries the credentials, and an answer that is a 200 whatever became of the message.
type vonageSMS struct{ vonage }

// Build implements ledger.Provider.
func (p *vonageSMS) Build(o ledger.Order) (ledger.Request, error) {
	m, err := p.rules.read(o.Message)
	if err != nil {
		return nil, err
	}
	form := url.Values{
		"api_key": {p.settings.APIKey}, "api_secret": {string(p.settings.APISecret)},
		"from": {p.number(cmp.Or(m.From, p.settings.From))}, "to": {p.number(o.Recipient)}, "text": {m.Text},
		"client-ref": {shortReference(o)},
	}
	if !isGSM(m.Text) { // else characters outside the alphabet arrive as question marks
		form.Set("type", "unicode")
	}
	if p.callback != "" {
		form.Set("callback", p.callback+"/"+o.Reference())
	}
	if left, ok := validity(o, vonageMinTTL, vonageMaxTTL); ok {
		form.Set("ttl", strconv.FormatInt(left.Milliseconds(), 10))
	}
	header := http.Header{}
	header.Set("Accept", "application/json")
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	return &request{url: p.url, header: header, body: []byte(form.Encode()), at: o.At, ownSender: m.From != ""}, nil
}

// shortReference is the reference in the 40 characters that client-ref has: the hyphens of the id are left out, which leaves
// seven digits for the attempt. A reader of UUIDs takes both forms.
func shortReference(o ledger.Order) string {
	return strings.ReplaceAll(o.ID, "-", "") + "-" + strconv.Itoa(o.Number)
}

// longReference is the reference that shortReference made short; "": it is none.
func longReference(short string) string {
	hex, number, _ := strings.Cut(short, "-")
	id, err := uuid.Parse(hex)
	if err != nil || strings.ReplaceAll(id.String(), "-", "") != hex {
		return ""
	}
	return id.String() + "-" + number
}

// Send implements ledger.Provider.
func (p *vonageSMS) Send(ctx context.Context, r ledger.Request) ledger.Result {
	x := p.sender.post(ctx, r.(*request))
	return readVonageSMS(&x)
}

// vonageParts is the form of every answer of the SMS API: one element for each part of a long text.
type vonageParts struct {
	Count    string       `json:"message-count"`
	Messages []vonagePart `json:"messages"`
}

type vonagePart struct {
	ID     string `json:"message-id"`
	Status string `json:"status"` // "0": accepted
}

// readVonageSMS says what an answer means. The body decides: a 200 may be a refusal, and a lost body says nothing.
func readVonageSMS(x *exchange) ledger.Result {
	if r, ok := x.unanswered(); ok {
		return r
	}
	var a vonageParts
	readable := x.read(&a) == nil && a.readable()
	made, success := x.made(), x.status >= 200 && x.status <= 299
	switch {
	case readable && bodyDecides(x.status):
		return x.parts(a, made)
	case made && !success && (!readable || !bodyDecides(x.status)):
		return x.contradicts(a.refused())
	case readable && !made && !bodyDecides(x.status):
		return x.refusal(own, a.refused())
	case !readable && (!made || success):
		return x.illegible()
	}
	return x.unlisted()
}

// made reports whether any part shows that a message was made, by its status or by an id, whatever types these have.
func (x *exchange) made() bool {
	var a struct {
		Messages json.RawMessage `json:"messages"`
	}
	var parts []json.RawMessage
	if x.read(&a) != nil || x.readPart(a.Messages, &parts) != nil {
		return false
	}
	for _, part := range parts {
		var m struct {
			ID     json.RawMessage `json:"message-id"`
			Status json.RawMessage `json:"status"`
		}
		if x.readPart(part, &m) == nil && (anyGiven(m.ID) || strings.Trim(string(m.Status), `"`) == "0") {
			return true
		}
	}
	return false
}

// readable reports whether every part has a status and none is missing.
func (a *vonageParts) readable() bool {
	for _, m := range a.Messages {
		if n, err := strconv.Atoi(m.Status); err != nil || n < 0 {
			return false
		}
	}
	return len(a.Messages) > 0 && (a.Count == "" || a.Count == strconv.Itoa(len(a.Messages)))
}

// refused is the first status of a part that was not accepted; "": all were.
func (a *vonageParts) refused() string {
	for _, m := range a.Messages {
		if m.Status != "0" {
			return plainCode(m.Status)
		}
	}
	return ""
}

// parts says what the statuses of all parts mean together. made: one of them shows a message that was made.
func (x *exchange) parts(a vonageParts, made bool) ledger.Result {
	r := x.unlisted()
	var ids []string
	yes, no := 0, 0
	for _, m := range a.Messages {
		switch {
		case m.Status == "0":
			yes++
			if id := messageID(m.ID); id != "" {
				ids = append(ids, id)
			}
		case m.Status != "0":
			no++
		}
	}
	r.Code = a.refused()
	switch n := len(a.Messages); {
	case yes == n && x.status >= 200 && x.status <= 299:
		return accepted(r, ids...)
	case yes > 0 && no > 0:
		r.Reason, r.MessageIDs, r.Error = ledger.ReasonPartial, ids, partsText(a.Messages)
	case no == n && !made:
		return x.partsRefused(a)
	}
	return r // also for a yes under another status, and for a refused part with an id: yes and no in one answer
}

// partsRefused is the outcome where no part was accepted. Where the parts differ the message as a whole gets the most careful
// one: what may have been accepted before what was surely not, and what can never be sent before what can be sent later.
func (x *exchange) partsRefused(a vonageParts) ledger.Result {
	results := make([]ledger.Result, len(a.Messages))
	for i, m := range a.Messages {
		results[i] = x.coded(&vonageCodes, plainCode(m.Status))
	}
	worst := slices.MaxFunc(results, func(a, b ledger.Result) int { return severity(a.Outcome) - severity(b.Outcome) })
	if len(a.Messages) > 1 {
		worst.Error = partsText(a.Messages)
	}
	return worst
}

func severity(o ledger.Outcome) int {
	return map[ledger.Outcome]int{ledger.Deferred: 0, ledger.Rejected: 1, ledger.Ambiguous: 2}[o]
}

// partsText shows the status of each part: "parts 1 to 2 accepted, part 3: status 9".
func partsText(parts []vonagePart) string {
	var out []string
	for i := 0; i < len(parts); {
		j := i
		for j+1 < len(parts) && parts[j+1].Status == parts[i].Status {
			j++
		}
		which := fmt.Sprintf("part %d", i+1)
		if j > i {
			which = fmt.Sprintf("parts %d to %d", i+1, j+1)
		}
		if parts[i].Status == "0" {
			out = append(out, which+" accepted")
		} else {
			out = append(out, which+" refused with status "+plainCode(parts[i].Status))
		}
		i = j + 1
	}
	return strings.Join(out, ", ")
}
