package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"sendonce/ledger"
)

// Header fields that are the same in every answer that has them. Header maps share these slices: nobody writes to them.
var (
	noStore     = []string{"no-store"}
	noSniff     = []string{"nosniff"}
	jsonType    = []string{"application/json"}
	problemType = []string{"application/problem+json"}
	replayed    = []string{"true"}
)

// writeRow answers with one row, its version as ETag. claim says what the claim found that asked for the row; it is empty where
// none did.
func (a *API) writeRow(rq *request, status int, n *ledger.Notification, claim *ledger.ClaimResult) error {
	setETag(rq, n.Version)
	buf := a.buffer()
	buf.Write(appendRow(buf.AvailableBuffer(), n, claim))
	a.send(rq.Context, status, jsonType, buf)
	return nil
}

func setETag(rq *request, version int64) {
	var space [24]byte
	tag := append(strconv.AppendInt(append(space[:0], '"'), version, 10), '"')
	rq.Response().Header()["Etag"] = []string{string(tag)}
}

// location names a row that the request claimed or found.
func location(rq *request, id uuid.UUID) {
	var space [64]byte
	path := appendID(append(space[:0], "/v1/notifications/"...), id)
	rq.Response().Header()["Location"] = []string{string(path)}
}

// writeJSON answers with a value of this package's answer types.
func (a *API) writeJSON(rq *request, status int, value any) error {
	a.write(rq.Context, status, jsonType, value)
	return nil
}

// write renders an answer completely before its first byte leaves. What providers answered may be no UTF-8;
// it is shown with U+FFFD in those places.
func (a *API) write(c echo.Context, status int, contentType []string, value any) {
	buf := a.buffer()
	err := jsonv2.MarshalWrite(buf, value, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true), jsontext.PreserveRawStrings(true), jsonv2.Deterministic(true))
	if err != nil {
		a.troubles.Tell("answer not rendered", "route", c.Path(), "error", err)
		buf.Reset()
		status, contentType = http.StatusInternalServerError, problemType
		buf.WriteString(`{"type":"about:blank","title":"Internal Server Error","status":500,"detail":"","code":"internal"}`)
	}
	a.send(c, status, contentType, buf)
}

// buffer takes an empty buffer for an answer; send gives it back.
func (a *API) buffer() *bytes.Buffer {
	buf, _ := a.answers.Get().(*bytes.Buffer)
	if buf == nil {
		buf = new(bytes.Buffer)
	}
	buf.Reset()
	return buf
}

// send answers with what was rendered.
func (a *API) send(c echo.Context, status int, contentType []string, buf *bytes.Buffer) {
	buf.WriteByte('\n')
	h := c.Response().Header()
	h["Content-Type"] = contentType
	h["Content-Length"] = []string{strconv.Itoa(buf.Len())}
	c.Response().WriteHeader(status)
	// The caller may have gone; nothing depends on its having read this.
	_, _ = c.Response().Write(buf.Bytes())
	if buf.Cap() <= 64<<10 {
		a.answers.Put(buf)
	}
}

// notification shows a row. The result points into n.
func notification(n *ledger.Notification) Notification {
	next, lane := n.Shown(), laneOf(n)
	return Notification{
		ID:                   n.ID.String(),
		DedupeKey:            n.DedupeKey,
		State:                string(n.State),
		Final:                n.State.Final(),
		MaybeSent:            n.MaybeSent,
		Reason:               orNull(&n.Reason),
		NextAction:           orNull(&next),
		Delivery:             orNull(&n.Delivery),
		EventID:              orNull(&n.EventID),
		EventType:            orNull(&n.EventType),
		Source:               n.Source,
		UserID:               orNull(&n.UserID),
		OccurredAt:           timeOrNull(n.OccurredAt),
		Channel:              string(n.Channel),
		Recipient:            orNull(&n.RecipientKey),
		Provider:             orNull(&n.Provider),
		Lane:                 orNull(&lane),
		MessageID:            orNull(&n.MessageID),
		AttemptCount:         n.AttemptCount,
		Version:              n.Version,
		ResendOf:             idOrNull(n.ResendOf),
		DuplicateCount:       n.Duplicates,
		LastDuplicateAt:      timeOrNull(n.DuplicateAt),
		SuspectedDuplicateOf: idOrNull(n.SuspectedOf),
		ClaimedAt:            timeText(n.ClaimedAt),
		DueAt:                timeOrNull(n.DueAt),
		ExpiresAt:            timeOrNull(n.ExpiresAt),
		ConfirmedAt:          timeOrNull(n.ConfirmedAt),
		UpdatedAt:            timeText(n.UpdatedAt),
	}
}

