package providers

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sendonce/ledger"
)

// Each row of a code table is shown by an answer: a fixture that has the row's status and code, and its outcome. Rows about a
// sender of the message's own, and about tokens, have tests that send one.
func TestCodes_EachRowHasAFixture(t *testing.T) {
	eachProvider(t, func(t *testing.T, k kit) {
		table, ok := CodesOf(k.typeName())
		if !ok {
			t.Skip("no codes of its own")
		}
		var paths []string
		for _, other := range kits { // a type that speaks two APIs has a folder for each
			if other.typeName() == k.typeName() {
				of, err := filepath.Glob("../testdata/providers/" + other.name + "/*.http")
				if err != nil {
					t.Fatal(err)
				}
				paths = append(paths, of...)
			}
		}
		for _, row := range table.Codes {
			if strings.HasPrefix(row.Code, "token ") {
				continue
			}
			shown := false
			for _, path := range paths {
				raw, want := readFixture(t, path)
				shown = shown || row.shownBy(string(raw), want)
			}
			if !shown {
				t.Errorf("no fixture shows %q as %s %s", row.Code, row.Outcome, row.Fault)
			}
		}
	})
}

// shownBy reports whether an answer has the row's status and code, and is expected to mean what the row says.
func (c Code) shownBy(raw string, want expected) bool {
	status, code, _ := strings.Cut(c.Code, " ")
	if _, err := strconv.Atoi(status); err != nil || len(status) != 3 {
		status, code = "", c.Code
	}
	line, _, _ := strings.Cut(raw, "\r\n")
	name, field, _ := strings.Cut(code, " ") // a field that the error's text quotes
	quoted := field != "" && want.code == name && strings.Contains(raw, "`"+field+"`")
	return (status == "" || strings.HasPrefix(line, "HTTP/1.1 "+status+" ")) &&
		(code == "" || want.code == code || quoted || strings.Contains(raw, `"`+code+`"`)) &&
		want.outcome == c.Outcome && want.fault == c.Fault
}

// What a table says of a code under an error of the provider's is not more than the rules allow: no code makes sure of anything there.
func TestCodes_NothingIsSureUnder5xx(t *testing.T) {
	for name, answers := range map[string]func(code string) string{
		"resend": func(code string) string { return `{"name":"` + code + `","message":"m"}` },
		"fcm":    func(code string) string { return `{"error":{"status":"` + code + `"}}` },
		"twilio": func(code string) string { return `{"code":` + code + `,"message":"m","more_info":"i"}` },
		"vonage": func(code string) string { return `{"messages":[{"status":"` + code + `"}]}` },
	} {
		table, _ := CodesOf(name)
		for _, row := range table.Codes {
			x := exchange{phase: ledger.Answered, status: 503, whole: true, body: []byte(answers(row.Code))}
			if r := kitNamed(t, name).read(&x); r.Outcome != ledger.Ambiguous {
				t.Errorf("%s: %s under 503 is %s", name, row.Code, r.Outcome)
			}
		}
	}
}
