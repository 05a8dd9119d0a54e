package providers

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sendonce/ledger"
)

// infraiStatesAt: most texts are there within a minute; what a network still tries after an hour is not worth a request each.
var infraiStatesAt = []time.Duration{time.Minute, 10 * time.Minute, time.Hour}

// infraiUnknown is the code beside a 404 for an id that the service does not know.
const infraiUnknown = "SMS_MESSAGE_NOT_FOUND"

// infraiWords are no list of the vendor's.
var infraiWords = Words{
	Source: "none: no page of the vendor's lists its states, so these are words that SMS services commonly use",
	List: []Word{
		{"queued", ledger.Queued, "waits at Infrai"},
		{"pending", ledger.Queued, "waits at Infrai"},
		{"submitted", ledger.PassedOn, "with the network"},
		{"sent", ledger.PassedOn, "with the network"},
		{"delivered", ledger.Delivered, "on the phone"},
		{"undelivered", ledger.Undelivered, "did not arrive"},
		{"failed", ledger.Undelivered, "could not be sent"},
		{"rejected", ledger.Undelivered, "refused on the way"},
	},
}

// Words implements Reporting.
func (*InfraiSettings) Words() Words { return infraiWords }

// StatesAt implements ledger.Stater.
func (p *infrai) StatesAt() []time.Duration { return p.statesAt }

// State implements ledger.Stater.
func (p *infrai) State(ctx context.Context, at time.Time, id string) (ledger.Receipt, error) {
	q := newInquiry(p.sender, at, http.Header{"Authorization": p.authorization}, nil)
	x, err := q.ask(ctx, &request{method: http.MethodGet, url: p.status + url.PathEscape(id)})
	switch {
	case notFound(err):
		if a := readAnswer[infraiAnswer](x); string(a.OK) == "false" && errorCode(a.Error) == infraiUnknown {
			return ledger.Receipt{}, nil
		}
		return ledger.Receipt{}, err
	case err != nil:
		return ledger.Receipt{}, err
	}
	return readInfraiState(x, id)
}

// readInfraiState reads the state of a message. An id in the answer has to be the one that was asked for, under either name.
func readInfraiState(x *exchange, id string) (ledger.Receipt, error) {
	a := readAnswer[infraiAnswer](x)
	var data struct {
		MessageID string `json:"message_id"`
		SMSID     string `json:"sms_id"`
		State     string `json:"state"`
	}
	if string(a.OK) != "true" || given(a.Error) || x.readPart(a.Data, &data) != nil || data.State == "" {
		return ledger.Receipt{}, illegible(x)
	}
	for _, named := range []string{data.MessageID, data.SMSID} {
		if named != "" && named != id {
			return ledger.Receipt{}, illegible(x)
		}
	}
	word := strings.ToLower(data.State)
	return ledger.Receipt{MessageID: id, Kind: reportWord(word), Delivery: infraiWords.delivery(word), Body: x.answer()}, nil
}
