package console

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"sendonce/ledger"
)

// notificationData is what the page of one row shows.
type notificationData struct {
	ledger.Record
	Shows     ledger.NextAction
	Timeline  []entry
	Key       keyStory
	Mark      string
	Decision  decision
	CanResend bool
	CanReveal bool
	Revealed  bool
}

// decision is what somebody may do with a row, and what was typed.
type decision struct {
	Row    *ledger.Notification
	Offers []ledger.Cause
	Typed  typed
	Back   string // the address of the page of what waits, where the form stands there
}

// typed is what stands in the form of a decision.
type typed struct {
	Reason, By, MessageID, ExpiresAt string
}

// rowID is the id in the address.
func (v *visit) rowID() (uuid.UUID, error) {
	text := v.r.PathValue("id")
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text {
		return uuid.Nil, ledger.ErrNotFound
	}
	return id, nil
}

// notification shows one row.
func (c *Console) notification(v *visit) error {
	id, err := v.rowID()
	if err != nil {
		return err
	}
	return v.showRow(http.StatusOK, id, "", typed{}, false)
}

// showRow shows a row as it is now; wrong says why something was not done to it.
func (v *visit) showRow(status int, id uuid.UUID, wrong string, t typed, revealed bool) error {
	rec, err := v.c.ledger.Get(v.r.Context(), id, v.who.Source)
	if err != nil {
		return err
	}
	data := notificationData{
		Record: rec, Shows: rec.Shown(), Timeline: timeline(&rec, revealed), Key: v.c.explainKey(v.r.Context(), &rec.Notification, revealed),
		Mark: v.c.rowMark(&rec), Revealed: revealed,
		Decision:  decision{Row: &rec.Notification, Offers: v.offers(&rec.Notification), Typed: t},
		CanResend: v.who.May(ledger.CauseResend) && (rec.State.Final() || rec.State == ledger.StateAmbiguous) && !rec.ContentGone(),
		CanReveal: v.who.Operate && !revealed && !rec.ContentGone(),
	}
	if !revealed {
		data.MessageID = hide(&rec.Notification, rec.MessageID)
	}
	return v.page(status, "notification", view{Title: "Notification", Wrong: wrong, Data: &data})
}

// offers are the actions that the row's state has and this key may take.
func (v *visit) offers(n *ledger.Notification) []ledger.Cause {
	if n.Erased() {
		return nil
	}
	var out []ledger.Cause
	for _, a := range ledger.Allowed(n.State, n.MaybeSent) {
		if !v.who.May(a) || a == ledger.CauseRelease && (n.ContentGone() || v.who.Surely() && (n.State != ledger.StateFailed || n.MaybeSent)) {
			continue
		}
		out = append(out, a)
	}
	return out
}

// rowMark tells one look at a row from another that shows something else.
func (c *Console) rowMark(r *ledger.Record) string {
	return c.markOf(r.Version, r.State, r.Delivery, r.Duplicates, len(r.Attempts), len(r.Receipts), len(r.Settlements), r.DueAt.UnixMilli())
}

// liveNotification tells when a row has changed.
func (c *Console) liveNotification(v *visit) error {
	id, err := v.rowID()
	if err != nil {
		return err
	}
	concerns := func(changes ledger.Changes) bool {
		for _, row := range changes.Rows {
			if row.ID == id {
				return true
			}
		}
		return false
	}
	return v.stream(concerns, func(ctx context.Context) (string, error) {
		rec, err := c.ledger.Get(ctx, id, v.who.Source)
		return c.rowMark(&rec), err
	})
}

// act reads the form of a decision. The version is that of the row which the form was made for: a second click, or a decision
// about a row that has moved meanwhile, meets another one and changes nothing.
func (v *visit) act() (ledger.Act, typed, error) {
	f := v.asked
	t := typed{Reason: f["reason"], By: f["by"], MessageID: f["message_id"], ExpiresAt: f["expires_at"]}
	id, err := v.rowID()
	if err != nil {
		return ledger.Act{}, t, err
	}
	version, err := strconv.ParseInt(f["version"], 10, 64)
	if err != nil || version < 1 {
		return ledger.Act{}, t, ledger.ErrIfMatch
	}
	return ledger.Act{
		ID: id, Source: v.who.Source, Reason: t.Reason, Actor: v.who.Name, Person: t.By, IfMatch: version, Surely: v.who.Surely(),
	}, t, nil
}

// settle does what somebody decided about a row.
func (c *Console) settle(v *visit) error {
	a, t, err := v.act()
	if err != nil {
		return err
	}
	a.Action = ledger.Cause(v.asked["action"])
	if does(a.Action) == "" {
		return errForm
	}
	if !v.who.May(a.Action) {
		return errRole
	}
	if a.Action == ledger.CauseConfirm {
		a.MessageID = t.MessageID
	}
	if a.Action == ledger.CauseRelease && t.ExpiresAt != "" {
		var ok bool
		if a.ExpiresAt, ok = readTime(t.ExpiresAt); !ok {
			return v.refused(a.ID, ledger.Invalid("expiry", badTime), t)
		}
	}
	if _, err := c.ledger.Settle(context.WithoutCancel(v.r.Context()), a); err != nil {
		return v.refused(a.ID, err, t)
	}
	word := v.happened(a)
	if back := strings.TrimPrefix(v.asked["back"], Path); back == "/waiting" || strings.HasPrefix(back, "/waiting?") {
		return v.done(back, word)
	}
	return v.done("/notifications/"+a.ID.String(), word)
}

// happened is the word for an act that was no error: the ledger is content, too, with one that somebody else has done before.
func (v *visit) happened(a ledger.Act) string {
	rec, err := v.c.ledger.Get(context.WithoutCancel(v.r.Context()), a.ID, v.who.Source)
	if err != nil {
		return toldDone
	}
	mine := func(s ledger.Settlement) bool {
		return s.Action == a.Action && s.Actor == a.Actor && s.Person == a.Person && s.Reason == a.Reason
	}
	if !slices.ContainsFunc(rec.Settlements, mine) {
		return toldAlready
	}
	return string(a.Action)
}

// refused shows a row again with what was typed and why nothing was done.
func (v *visit) refused(id uuid.UUID, err error, t typed) error {
	r, known := refusalOf(err)
	if !known || r.Status == http.StatusNotFound {
		return err
	}
	return v.showRow(r.Status, id, r.Text, t, false)
}

// resend sends a second message on purpose.
func (c *Console) resend(v *visit) error {
	a, t, err := v.act()
	if err != nil {
		return err
	}
	child, err := c.ledger.Resend(context.WithoutCancel(v.r.Context()), a, v.asked["accept_duplicate"] == "yes")
	if err != nil {
		return v.refused(a.ID, err, t)
	}
	return v.done("/notifications/"+child.ID.String(), string(ledger.CauseResend))
}

// reveal shows recipient and message, which is recorded.
func (c *Console) reveal(v *visit) error {
	a, t, err := v.act()
	if err != nil {
		return err
	}
	if _, err := c.ledger.Reveal(context.WithoutCancel(v.r.Context()), a); err != nil {
		return v.refused(a.ID, err, t)
	}
	return v.showRow(http.StatusOK, a.ID, "", typed{}, true)
}

// zero reports whether a row has no id: it is no resend of another.
func zero(id uuid.UUID) bool { return id == uuid.Nil }
