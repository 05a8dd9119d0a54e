//go:build mutants

package providers

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"testing"

	"sendonce/ledger"
)

// reading is one answer, and how it is read.
type reading struct {
	name string
	read func() ledger.Result
}

// TestForgotten runs where mutants_test.go has made the conditions forgettable.
func TestForgotten(t *testing.T) {
	all := readings(t)
	want := make([]ledger.Result, len(all))
	for i, r := range all {
		want[i] = r.read()
	}
	unnoticed, ambiguous, refused := 0, 0, 0
	for n, mutant := range mutants {
		if n < receiptMutants {
			continue
		}
		forgotten = n
		noticed := false
		for i, r := range all {
			got := careful(r.read)
			switch before := want[i]; {
			case reflect.DeepEqual(got, before):
				continue
			case got.Outcome == ledger.Ambiguous:
				ambiguous++
			case before.Outcome != got.Outcome && (before.Outcome == ledger.Ambiguous || before.Outcome == ledger.Accepted || got.Outcome == ledger.Accepted):
				t.Errorf("without %q, %s is %s in place of %s", mutant, r.name, got.Outcome, before.Outcome)
			default:
				refused++
			}
			noticed = true
		}
		if !noticed {
			unnoticed++
			t.Errorf("without %q every answer is read as before: the suite does not show this case", mutant)
		}
	}
	t.Logf("%d conditions forgotten over %d answers: %d readings became ambiguous, %d refusals another refusal, %d conditions that no answer shows",
		len(mutants)-receiptMutants, len(all), ambiguous, refused, unnoticed)
}

// careful reads as the ledger does: a panic after the request left is an unknown.
func careful(read func() ledger.Result) (r ledger.Result) {
	defer func() {
		if recover() != nil {
			r = ledger.Result{Reason: ledger.ReasonUnreadableAnswer}
		}
	}()
	return read()
}

// readings are all answers of testdata, requests that had none, and the ends of a mail's delivery.
func readings(t *testing.T) (out []reading) {
	add := func(name string, read func() ledger.Result) { out = append(out, reading{name, read}) }
	for _, k := range kits {
		paths, err := filepath.Glob("../testdata/providers/" + k.name + "/*.http")
		if err != nil || len(paths) == 0 {
			t.Fatalf("no fixtures of %s: %v", k.name, err)
		}
		exchanges := map[string]exchange{
			"refused": {phase: ledger.NotWritten, err: io.EOF}, "address refused": {phase: ledger.NotWritten, err: errAddressRefused},
			"no answer": {phase: ledger.Written, err: io.EOF}, "half a header": {phase: ledger.Written, begun: true, err: io.EOF},
		}
		for _, path := range paths {
			raw, _ := readFixture(t, path)
			s := newSender(pipe(make(chan served, 1), raw), 0)
			x := s.post(t.Context(), &request{url: "http://127.0.0.1", header: map[string][]string{}, body: []byte("{}"), at: testTime})
			exchanges[filepath.Base(path)] = x
		}
		for _, status := range []int{200, 202, 302, 400, 401, 409, 418, 429, 500} { // a page of somebody else's, whole and cut
			page := exchange{phase: ledger.Answered, status: status, body: []byte("<html>"), at: testTime}
			exchanges[fmt.Sprintf("%d cut", status)] = page
			page.whole = true
			exchanges[fmt.Sprintf("%d page", status)] = page
		}
		for name, x := range exchanges {
			for _, own := range []bool{false, true} {
				add(fmt.Sprintf("%s/%s own=%v", k.name, name, own), func() ledger.Result {
					x := x
					x.ownSender = own
					return k.read(&x)
				})
			}
		}
	}
	for _, step := range []smtpStep{atConnect, atBanner, atHello, atStartTLS, atAuth, atMail, atRcpt, atData, atBody, atDot} {
		for _, err := range []error{io.EOF, io.ErrUnexpectedEOF, errReply, errUnasked, errNoStartTLS, errNoAuth, errNoUTF8, errors.New("timeout")} {
			add(fmt.Sprintf("smtp/%s %v", step, err), func() ledger.Result { return (&smtpEnd{step: step, err: err}).result() })
		}
		for _, code := range []int{100, 199, 220, 250, 299, 334, 354, 399, 421, 432, 450, 451, 452, 454, 500, 530, 534, 535, 550, 552, 554, 599} {
			for _, own := range []bool{false, true} {
				add(fmt.Sprintf("smtp/%s %d", step, code), func() ledger.Result {
					return (&smtpEnd{step: step, reply: smtpReply{code: code}, own: own}).result()
				})
			}
		}
	}
	return out
}
