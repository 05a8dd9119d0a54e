package api

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sendonce/ledger"
)

// claim takes one event. What it starts is finished whether the caller waits for the answer or not.
func (a *API) claim(rq *request) error {
	header, err := a.headerKey(rq.Request().Header)
	if err != nil {
		return err
	}
	var (
		e     ledger.Event
		res   ledger.ClaimResult
		known bool
	)
	err = a.withBody(rq, a.limits.Body, func(body []byte) error {
		e.Hash = eventHash(rq.key, header, body)
		if res, known = a.ledger.Known(e.Hash, rq.key.Name); known {
			return nil
		}
		return readEvent(&e, body, rq.key, header)
	})
	if err != nil {
		return err
	}
	wait := a.preferredWait(rq)
	if !known {
		e.Wait = wait > 0
		if res, err = a.ledger.Claim(context.WithoutCancel(rq.Request().Context()), e); err != nil {
			return err
		}
	}
	n := &res.Notification
	if wait > 0 {
		*n = a.waitFor(rq.Request().Context(), *n, wait)
	}
	status := http.StatusAccepted
	if res.Duplicate {
		status = http.StatusOK
		rq.Response().Header()["Idempotent-Replayed"] = replayed
	}
	location(rq, n.ID)
	return a.writeRow(rq, status, n, &res)
}

// maxHashed bounds the bodies whose repeats are known by their bytes: the ledger keeps no large rows in memory.
const maxHashed = 8 << 10

// eventHash is the hash of a claim's body, and of the source that the key says where it is bound to one. A key in a header would
// be part of the event too; such claims are always read.
func eventHash(key *credential, header *string, body []byte) ledger.EventHash {
	if header != nil || len(body) > maxHashed {
		return ledger.EventHash{}
	}
	sum := sha256.Sum256(body)
	if key.Source != nil {
		sum = sha256.Sum256(append(append(make([]byte, 0, 256), sum[:]...), *key.Source...))
	}
	return sum
}

// readEvent reads the body of a claim; the event keeps its hash.
func readEvent(e *ledger.Event, body []byte, key *credential, header *string) error {
	var in Event
	if err := decode(body, &in); err != nil {
		return err
	}
	hash := e.Hash
	var err error
	*e, err = in.event(key, header)
	e.Hash = hash
	return err
}

// claimed shows a row as the answer to the claim that made or found it. The result points into n.
func claimed(n *ledger.Notification, res *ledger.ClaimResult) Notification {
	answer := notification(n)
	answer.Duplicate, answer.Differs = res.Duplicate, res.Differs
	if s := res.Segments; s.Count > 0 {
		answer.Segments = &Segments{Encoding: s.Encoding, Count: s.Count}
	}
	return answer
}

// headerKey is the dedupe key of an Idempotency-Key header, or nil. Clients and proxies put fresh ones on each
// retry by themselves, so the header counts only where the configuration says that it is meant.
func (a *API) headerKey(h http.Header) (*string, error) {
	const name = "Idempotency-Key"
	values := h.Values(name)
	switch {
	case len(values) == 0:
		return nil, nil
	case !a.settings.AcceptIdempotencyKey:
		return nil, ledger.Invalid(name, "must not be sent; a key of your own goes into the body's dedupe_key, the same for each repeat of an event")
	case len(values) > 1 || values[0] == "":
		return nil, ledger.Invalid(name, "must stand once and not be empty")
	}
	return &values[0], nil
}

// event turns the JSON of an event into the ledger's; the ledger itself judges what the values mean.
func (in *Event) event(key *credential, headerKey *string) (ledger.Event, error) {
	var f faults
	e := ledger.Event{
		EventID:    in.EventID,
		EventType:  in.EventType,
		UserID:     in.UserID,
		OccurredAt: f.time("occurred_at", in.OccurredAt),
		Channel:    ledger.Channel(in.Channel),
		Recipient:  in.Recipient,
		Message:    present(in.Message),
		Metadata:   present(in.Metadata),
		Provider:   in.Provider,
		Lane:       in.Lane,
		SendAt:     f.time("send_at", in.SendAt),
		ExpiresAt:  f.time("expires_at", in.ExpiresAt),
		Caller:     key.Name,
	}
	switch {
	case in.DedupeKey != nil && *in.DedupeKey == "":
		f.add("dedupe_key", "must not be empty; leave it out for the key that the event itself gives")
	case in.DedupeKey != nil && headerKey != nil && *in.DedupeKey != *headerKey:
		f.add("dedupe_key", "must be the same as the header Idempotency-Key")
	case in.DedupeKey != nil:
		e.DedupeKey = *in.DedupeKey
	case headerKey != nil:
		e.DedupeKey = *headerKey
	}
	if err := f.err(); err != nil {
		return e, err
	}
	source, err := key.sourceFor(in.Source)
	if source != nil {
		e.Source = *source
	}
	return e, err
}

// present is a raw member, or nil where it is missing or null.
func present(raw []byte) []byte {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// preferredWait is how long the caller asked to wait for the end of the first attempt, with Prefer: wait=N
// (RFC 7240), within the limit; what is applied stands in the answer. 0: not at all.
func (a *API) preferredWait(rq *request) time.Duration {
	wait, asked := waitPreference(rq.Request().Header)
	if !asked {
		return 0
	}
	wait = min(wait, a.limits.Wait)
	rq.Response().Header().Set("Preference-Applied", "wait="+strconv.Itoa(int(wait/time.Second)))
	return wait
}

// waitFor returns the row when its attempt has ended, or as it is when the time is up. A caller that leaves, or
// a service that stops, only ends the waiting.
func (a *API) waitFor(ctx context.Context, n ledger.Notification, wait time.Duration) ledger.Notification {
	var stop <-chan struct{} // in tests without a server it never comes
	if serving, ok := ctx.Value(stopping{}).(context.Context); ok {
		stop = serving.Done()
	}
	return a.ledger.Wait(ctx, n, wait, stop)
}

// waitPreference finds the first wait among the preferences. As RFC 7240 asks, one that can't be read counts
// as not there: a message must not be refused for a wish.
func waitPreference(h http.Header) (time.Duration, bool) {
	for _, line := range h.Values("Prefer") {
		for preference := range strings.SplitSeq(line, ",") {
			preference, _, _ = strings.Cut(preference, ";")
			name, value, _ := strings.Cut(preference, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 16)
			return time.Duration(seconds) * time.Second, err == nil
		}
	}
	return 0, false
}
