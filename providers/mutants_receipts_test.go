//go:build mutants

package providers

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

// claimed is a request and what is made of it while nothing is forgotten.
type claimed struct {
	adapter ledger.Reporter
	request ledger.Posted
	want    []ledger.Receipt
	err     error
}

// TestForgottenReceipts runs where mutants_test.go has made the conditions forgettable: no one of them, forgotten, makes a receipt of
// a request that was refused.
func TestForgottenReceipts(t *testing.T) {
	forgotten = -1
	all := claims(t)
	var unnoticed []string
	refused := 0
	for n, mutant := range mutants[:receiptMutants] {
		noticed := false
		for _, c := range all {
			forgotten = n
			got, err := carefully(c.adapter, c.request)
			forgotten = -1
			noticed = noticed || !errors.Is(err, c.err) || !reflect.DeepEqual(got, c.want)
			if errors.Is(c.err, ledger.ErrUnverified) {
				if refused++; len(got) > 0 && !strings.HasPrefix(mutant, dropped) {
					t.Errorf("without %q a request that nobody signed is believed: %s %v %s", mutant, c.request.URL, c.request.Header, c.request.Body)
				}
			}
		}
		if !noticed {
			unnoticed = append(unnoticed, mutant)
		}
	}
	t.Logf("%d conditions forgotten over %d requests: %d readings of refused requests, none believed; %d conditions that no request shows: %q",
		receiptMutants, len(all), refused, len(unnoticed), unnoticed)
}

// carefully reads as the API does: a panic is a fault of ours, and nothing is believed.
func carefully(a ledger.Reporter, r ledger.Posted) (out []ledger.Receipt, err error) {
	defer func() {
		if recover() != nil {
			out, err = nil, errLost
		}
	}()
	return a.Receipts(r)
}

// claims are the requests of every provider, signed and forged in many ways, and those of the tests of receipts.
func claims(t *testing.T) (all []claimed) {
	add := func(a ledger.Reporter, r ledger.Posted) {
		got, err := a.Receipts(r)
		all = append(all, claimed{a, r, got, err})
	}
	for _, p := range posters {
		for _, secret := range []bool{true, false} {
			a := p.make(t, secret)
			for _, r := range requests(p) {
				add(a, r)
			}
		}
	}
	record = func(a ledger.Reporter, r ledger.Posted) {
		if len(r.Body) < 100_000 {
			add(a, r)
		}
	}
	defer func() { record = nil }()
	for _, test := range []func(*testing.T){
		TestReceipts_OnlyASignedReferenceIsBelieved, TestReceipts_HeadersStandOnce, TestReceipts_StaleTimesAreRefused, TestReceipts_WithoutAMessage, TestReceipts_Words,
		TestReceipts_OddFields, TestReceipts_Codes, TestReceipts_ResendTags, TestReceipts_OfAnotherAccount, TestReceipts_F27_TheSameEventHasTheSameKeys, TestReceipts_F30_OneBadEventSpoilsNoOther,
		TestTwilioReceipts_BoundariesCannotBeMoved, TestTwilioReceipts_SettingsOfTheSignature, TestTwilioReceipts_Ports,
		TestReceipts_AnEmptySecretSignsNothing, TestReceipts_OneWayToWrite, TestVonageReceipts_ReplacedLetters, TestVonageReceipts_Tokens, TestResendReceipts_Signatures,
	} {
		test(t)
	}
	return all
}

// requests of one provider: good ones, ones with odd content, and ones that are no longer what was signed.
func requests(p poster) (out []ledger.Posted) {
	good := p.post(p.good, testTime)
	out = append(out, good)
	for _, body := range []string{"", "x", "{}", "[]", "null", `{"type":"email.sent","data":{}}`, `{"a":{}}`, "2=&" + string(good.Body)} {
		out = append(out, p.sign([]byte(body), "", testTime))
		r := good
		r.Body = []byte(body)
		out = append(out, r)
	}
	for _, late := range []time.Duration{-6 * time.Minute, 6 * time.Minute, 49 * time.Hour} {
		r := good
		r.At = testTime.Add(late)
		out = append(out, r)
	}
	vary := func(s string, with func(s string) ledger.Posted) {
		for i, v := range variants(s) {
			if i%61 == 0 {
				out = append(out, with(v))
			}
		}
	}
	vary(string(good.Body), func(s string) ledger.Posted { r := good; r.Body = []byte(s); return r })
	vary(good.URL, func(s string) ledger.Posted { r := good; r.URL = s; return r })
	for _, name := range p.headers {
		with := func(values ...string) ledger.Posted {
			r := good
			if r.Header = http.Header(good.Header).Clone(); len(values) == 0 {
				delete(r.Header, name)
			} else {
				r.Header[name] = values
			}
			return r
		}
		value := good.Header[name][0]
		vary(value, func(s string) ledger.Posted { return with(s) })
		out = append(out, with(), with(value, value), with(strings.Replace(value, "SHA256", "SHA512", 1)), with(strings.ToUpper(value)))
	}
	twice := good
	twice.Body = append(slices.Clone([]byte("status=failed&MessageStatus=failed&")), good.Body...)
	moved := good // a digit of the reference
	moved.URL, moved.Reference, moved.Body = good.URL[:len(good.URL)-1], strings.TrimSuffix(good.Reference, "2"), append([]byte("2=&"), good.Body...)
	return append(out, twice, moved)
}