// laneOf names a row's lane; an erased row has none.
func laneOf(n *ledger.Notification) string {
	if n.Erased() {
		return ""
	}
	return n.Lane.String()
}

// notifications shows rows; the result points into them.
func notifications(rows []ledger.Notification) []Notification {
	list := make([]Notification, len(rows))
	for i := range rows {
		list[i] = notification(&rows[i])
	}
	return list
}

// record shows a row in full. The result points into r.
func record(r *ledger.Record) *Record {
	out := &Record{
		Notification: notification(&r.Notification),
		Message:      rawOrNull(r.Message),
		Metadata:     rawOrNull(r.Metadata),
		Attempts:     make([]Attempt, len(r.Attempts)),
		Receipts:     make([]Receipt, len(r.Receipts)),
		Settlements:  make([]Settlement, len(r.Settlements)),
		Duplicates:   make([]Duplicate, len(r.Suppressed)),
		Resends:      ids(r.Resends),
		ErasedAt:     timeOrNull(r.ErasedAt),
	}
	for i := range r.Attempts {
		out.Attempts[i] = attempt(&r.Attempts[i])
	}
	for i := range r.Receipts {
		v := &r.Receipts[i]
		out.Receipts[i] = Receipt{
			Provider: v.Provider, MessageID: orNull(&v.MessageID), Kind: v.Kind,
			Delivery: orNull(&v.Delivery), Code: orNull(&v.Code),
			ProviderAt: timeOrNull(v.ProviderAt), ArrivedAt: timeText(v.ArrivedAt),
		}
		if v.Number != 0 {
			out.Receipts[i].Attempt = &v.Number
		}
	}
	for i := range r.Settlements {
		v := &r.Settlements[i]
		out.Settlements[i] = Settlement{
			At: timeText(v.At), Action: string(v.Action), From: string(v.From), To: string(v.To),
			Actor: v.Actor, By: orNull(&v.Person), Reason: orNull(&v.Reason), Evidence: rawOrNull(v.Evidence),
		}
	}
	for i, v := range r.Suppressed {
		out.Duplicates[i] = Duplicate{At: timeText(v.At), Caller: v.Caller, Differs: v.Differs}
	}
	return out
}

// attempt shows an attempt. Until it has ended nothing is known about it, so nothing is shown.
func attempt(v *ledger.Attempt) Attempt {
	out := Attempt{
		Number: v.Number, Kind: string(v.Kind), Provider: v.Provider,
		StartedAt: timeText(v.StartedAt), EndedAt: timeOrNull(v.EndedAt),
	}
	if v.Open() {
		return out
	}
	outcome, answer := v.Outcome.String(), string(v.Answer)
	out.Outcome = &outcome
	out.Phase = orNull(&v.Phase)
	if v.Status != 0 {
		out.Status = &v.Status
	}
	out.Code, out.MessageID, out.Error, out.Answer = orNull(&v.Code), orNull(&v.MessageID), orNull(&v.Error), orNull(&answer)
	return out
}

// orNull points to a text, or is nil where it is empty.
func orNull[T ~string](s *T) *string {
	if *s == "" {
		return nil
	}
	text := string(*s)
	return &text
}

// idOrNull is the text of an id, or nil for the zero one.
func idOrNull(id uuid.UUID) *string {
	if id == uuid.Nil {
		return nil
	}
	s := id.String()
	return &s
}

// ids are the texts of ids.
func ids(list []uuid.UUID) []string {
	out := make([]string, len(list))
	for i, id := range list {
		out[i] = id.String()
	}
	return out
}

// rawOrNull shows stored JSON as it is. Text that is no JSON (a file changed by hand) is shown as a string.
func rawOrNull(b []byte) json.RawMessage {
	if b == nil {
		return nil
	}
	if jsontext.Value(b).IsValid(jsontext.AllowDuplicateNames(true)) {
		return b
	}
	quoted, err := jsontext.AppendQuote(nil, b)
	if err != nil {
		return nil
	}
	return quoted
}
