package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxProofs is how many receipts of one body share a commit: enough that a body of 5,000 takes few, and so few that a claim
// that comes meanwhile waits for milliseconds.
const maxProofs = 64

// Bounds of what is kept of a receipt. What is longer is cut, or hashed where it tells receipts apart.
const (
	maxReceiptWord = 128 // code points of kind and code
	maxReceiptKey  = 255 // bytes
	maxReceiptBody = MaxAnswerBytes
)

// Received counts what became of a request's receipts.
type Received struct {
	Events    int // that the request reported
	Stored    int // for the first time
	Unmatched int // of them, those whose row is not known yet
	Settled   int // that moved their row, or proved a second message
	Refused   int // that cannot be stored; the log says why
}

// Receive verifies what a provider posted, stores each report in it once, and settles what they prove. Receipts are taken
// whatever the ledger's condition is, as an answer to a request is: only a disk that cannot be written keeps them out.
//
// ErrNoReporter, ErrUnverified, ErrUnreadable: the request is wrong. Any other error is our own, and the provider should post
// again: what was stored before it is known then.
func (l *Ledger) Receive(ctx context.Context, provider string, p Posted) (Received, error) {
	o := l.outlets[provider]
	if o == nil {
		return Received{}, ErrNoReporter
	}
	reporter, ok := o.provider.(Reporter)
	if !ok {
		return Received{}, ErrNoReporter
	}
	list, err := l.read(reporter, p)
	if err != nil {
		return Received{}, err
	}
	var got Received
	for chunk := range slices.Chunk(list, maxProofs) {
		now := l.clock.now()
		for i := range chunk {
			chunk[i] = chunk[i].sound(provider, now)
		}
		proved, err := l.store.Prove(chunk, decideProof)
		if err != nil {
			return got, err
		}
		for i := range proved {
			got.add(&proved[i])
			l.proved(provider, &proved[i])
		}
	}
	level := slog.LevelDebug
	if got.Settled > 0 { // the others are in the ledger, and a line for each would drown what matters
		level = slog.LevelInfo
	}
	l.log.Log(ctx, level, "receipts", "provider", provider, "events", got.Events, "stored", got.Stored,
		"unmatched", got.Unmatched, "settled", got.Settled, "refused", got.Refused)
	return got, nil
}

func (r *Received) add(p *Proved) {
	r.Events++
	switch {
	case p.Err != nil:
		r.Refused++
		return
	case p.Known:
		return
	}
	r.Stored++
	if !p.Matched {
		r.Unmatched++
	}
	if p.Settled {
		r.Settled++
	}
}

// read verifies and reads a request by the ledger's time. While the machine's clock is behind the ledger nobody knows which of
// the two is right, and a receipt that is fresh by one of them is fresh.
func (l *Ledger) read(r Reporter, p Posted) ([]Receipt, error) {
	p.At = l.clock.now()
	list, err := reports(r, p)
	if errors.Is(err, ErrUnverified) && l.clock.late() {
		p.At = milli(l.clock.wall())
		list, err = reports(r, p)
	}
	return list, err
}

// reports asks the adapter. A panic is a fault of ours and no word about the request: the provider posts again.
func reports(r Reporter, p Posted) (list []Receipt, err error) {
	defer func() {
		if v := recover(); v != nil {
			list, err = nil, &panicError{v}
		}
	}()
	return r.Receipts(p)
}

// sound makes of a receipt what a row can hold: no adapter's slip keeps the others of its request out.
func (r Receipt) sound(provider string, now time.Time) Receipt {
	r.Provider, r.ArrivedAt = provider, now
	if !utf8.ValidString(r.MessageID) || strings.Contains(r.MessageID, "\x00") || utf8.RuneCountInString(r.MessageID) > MaxMessageID {
		r.MessageID = "" // none of ours, and a part of it may be another's
	}
	r.Kind, r.Code = plain(r.Kind, maxReceiptWord), plain(r.Code, maxReceiptWord)
	if !slices.Contains(Deliveries, r.Delivery) {
		r.Delivery = NoDelivery
	}
	if y := r.ProviderAt.Year(); y < 2000 || y > 9999 {
		r.ProviderAt = time.Time{}
	}
	r.ProviderAt = milli(r.ProviderAt)
	if r.EventKey == "" && r.FactKey == "" {
		r.FactKey = strings.Join([]string{r.MessageID, r.ID.String(), strconv.Itoa(r.Number), r.Kind, r.Code, r.ProviderAt.String(), string(r.Body)}, "\x00")
	}
	r.EventKey, r.FactKey = shortKey(r.EventKey), shortKey(r.FactKey)
	r.Body = r.Body[:min(len(r.Body), maxReceiptBody)]
	return r
}

// plain is a text that can be stored and shown, of at most so many code points.
func plain(s string, most int) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\ufffd")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most])
}

// shortKey is a key that tells receipts apart: as it is, or hashed where it is long or no text.
func shortKey(key string) string {
	if len(key) <= maxReceiptKey && utf8.ValidString(key) && !strings.Contains(key, "\x00") {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}
