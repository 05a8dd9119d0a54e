package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// asking is an ambiguous row with its history, for so long unknown.
func asking(since time.Duration) (row, record string) {
	ended := time.Now().Add(-since).UTC().Format("2006-01-02T15:04:05.000Z07:00")
	row = lost(`"next_action":"send"`, `"next_action":"ask"`, `"due_at":"2026-11-30T09:30:00.000Z"`, `"due_at":"2026-12-03T09:30:00.000Z"`,
		`"attempt_count":0`, `"attempt_count":3`)
	attempt := func(number int, kind, outcome, ended, code string) string {
		return fmt.Sprintf(`{"number":%d,"kind":%q,"provider":"infrai_main","started_at":%q,"ended_at":%q,"outcome":%q,"phase":"written",`+
			`"status":null,"code":%s,"message_id":null,"error":null,"answer":null}`, number, kind, ended, ended, outcome, code)
	}
	record = strings.TrimSuffix(row, "}") + `,"message":{"text":"t"},"metadata":null,"attempts":[` + attempt(1, "send", "deferred", "2026-11-30T09:30:01.000Z", "null") + "," +
		attempt(2, "send", "ambiguous", ended, "null") + "," + attempt(3, "repeat", "ambiguous", time.Now().UTC().Format("2006-01-02T15:04:05.000Z07:00"), `"C1"`) +
		`],"receipts":[{"provider":"infrai_main","attempt":null,"message_id":"m","kind":"look_up","delivery":null,"code":null,"provider_at":null,"arrived_at":"2026-11-30T09:31:00.000Z"}],` +
		`"settlements":[%s],"duplicates":[],"resends":[]}`
	return row, record
}

const looked = `{"at":"2026-11-30T09:34:00.000Z","action":"look_up","from_state":"ambiguous","to_state":"ambiguous","actor":"provider:infrai_main","by":null,"reason":null,"evidence":{"verdict":"probably"}}`

// A person sees of each unknown how long it has been one, what was tried, and what comes next, without asking for each.
func TestWaiting_Shows(t *testing.T) {
	row, record := asking(3*time.Hour + 4*time.Minute + 5*time.Second)
	page := answer{200, `{"notifications":[` + row + "," + row + "," + row + `],"next_cursor":null}`}
	s := answers(t, page, answer{200, fmt.Sprintf(record, "")}, answer{200, fmt.Sprintf(record, looked+","+looked)},
		answer{200, strings.NewReplacer(`"state":"ambiguous"`, `"state":"sent"`, `"reason":"no_answer"`, `"reason":"proof"`, `"maybe_sent":true`, `"maybe_sent":false`).Replace(fmt.Sprintf(record, ""))})
	r := run(t, s, "", "list", "--state", "ambiguous")
	expect(t, r, ExitDone, `
ID                                    UNKNOWN  REASON        TRIED                                         NEXT                               CHANNEL  RECIPIENT     EVENT  PROVIDER
`+id+`  3h 4m    no_answer     2 sends, 1 repeat, last ambiguous C1          ask until 2026-12-03 09:30:00 UTC  sms      +14155550142  evt_1  infrai_main
`+id+`  3h 4m    no_answer     2 sends, 1 repeat, 2 look-ups, last probably  ask until 2026-12-03 09:30:00 UTC  sms      +14155550142  evt_1  infrai_main
`+id+`  settled  sent (proof)  -                                             -                                  sms      +14155550142  evt_1  infrai_main
`, "sendonce settle")
	if len(s.seen) != 4 || s.seen[0].line != "GET /v1/notifications?state=ambiguous" || s.seen[3].line != "GET /v1/notifications/"+id {
		t.Errorf("%d requests, %v", len(s.seen), s.seen)
	}
}

// Reading row by row is bounded; JSON and lists of other states read nothing more.
func TestWaiting_IsBounded(t *testing.T) {
	row, record := asking(time.Minute)
	rows := strings.Repeat(row+",", maxHistories) + row
	list := []answer{{200, `{"notifications":[` + rows + `],"next_cursor":null}`}}
	for range maxHistories {
		list = append(list, answer{200, fmt.Sprintf(record, "")})
	}
	s := answers(t, list...)
	r := run(t, s, "", "list", "--state", "ambiguous", "--limit", "500")
	if r.code != ExitDone || len(s.seen) != 1+maxHistories || strings.Count(r.out, id) != maxHistories+1 || !strings.Contains(r.err, "of the first 200 rows") {
		t.Errorf("exit %d, %d requests, %s", r.code, len(s.seen), r.err)
	}
	for _, args := range [][]string{{"--state", "ambiguous", "--json"}, {"--state", "ambiguous,failed"}, nil} {
		s := answers(t, list[0])
		if r := run(t, s, "", append([]string{"list"}, args...)...); r.code != ExitDone || len(s.seen) != 1 {
			t.Errorf("%q: exit %d, %d requests", args, r.code, len(s.seen))
		}
	}
}

func TestAgeOf(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 30, 0, 0, time.UTC)
	for since, want := range map[string]string{
		"2026-11-30T09:30:00.900Z": "0s", // a clock that differs
		"2026-11-30T09:29:55.000Z": "5s",
		"2026-11-30T09:20:00.000Z": "10m",
		"2026-11-30T09:19:55.100Z": "10m 4s",
		"2026-11-30T08:29:55.000Z": "1h",
		"2026-11-26T05:00:00.000Z": "4d 4h",
		"2026-11-26T09:00:00.000Z": "4d",
		"":                         "",
	} {
		if got := ageOf(since, now); got != want {
			t.Errorf("%s is %q, want %q", since, got, want)
		}
	}
}
