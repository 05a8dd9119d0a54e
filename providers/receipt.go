package providers

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sendonce/ledger"
)

// How far the time of a signed request may be from our clock. Older ones are refused, so that a request that somebody kept
// cannot be posted again for ever.
const (
	receiptClockSkew = 5 * time.Minute // either way, where a provider signs each try anew
	receiptMaxWord   = 40              // characters of a provider's word
	receiptMaxKey    = 255             // characters of a provider's id of a report
)

// Word is what a provider calls a state of a message, and what that is in ours.
type Word struct {
	Word     string
	Delivery ledger.Delivery // "": a report that says nothing about the delivery, such as opened
	Means    string          // a few words for a person
}

// Words are the words of a provider's reports. One that is not listed is kept as it is and says nothing about the delivery.
type Words struct {
	Source string // the page or package that the meanings are from
	List   []Word
}

// Reporting are the Settings of a type whose provider posts reports, or is asked for states. The words do not hang on the settings' values.
type Reporting interface {
	Words() Words
}

// WordsOf returns the words of a type; false: its provider tells none that can be believed.
func WordsOf(kind string) (Words, bool) {
	t, ok := Types[kind]
	if !ok {
		return Words{}, false
	}
	r, ok := t.Settings().(Reporting)
	if !ok {
		return Words{}, false
	}
	return r.Words(), true
}

func (w *Words) delivery(word string) ledger.Delivery {
	for _, x := range w.List {
		if x.Word == word {
			return x.Delivery
		}
	}
	return ledger.NoDelivery
}

// reportText is what a report says, before it becomes a receipt.
type reportText struct {
	reference string // our own; only where the signature covers it
	messageID string
	word      string
	code      string
	at        time.Time // by the provider's clock
	event     string    // the provider's id of the report; "": it gives none
	fact      string    // key of what the report says
	body      []byte    // of this report
}

// receipt makes a receipt of a report under the provider's id of it, or else under what it says, which has a key in any case. A
// report without a word, or with neither our reference nor a message's id, is about no message: false. Only the body keeps what may be personal; it is bounded, and erased with the message.
func (w *Words) receipt(t reportText) (ledger.Receipt, bool) {
	id, number, ours := ledger.ParseReference(t.reference)
	if ours { // what it says is said of other messages in the same words, now and then under the same message's id
		t.fact = reportKey(t.fact, t.reference)
	}
	r := ledger.Receipt{
		EventKey: cmp.Or(eventKey(t.event), t.fact), FactKey: t.fact,
		MessageID: messageID(t.messageID), Kind: reportWord(t.word), Delivery: w.delivery(t.word), Code: plainCode(t.code),
		ProviderAt: t.at, Body: t.body[:min(len(t.body), ledger.MaxAnswerBytes)],
	}
	if ours {
		r.ID, r.Number = id, number
	}
	return r, t.word != "" && (ours || r.MessageID != "")
}

// unlistedWord is the kind of a receipt whose word could hold anything.
const unlistedWord = "unlisted"

// reportWord keeps a provider's word if it is one: a text in its place could be content.
func reportWord(s string) string {
	if len(s) > receiptMaxWord || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-.") != "" {
		return unlistedWord
	}
	return s
}

// reportKey is an id for a report made of what it says: SHA-256 over the parts, each behind its length.
func reportKey(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// eventKey is the provider's own id of a report if it can be one; "": the fact's key stands for it.
func eventKey(id string) string {
	if len(id) > receiptMaxKey {
		return ""
	}
	return messageID(id)
}

// headerOnce is the value of a header that has to be there exactly once; "": it is not.
func headerOnce(p *ledger.Posted, name string) string {
	if v := http.Header(p.Header).Values(name); len(v) == 1 {
		return v[0]
	}
	return ""
}

// signedTime reads a time in Unix seconds, as signed texts have it: digits alone, without a zero in front, so that there is one
// way to write each time.
func signedTime(s string) (time.Time, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return time.Unix(n, 0), err == nil && n > 0 && n < lastSecond && s == strconv.FormatInt(n, 10)
}

// lastSecond is the end of the year 9999, the latest that a row can hold.
const lastSecond = 253402300800

// near reports whether a signed time is near enough to our clock.
func near(at, now time.Time, past, future time.Duration) bool {
	return !at.Before(now.Add(-past)) && !at.After(now.Add(future))
}

// reportOptions refuse a name that stands twice: which of two values is meant is anybody's guess.
var reportOptions = jsonv2.JoinOptions(jsontext.AllowInvalidUTF8(true))

// readReport reads a signed body, or one report of several.
func readReport(b []byte, to any) error { return jsonv2.Unmarshal(b, to, reportOptions) }

// scalar is a text as it is, or a number as it was written; "": it is neither.
func scalar(v json.RawMessage) string {
	if len(v) > 0 && (v[0] == '-' || v[0] >= '0' && v[0] <= '9') {
		return string(v)
	}
	return textOf(v)
}

// reportTime reads a time in one of the layouts; zero: it is in none, or no row can hold it.
func reportTime(s string, layouts ...string) time.Time {
	for _, layout := range layouts {
		if at, err := time.Parse(layout, s); err == nil && at.Unix() > 0 && at.Unix() < lastSecond {
			return at.UTC()
		}
	}
	return time.Time{}
}
