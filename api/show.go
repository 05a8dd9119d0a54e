package api

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"sendonce/ledger"
)

// get answers with one row in full.
func (a *API) get(rq *request) error {
	id, err := rowID(rq)
	if err != nil {
		return err
	}
	rec, err := a.ledger.Get(rq.Request().Context(), id, rq.key.Source)
	if err != nil {
		return err
	}
	setETag(rq, rec.Version)
	return a.writeJSON(rq, http.StatusOK, record(&rec))
}

// previewKeys shows which keys an event has and whether a row has them. The claim's fields are the query.
func (a *API) previewKeys(rq *request) error {
	var f faults
	e := ledger.Event{Caller: rq.key.Name}
	var source *string
	values := f.query(rq.Request().URL.RawQuery)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		switch name {
		case "event_id":
			e.EventID = value
		case "event_type":
			e.EventType = value
		case "source":
			source = &value
		case "user_id":
			e.UserID = value
		case "channel":
			e.Channel = ledger.Channel(value)
		case "recipient":
			if strings.HasPrefix(value, " ") {
				f.add(name, "must not begin with a blank; in a URL a plus sign is written %%2B")
			}
			e.Recipient = value
		default:
			f.add(nameText(name), "is no part of a key; the parts are event_id, event_type, source, user_id, channel, recipient")
		}
	}
	if err := f.err(); err != nil {
		return err
	}
	source, err := rq.key.sourceFor(source)
	if err != nil {
		return err
	}
	if source != nil {
		e.Source = *source
	}
	previews, err := a.ledger.Keys(rq.Request().Context(), e)
	if err != nil {
		return err
	}
	answer := &Keys{Keys: make([]Key, len(previews))}
	for i, p := range previews {
		k := Key{Recipe: p.Recipe, DedupeKey: p.DedupeKey, Parts: make([]KeyPart, len(p.Parts))}
		for j, part := range p.Parts {
			k.Parts[j] = KeyPart{Name: part.Name, Value: part.Value}
		}
		if p.Notification != nil {
			n := notification(p.Notification)
			k.Notification = &n
		}
		answer.Keys[i] = k
	}
	return a.writeJSON(rq, http.StatusOK, answer)
}

// providers answers with all providers and their gates.
func (a *API) providers(rq *request) error {
	list := a.ledger.Providers()
	answer := &Providers{Providers: make([]Provider, len(list))}
	for i := range list {
		answer.Providers[i] = provider(&list[i])
	}
	return a.writeJSON(rq, http.StatusOK, answer)
}

// pause stops the use of a provider until somebody resumes it.
func (a *API) pause(rq *request) error {
	var in PauseRequest
	if err := a.readInto(rq, &in); err != nil {
		return err
	}
	var f faults
	f.text("reason", in.Reason, ledger.MaxReason, true)
	if err := f.err(); err != nil {
		return err
	}
	s, err := a.ledger.Pause(context.WithoutCancel(rq.Request().Context()), rq.Param("name"), rq.key.Name, in.Reason)
	if err != nil {
		return err
	}
	return a.writeJSON(rq, http.StatusOK, provider(&s))
}

// resume opens a provider's gate.
func (a *API) resume(rq *request) error {
	var in PauseRequest
	if err := a.readInto(rq, &in); err != nil {
		return err
	}
	s, err := a.ledger.Resume(context.WithoutCancel(rq.Request().Context()), rq.Param("name"), rq.key.Name)
	if err != nil {
		return err
	}
	return a.writeJSON(rq, http.StatusOK, provider(&s))
}

// provider shows a provider and its gate.
func provider(s *ledger.ProviderStatus) Provider {
	return Provider{
		Name: s.Name, Type: s.Type, Channels: texts(s.Channels), Capabilities: texts(s.Capabilities), Offers: texts(s.Offers),
		Gate: Gate{State: s.Gate.State, Until: timeOrNull(s.Gate.Until), Reason: orNull(&s.Gate.Reason), By: orNull(&s.Gate.By)},
	}
}

// texts are words of a closed list as an answer has them.
func texts[T ~string](words []T) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}

// stats answers with counts over the whole ledger; each state has one.
func (a *API) stats(rq *request) error {
	s, err := a.ledger.Stats(rq.Request().Context())
	if err != nil {
		return err
	}
	answer := &Stats{
		Notifications: s.Notifications, States: make(map[string]int64, len(ledger.States)), MaybeSent: s.MaybeSent,
		Duplicates: s.Duplicates, ProvenTwice: s.ProvenTwice, Shared: s.Shared, Receipts: s.Receipts, Unmatched: s.Unmatched, Erased: s.Erased, OldestAmbiguous: timeOrNull(s.OldestUnknown),
	}
	for _, state := range ledger.States {
		answer.States[string(state)] = s.States[state]
	}
	return a.writeJSON(rq, http.StatusOK, answer)
}

// health answers that the process runs.
func (a *API) health(rq *request) error {
	return a.writeJSON(rq, http.StatusOK, &Health{Status: "ok", Version: a.settings.Version})
}

// ready answers whether a claim can be made durable now. Anybody may ask, so of providers that are not open
// it shows no person and no reason.
func (a *API) ready(rq *request) error {
	answer := &Ready{Ready: true}
	for _, s := range a.ledger.Providers() {
		if s.Gate.State != gateOpen {
			if !s.Gate.ByItself() { // anybody may ask, so what a person wrote stays inside
				s.Gate.Reason, s.Gate.By = "", ""
			}
			answer.Providers = append(answer.Providers, provider(&s))
		}
	}
	err := a.ledger.Ready()
	if err == nil {
		return a.writeJSON(rq, http.StatusOK, answer)
	}
	r, known := refusalOf(err)
	if !known {
		a.troubles.Tell("not ready", "error", err)
	}
	answer.Ready, answer.Reason = false, &r.kind.code
	rq.Response().Header().Set("Retry-After", retryText(max(r.kind.retryAfter, 1)))
	return a.writeJSON(rq, http.StatusServiceUnavailable, answer)
}

// gateOpen is the state of a gate that lets everything through.
const gateOpen = "open"
