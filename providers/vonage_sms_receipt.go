package providers

import (
	"cmp"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"hash"
	"maps"
	"net/url"
	"slices"
	"strings"

	"sendonce/ledger"
)

// vonageWords are the states of a message in both APIs. Whatever its state, a message that has an id was accepted by the API.
var vonageWords = Words{
	Source: "developer.vonage.com/messaging/sms/guides/delivery-receipts and /messages/concepts/messages-status-callbacks",
	List: []Word{
		{"submitted", ledger.PassedOn, "the carrier took it"},
		{"accepted", ledger.PassedOn, "the carrier took it"},
		{"buffered", ledger.Delayed, "the carrier keeps it for later"},
		{"expired", ledger.Undelivered, "did not arrive in its time"},
		{"failed", ledger.Undelivered, "did not arrive; the code says why"},
		{"rejected", ledger.Undelivered, "taken, and then refused by Vonage or the carrier; the code says why"},
		{"undeliverable", ledger.Undelivered, "taken, and the carrier was not reached"},
		{"delivered", ledger.Delivered, "arrived, says the carrier"},
		{"unknown", ledger.NoDelivery, "the carrier does not tell"},
		{"read", ledger.NoDelivery, "opened"},
	},
}

// Words implements Reporting.
func (*VonageSettings) Words() Words { return vonageWords }

// TakesReceipts implements ledger.Reporter.
func (p *vonage) TakesReceipts() bool { return p.settings.SignatureSecret != "" }

// vonageMethods are the ways in which an account's requests may be signed, by the names that Vonage's own libraries give them, and
// the hash of the HMAC; nil: MD5 over the base text with the secret behind it.
var vonageMethods = map[string]func() hash.Hash{
	"md5hash": nil, "md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New,
}

// vonageSign signs the base text of a receipt.
func vonageSign(method string, secret Secret, base string) []byte {
	if vonageMethods[method] == nil {
		sum := md5.Sum([]byte(base + string(secret)))
		return sum[:]
	}
	mac := hmac.New(vonageMethods[method], []byte(secret))
	mac.Write([]byte(base))
	return mac.Sum(nil)
}

// vonageBase is what is signed: each parameter but sig in the order of their names, with & and = in a value made _.
func vonageBase(params map[string]string) string {
	var b strings.Builder
	plain := strings.NewReplacer("&", "_", "=", "_")
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if name != "sig" {
			b.WriteString("&" + name + "=" + plain.Replace(params[name]))
		}
	}
	return b.String()
}

// vonageSigned reports whether sig is right by one of the methods.
func vonageSigned(secret Secret, params map[string]string, methods ...string) bool {
	sig, err := hex.DecodeString(params["sig"]) // in either case
	base, right := vonageBase(params), false
	for _, method := range methods {
		right = hmac.Equal(sig, vonageSign(method, secret, base)) || right
	}
	return err == nil && len(sig) > 0 && right
}

// Receipts implements ledger.Reporter: one receipt of the SMS API, as a form or as JSON, once Vonage was asked to sign them.
// The path is not signed, so client-ref alone says which row is meant.
func (p *vonageSMS) Receipts(r ledger.Posted) ([]ledger.Receipt, error) {
	params, ok := vonageParams(r.Body)
	at, timed := signedTime(params["timestamp"])
	if ok && timed && p.TakesReceipts() && near(at, r.At, receiptClockSkew, receiptClockSkew) &&
		vonageSigned(p.settings.SignatureSecret, params, p.methods()...) {
		return p.receipts(params, r.Body), nil
	}
	return nil, ledger.ErrUnverified
}

// methods are those that count: the one of the settings, or all.
func (p *vonageSMS) methods() []string {
	if m := p.settings.SignatureMethod; m != "" {
		return []string{m}
	}
	return slices.Sorted(maps.Keys(vonageMethods))
}

// vonageMaxReceipt is more than any receipt of one message takes, in bytes. The signature is among the parameters, so whoever
// posts them has all of them read and sorted before anybody knows who it is.
const vonageMaxReceipt = 16 << 10

// vonageParams reads the parameters of a receipt. A name that stands twice, or that could pass for a name with its value and the
// next name in the signed text, makes it none.
func vonageParams(body []byte) (params map[string]string, ok bool) {
	if len(body) > vonageMaxReceipt {
		return nil, false
	}
	params, ok = map[string]string{}, true
	add := func(name, value string, sole bool) {
		params[name] = value
		ok = ok && sole && !strings.ContainsAny(name, "&=")
	}
	var fields map[string]json.RawMessage
	if readReport(body, &fields) == nil {
		for name, v := range fields {
			text := scalar(v)
			add(name, text, text != "" || string(v) == `""`)
		}
		return params, ok
	}
	form, err := url.ParseQuery(string(body))
	for name, values := range form {
		add(name, values[0], len(values) == 1)
	}
	return params, ok && err == nil
}

// receipts makes a receipt of a message of this account; none of anything else, such as a message that came in.
func (p *vonageSMS) receipts(params map[string]string, body []byte) []ledger.Receipt {
	id, word, code := params["messageId"], params["status"], params["err-code"]
	r, ok := vonageWords.receipt(reportText{
		reference: longReference(params["client-ref"]), messageID: id, word: word, code: zeroIsNone(code), body: body,
		at:   cmp.Or(reportTime(params["scts"], "0601021504"), reportTime(params["message-timestamp"], "2006-01-02 15:04:05")),
		fact: reportKey(id, word, code),
	})
	account, named := params["api-key"]
	if ok && unreplaced(id) && unreplaced(word) && (!named || account == p.settings.APIKey) {
		return []ledger.Receipt{r}
	}
	return nil
}

// unreplaced reports whether a value is the only one with its place in the signed text: & and = are signed as _.
func unreplaced(value string) bool { return !strings.ContainsAny(value, "&=_") }
