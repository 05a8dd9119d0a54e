package ledger

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
)

// LookQuery says what a store has to read for a decision about a look-up.
type LookQuery struct {
	ID          uuid.UUID
	MessageID   string    // that was found by content; "": there is nothing to compare
	From, Until time.Time // attempts of other rows that ran in this time may have made it
}

// LookFacts are what a decision about a look-up depends on besides the row.
type LookFacts struct {
	Foreign bool           // the message id belongs to another row
	Others  []Notification // of the same recipient and channel, with an attempt that may have made a message in that time
}

// LookDecision is what becomes of a row that was looked for. Both parts may be empty.
type LookDecision struct {
	Change   Change    // with the settlement of the look
	Receipts []Receipt // what proves attempts: each is stored, and moves the row, as by Prove
}

// The verdicts of a look, in its evidence.
const (
	verdictFound    = "found"     // proof
	verdictProbably = "probably"  // a person has to say
	verdictNotFound = "not_found" // proves nothing
)

// lookEvidence is kept with the settlement of a look. It holds no secret, and of what is personal only hashes.
type lookEvidence struct {
	Request    string   `json:"request"`
	Status     int      `json:"status"`
	By         string   `json:"by"` // reference or content
	Verdict    string   `json:"verdict"`
	Why        string   `json:"why,omitempty"` // of probably
	Attempt    int      `json:"attempt,omitempty"`
	MessageIDs []string `json:"message_ids,omitempty"`
	BodySHA256 string   `json:"body_sha256"`
}

// looked writes what a look showed of each row.
func (l *Ledger) looked(o *outlet, group []look, answer LookedUp) error {
	for i := range group {
		found := answer.Found[i]
		if o.lookUps().ByContent {
			found = group[i].inTime(found)
		}
		if err := l.lookedFor(o, &group[i], answer, found); err != nil {
			return err
		}
	}
	return nil
}

// nextStep is what a row does next.
type nextStep struct {
	action NextAction
	due    time.Time
}

// inTime leaves out what was made when no attempt of the row can have made it.
func (i *look) inTime(found []Found) (in []Found) {
	for _, f := range found {
		if len(i.handingsAt(f.At)) > 0 {
			in = append(in, f)
		}
	}
	return in
}

// handingsAt lists the handings that may have made a message at a time.
func (i *look) handingsAt(t time.Time) (numbers []int) {
	for _, h := range i.handings {
		if !t.Before(h.from) && !t.After(h.until) {
			numbers = append(numbers, h.number)
		}
	}
	return numbers
}

// lookedFor decides about one row.
func (l *Ledger) lookedFor(o *outlet, i *look, answer LookedUp, found []Found) error {
	// Another attempt may have made a message in the time of this one's if it ran a little before or behind it.
	q := LookQuery{ID: i.row.ID, From: i.search.From.Add(-lookAfter), Until: i.search.Until.Add(lookBefore)}
	if len(found) == 1 && found[0].Number == 0 {
		q.MessageID = found[0].MessageID
	}
	now := l.clock.now()
	u := unknown{since: i.since, looks: i.looks + 1}
	var again, probably nextStep
	again.action, again.due = l.nextEvidence(i.row, l.repeatWait(i.row.Deferrals), u)
	probably.action, probably.due = l.nextEvidence(i.row, l.repeatWait(i.row.Deferrals), unknown{since: i.since, looks: noLooks})
	var evidence lookEvidence
	var before Notification
	n, proved, err := l.store.LookUp(q, func(n Notification, f LookFacts) (LookDecision, error) {
		var d LookDecision
		before = n
		evidence, d.Receipts = i.judge(n, answer, found, f)
		for k := range d.Receipts {
			d.Receipts[k] = d.Receipts[k].sound(o.name, now)
		}
		if n.State != StateAmbiguous {
			return d, nil
		}
		text, err := json.Marshal(evidence)
		if err != nil {
			return d, err
		}
		d.Change = keep(n, later(now, n.UpdatedAt))
		if n.Version == i.row.Version { // else whatever moved it said what comes next
			next := again
			if evidence.Verdict == verdictProbably {
				next = probably
			}
			d.Change.NextAction, d.Change.DueAt = next.action, next.due
		}
		d.Change.Settlement = &Settlement{
			At: d.Change.At, Action: CauseLookUp, From: n.State, To: n.State, Actor: "provider:" + o.name, Evidence: text,
		}
		return d, nil
	}, decideProof)
	if err != nil {
		return err
	}
	l.recent.moved(n)
	l.watchers.row(&n)
	l.tellRow(&before, &n)
	l.log.Info("look-up", "id", n.ID, "provider", o.name, "verdict", evidence.Verdict, "why", evidence.Why, "state", n.State)
	for k := range proved {
		l.proved(o.name, &proved[k])
	}
	if n.State == StateAmbiguous {
		l.houseAt(n.DueAt)
	}
	return nil
}

