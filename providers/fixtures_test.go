package providers

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

// expected is the second line of a fixture: the outcome, then, where there are any, fault, reason, code (as code=CODE where it is
// the word of a fault), id=MESSAGE_ID and retry=DURATION.
type expected struct {
	outcome ledger.Outcome
	fault   ledger.Fault
	reason  ledger.Reason
	code    string
	id      string
	retry   time.Duration
}

var faults = []ledger.Fault{ledger.FaultUnreachable, ledger.FaultThrottled, ledger.FaultCredentials, ledger.FaultAccount, ledger.FaultUnexpectedReply}

func parseExpected(t *testing.T, line string) expected {
	t.Helper()
	words := strings.Fields(line)
	outcome, ok := ledger.ParseOutcome(words[0])
	if !ok {
		t.Fatalf("no outcome: %q", words[0])
	}
	e := expected{outcome: outcome}
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, "=")
		switch {
		case name == "id":
			e.id = value
		case name == "code":
			e.code = value
		case name == "retry":
			d, err := time.ParseDuration(value)
			if err != nil {
				t.Fatal(err)
			}
			e.retry = d
		case slices.Contains(faults, ledger.Fault(w)):
			e.fault = ledger.Fault(w)
		case slices.Contains(ledger.Reasons[ledger.StateAmbiguous], ledger.Reason(w)):
			e.reason = ledger.Reason(w)
		default:
			e.code = w
		}
	}
	return e
}

// readFixture returns the raw answer, with CRLF in its header, and what it is expected to mean.
func readFixture(t *testing.T, path string) (raw []byte, e expected) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	source, rest, _ := strings.Cut(string(file), "\n")
	expect, answer, _ := strings.Cut(rest, "\n")
	if !strings.HasPrefix(source, "# source: ") || !strings.HasPrefix(expect, "# expect: ") {
		t.Fatalf("%s must begin with its source and what is expected", path)
	}
	e = parseExpected(t, strings.TrimPrefix(expect, "# expect: "))
	var b bytes.Buffer
	for {
		header, body, found := strings.Cut(answer, "\n\n")
		b.WriteString(strings.ReplaceAll(header, "\n", "\r\n"))
		if !found {
			return b.Bytes(), e
		}
		b.WriteString("\r\n\r\n")
		if !strings.HasPrefix(header, "HTTP/1.1 103") {
			b.WriteString(body)
			return b.Bytes(), e
		}
		answer = body
	}
}

func check(t *testing.T, r ledger.Result, want expected) {
	t.Helper()
	got := expected{outcome: r.Outcome, fault: r.Fault, reason: r.Reason, code: r.Code, retry: r.RetryAfter}
	if len(r.MessageIDs) > 0 {
		got.id = r.MessageIDs[0]
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v\nresult %+v", got, want, r)
	}
	checkForm(t, r)
}

// checkForm is what holds for every result of every adapter.
func checkForm(t *testing.T, r ledger.Result) {
	t.Helper()
	if (r.Outcome == ledger.Ambiguous) != (r.Reason != "") {
		t.Errorf("%s with the reason %q", r.Outcome, r.Reason)
	}
	if r.Fault != "" && r.Outcome != ledger.Deferred {
		t.Errorf("%s with the fault %q", r.Outcome, r.Fault)
	}
	if (r.Phase == ledger.Answered) != (r.Status != 0) {
		t.Errorf("phase %s with status %d", r.Phase, r.Status)
	}
	if r.Phase == ledger.NotWritten && r.Outcome != ledger.Deferred && r.Outcome != ledger.Rejected {
		t.Errorf("nothing was written, yet the outcome is %s", r.Outcome)
	}
	if r.Phase == ledger.Written && r.Outcome != ledger.Ambiguous {
		t.Errorf("no answer came, yet the outcome is %s", r.Outcome)
	}
	if slices.Contains(r.MessageIDs, "") || len(r.MessageIDs) > 0 && r.Outcome != ledger.Accepted && r.Reason != ledger.ReasonPartial {
		t.Errorf("%s with the message ids %q", r.Outcome, r.MessageIDs)
	}
	if len(r.Answer) > ledger.MaxAnswerBytes || strings.ContainsAny(r.Error, "\r\n") {
		t.Errorf("answer of %d bytes, error %q", len(r.Answer), r.Error)
	}
}

// Each fixture goes through the real sender, as the bytes that a server would send.
func TestAnswer_Fixtures(t *testing.T) {
	eachProvider(t, func(t *testing.T, k kit) {
		paths, err := filepath.Glob("../testdata/providers/" + k.name + "/*.http")
		if err != nil || len(paths) == 0 {
			t.Fatalf("no fixtures: %v", err)
		}
		for _, path := range paths {
			t.Run(strings.TrimSuffix(filepath.Base(path), ".http"), func(t *testing.T) {
				raw, want := readFixture(t, path)
				if !strings.HasPrefix(filepath.Base(path), want.outcome.String()+"_") {
					t.Errorf("the name says something else than %q", want.outcome)
				}
				seen := make(chan served, 8)
				base := strings.Replace(k.base, "https://", "http://", 1)
				check(t, k.send(t, Common{Dial: pipe(seen, raw)}, base), want)
				if len(seen) != 1 {
					t.Errorf("%d requests, want 1", len(seen))
				}
			})
		}
	})
}
