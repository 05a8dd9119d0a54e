package providers

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"sendonce/ledger"
)

// shape says whose words an answer's body is in.
type shape uint8

const (
	unreadable shape = iota // cut, too long, or saying a thing twice: nobody can say
	foreign                 // whole, and not in the provider's form: a captive portal, a wrong base URL
	own                     // the provider's own form of an error
)

// unanswered is the outcome where no status came back. ok is false where one did.
func (x *exchange) unanswered() (r ledger.Result, ok bool) {
	r = x.result()
	switch x.phase {
	case ledger.NotWritten:
		r.Outcome, r.Fault = ledger.Deferred, ledger.FaultUnreachable
	case ledger.Written:
		r.Reason = ledger.ReasonNoAnswer
		if x.begun {
			r.Reason = ledger.ReasonUnreadableAnswer
		}
	default:
		return r, false
	}
	return r, true
}

// refusal is what every HTTP API's non-2xx answer means, where the provider's page says nothing else. Adapters
// look for their own codes first. 2xx is theirs alone: here it stays ambiguous.
func (x *exchange) refusal(s shape, code string) ledger.Result {
	r := x.result()
	r.Code = code
	r.Outcome, r.Fault = statusRule(x.status, s)
	if r.Outcome == ledger.Ambiguous {
		r.Reason = ledger.ReasonUnlistedAnswer
		if s != own && bodyDecides(x.status) {
			r.Reason = ledger.ReasonUnreadableAnswer
		}
	}
	return r
}

// illegible is refusal for a body that is not in the provider's own form: another's, or one that nobody can read to its end.
func (x *exchange) illegible() ledger.Result {
	switch {
	case x.whole && !x.twice:
		return x.refusal(foreign, "")
	case !x.whole || x.twice:
		return x.refusal(unreadable, "")
	}
	return x.unlisted()
}

// unlisted is what an answer means that no case names. The functions that read answers name each case in full and end with this,
// so that a case which is forgotten costs a look, and nothing else (mutants_test.go).
func (x *exchange) unlisted() ledger.Result {
	r := x.result()
	r.Reason = ledger.ReasonUnlistedAnswer
	return r
}

// bodyDecides reports whether a readable body could have made another outcome of this status.
func bodyDecides(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusRequestEntityTooLarge:
		return false
	}
	return status >= 200 && status < 500
}

// statusRule names what is surely a refusal. All else is ambiguous: 408 and 425, and 5xx too, which may follow an acceptance.
func statusRule(status int, s shape) (ledger.Outcome, ledger.Fault) {
	refusal := status >= 400 && status <= 499 && status != http.StatusRequestTimeout && status != http.StatusTooEarly
	outcome, fault := ownRule(status)
	switch {
	case status == http.StatusTooManyRequests:
		return ledger.Deferred, ledger.FaultThrottled
	case status == http.StatusRequestEntityTooLarge:
		return ledger.Rejected, ledger.NoFault
	case status >= 300 && status <= 399, refusal && s == foreign:
		return ledger.Deferred, ledger.FaultUnexpectedReply
	case refusal && s == unreadable && outcome != ledger.Ambiguous:
		// Whoever wrote it, it is a refusal; only not whose. So the message stays, and a person looks at the provider.
		return ledger.Deferred, ledger.FaultUnexpectedReply
	case refusal && s == own:
		return outcome, fault
	}
	return ledger.Ambiguous, ledger.NoFault
}

// ownRule reads a 4xx in the provider's own words without a listed code.
func ownRule(status int) (ledger.Outcome, ledger.Fault) {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ledger.Deferred, ledger.FaultCredentials
	case http.StatusPaymentRequired:
		return ledger.Deferred, ledger.FaultAccount
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return ledger.Rejected, ledger.NoFault
	default: // 409 under a wire key may mean that the first request is still at work
		return ledger.Ambiguous, ledger.NoFault
	}
}

// maxRetryAfter bounds what a peer may ask for; the loop bounds it further.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads the Retry-After header, whole seconds or an HTTP date; 0: none or unreadable. A date is
// measured against the answer's own Date, else the attempt's time, so a clock that is off does not matter.
func (x *exchange) retryAfter() time.Duration {
	value := strings.TrimSpace(x.header.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return x.until(until)
}

// untilUnix reads a header that says in Unix seconds when requests are taken again; 0: none, unreadable or past. It is measured
// as a date in Retry-After is.
func (x *exchange) untilUnix(name string) time.Duration {
	seconds, err := strconv.ParseInt(strings.TrimSpace(x.header.Get(name)), 10, 64)
	if err != nil {
		return 0
	}
	return x.until(time.Unix(seconds, 0))
}

// until is how long it is to a time of the peer's, by the answer's own Date, else by the attempt's time.
func (x *exchange) until(then time.Time) time.Duration {
	now, err := http.ParseTime(x.header.Get("Date"))
	if err != nil {
		now = x.at
	}
	return min(max(then.Sub(now), 0), maxRetryAfter)
}

// plainCode keeps a provider's code if it looks like one: short, without blanks, and no number that could be a
// recipient's. Anything else is dropped; the stored answer still has it.
func plainCode(s string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if len(s) > 64 || strings.Trim(s, letters+"0123456789_.:/-") != "" || len(s) > 6 && !strings.ContainsAny(s, letters) {
		return ""
	}
	return s
}

// messageID keeps a provider's id if it can be one.
func messageID(s string) string {
	if len(s) > 255 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return s
}