// judge says what was found, and what of it is proof: a message that carries our reference, or the only one that looks like ours
// where no other row can have made it.
func (i *look) judge(n Notification, answer LookedUp, found []Found, f LookFacts) (lookEvidence, []Receipt) {
	e := lookEvidence{
		Request: answer.Request, Status: answer.Status, By: "reference", Verdict: verdictNotFound, BodySHA256: hex.EncodeToString(answer.BodyHash[:]),
	}
	var proofs []Receipt
	for _, one := range found {
		e.MessageIDs = append(e.MessageIDs, one.MessageID)
		if one.Number > 0 && one.Number <= n.AttemptCount {
			e.Verdict, e.Attempt = verdictFound, one.Number
			proofs = append(proofs, i.receipt(one, one.Number))
		}
	}
	if len(found) == 0 || proofs != nil {
		return e, proofs
	}
	e.By, e.Verdict = "content", verdictProbably
	numbers := i.handingsAt(found[0].At)
	switch {
	case found[0].Number != 0:
		e.By, e.Why = "reference", "unknown_attempt" // a copy of this ledger made it
	case len(found) > 1:
		e.Why = "several"
	case answer.Cut:
		e.Why = "list_cut"
	case len(numbers) != 1 || n.AttemptCount != i.row.AttemptCount:
		e.Why = "several_attempts"
	case f.Foreign:
		e.Why = "id_of_another_row"
	case slices.ContainsFunc(f.Others, func(other Notification) bool { return alike(&n, &other) }):
		e.Why = "another_row_alike"
	default:
		e.Verdict, e.Attempt = verdictFound, numbers[0]
		return e, []Receipt{i.receipt(found[0], e.Attempt)}
	}
	return e, nil
}

// receipt is the proof that a look brought.
func (i *look) receipt(f Found, number int) Receipt {
	return Receipt{
		EventKey: strings.Join([]string{lookKind, i.row.ID.String(), f.MessageID, string(f.Delivery)}, ":"), ID: i.row.ID, Number: number, MessageID: f.MessageID,
		Kind: lookKind, Delivery: f.Delivery, Code: f.Code, ProviderAt: f.At, Body: f.Body,
	}
}

const lookKind = "look_up" // of a receipt

// alike reports whether two rows of one recipient may be told apart by nobody who sees only what arrives: the same letters and
// digits, whatever stands between them. What a template says is not known, so it may be anything.
func alike(a, b *Notification) bool {
	if a.Channel != b.Channel {
		return false
	}
	x, errX := ParseMessage(a.Channel, a.Message)
	y, errY := ParseMessage(b.Channel, b.Message)
	if errX != nil || errY != nil || x.Template != nil || y.Template != nil {
		return true
	}
	return gist(x.Subject) == gist(y.Subject) && (a.Channel != SMS || gist(x.Text) == gist(y.Text))
}

// gist is a text's letters and digits.
func gist(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
