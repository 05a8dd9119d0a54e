package providers

import (
	"bufio"
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sendonce/ledger"
)

var moreLines = regexp.MustCompile(`^\d{3}-`)

// readMailFixture returns the replies of a server in their order, what is expected, and what the connection is.
func readMailFixture(t *testing.T, path string) (replies []string, e expected, over string) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(file), "\n"), "\n")
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "# source: ") || !strings.HasPrefix(lines[1], "# expect: ") {
		t.Fatalf("%s must begin with its source and what is expected", path)
	}
	e = parseExpected(t, strings.TrimPrefix(lines[1], "# expect: "))
	lines = lines[2:]
	if line, ok := strings.CutPrefix(lines[0], "# over: "); ok {
		over, lines = line, lines[1:]
	}
	reply := ""
	for i, line := range lines {
		reply += line + "\r\n"
		if i == len(lines)-1 || !moreLines.MatchString(line) {
			replies = append(replies, reply)
			reply = ""
		}
	}
	return replies, e, over
}

// Each fixture is what a server says, reply by reply. Then it closes.
func TestSMTP_Fixtures(t *testing.T) {
	paths, err := filepath.Glob("../testdata/providers/smtp/*.smtp")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d fixtures: %v", len(paths), err)
	}
	shown := map[string]bool{}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".smtp"), func(t *testing.T) {
			replies, want, over := readMailFixture(t, path)
			if !strings.HasPrefix(filepath.Base(path), want.outcome.String()+"_") {
				t.Errorf("the name says something else than %q", want.outcome)
			}
			synctest.Test(t, func(t *testing.T) {
				s, change := &mailServer{}, func(*SMTPSettings) {}
				if over != "" {
					s, change = secure(), withLogin
					s.implicit = over == "TLS, with a log-in"
				}
				s.answer = func(string, string) act {
					if len(replies) == 0 {
						return drops
					}
					next := replies[0]
					replies = replies[1:]
					goesOn := len(replies) > 0 || strings.HasPrefix(next, "354") // then it closes after the dot
					return func(c net.Conn) bool { return next != "\r\n" && says(next)(c) && goesOn }
				}
				r := mailWith(t, newSMTP(t, s, change), 15*time.Second)
				check(t, r, want)
				if step, ok := strings.CutPrefix(r.Error, "refused at "); ok {
					end := smtpEnd{step: smtpStep(step), reply: smtpReply{code: r.Status, enhanced: r.Code}}
					row, _ := end.row()
					shown[row.Code] = true
				}
				s.running.Wait()
				if len(replies) != 0 {
					t.Errorf("%d replies were not asked for", len(replies))
				}
			})
		})
	}
	for _, row := range smtpCodes.Codes {
		if !shown[row.Code] {
			t.Errorf("no fixture shows the row %s", row.Code)
		}
	}
}

// Every code at every step, with and without an enhanced code: a message that may have been accepted is never called sent,
// refused or surely not sent without the reply that says so, and one that was not is never called ambiguous.
func TestSMTP_EveryCodeAtEveryStep(t *testing.T) {
	steps := []smtpStep{atConnect, atBanner, atHello, atStartTLS, atAuth, atMail, atRcpt, atData, atBody, atDot}
	for _, step := range steps {
		for _, err := range []error{errReply, errUnasked, errNoAuth, errors.New("broken"), os.ErrDeadlineExceeded} {
			end := smtpEnd{step: step, err: err}
			r := end.result()
			checkForm(t, r)
			if (r.Outcome == ledger.Ambiguous) != (step == atDot) || r.Outcome == ledger.Accepted {
				t.Errorf("%s without a reply: %s", step, r.Outcome)
			}
		}
		for code := 200; code < 600 && step != atConnect; code++ { // where nobody speaks yet
			for _, enhanced := range []string{"", "0.0", "1.1", "2.2", "3.1", "3.4", "6.7", "7.0", "7.8", "7.13", "9.9"} {
				checkCode(t, step, code, enhanced)
			}
		}
	}
}

func checkCode(t *testing.T, step smtpStep, code int, enhanced string) {
	t.Helper()
	line := strconv.Itoa(code) + " x\r\n"
	if enhanced != "" {
		line = strconv.Itoa(code) + " " + strconv.Itoa(code/100) + "." + enhanced + " x\r\n"
	}
	reply, err := readReply(bufio.NewReader(strings.NewReader(line)))
	end := smtpEnd{step: step, reply: reply, err: err}
	r := end.result()
	checkForm(t, r)
	class := code / 100
	readable := err == nil
	want := map[ledger.Outcome]bool{
		ledger.Accepted:  step == atDot && class == 2 && readable,
		ledger.Ambiguous: step == atDot && (class == 3 || !readable),
		ledger.Rejected:  readable && class == 5 && step != atBanner && step != atHello && step != atStartTLS && step != atAuth,
		ledger.Deferred:  step != atDot || class == 4 || class == 5,
	}
	if !want[r.Outcome] {
		t.Errorf("%s: %q is %s", step, line, r.Outcome)
	}
	if class == 4 && readable && r.Outcome != ledger.Deferred {
		t.Errorf("%s: a refusal for now, %q, is %s", step, line, r.Outcome)
	}
}

// The table is data: what nobody wrote into it is unknown behind the dot, and never a reason to send again.
func TestSMTP_ForgottenCodeEndsAmbiguous(t *testing.T) {
	whole := smtpCodes.Codes
	defer func() { smtpCodes.Codes = whole }()
	smtpCodes.Codes = nil
	for _, code := range []int{354, 421, 450, 550, 554} {
		end := smtpEnd{step: atDot, reply: smtpReply{code: code}}
		check(t, end.result(), expected{reason: ledger.ReasonUnlistedAnswer})
	}
}
