package cli

import (
	"strings"
	"testing"
)

// expect compares what a command shows, and looks for hints.
func expect(t *testing.T, r result, code int, out string, hints ...string) {
	t.Helper()
	if r.code != code || r.out != strings.TrimPrefix(out, "\n") {
		t.Errorf("exit %d, want %d; got\n%s\nwant\n%s", r.code, code, r.out, out)
	}
	for _, h := range hints {
		if !strings.Contains(r.err, h) {
			t.Errorf("no hint %q in\n%s", h, r.err)
		}
	}
	if len(hints) == 0 && r.err != "" {
		t.Errorf("unexpected on Err: %s", r.err)
	}
}

func TestSend_Shows(t *testing.T) {
	send := []string{"send", "--file", "-"}
	r := run(t, answers(t, answer{202, notification()}), "{}", send...)
	expect(t, r, ExitDone, `
id           `+id+`
state        claimed
duplicate    no
next action  send at 2026-11-30 09:30:00 UTC
`, "sendonce get "+id)

	r = run(t, answers(t, answer{200, lost(`"duplicate":false`, `"duplicate":true,"differs":["message"]`, `"next_action":"send"`, `"next_action":"ask"`, `"due_at":"2026-11-30T09:30:00.000Z"`, `"due_at":null`)}), "{}", send...)
	expect(t, r, ExitDone, `
id           `+id+`
state        ambiguous (no_answer), maybe sent
duplicate    yes
differs      message
next action  ask
`, "nothing was sent for this command", "sendonce confirm "+id, "--if-match 3", "sendonce abandon "+id)

	r = run(t, answers(t, answer{202, notification(`"duplicate":false`, `"duplicate":false,"segments":{"encoding":"UCS-2","count":2}`)}), "{}", send...)
	if !strings.Contains(r.out, "\nsegments     2 (UCS-2)\n") {
		t.Errorf("out\n%s", r.out)
	}

	r = run(t, answers(t, answer{202, notification(`"suspected_duplicate_of":null`, `"suspected_duplicate_of":"x"`)}), "{}", send...)
	if !strings.Contains(r.out, "suspected duplicate of  x\n") || !strings.Contains(r.err, "Is the event id a new one on each try?") {
		t.Errorf("out\n%s\nerr\n%s", r.out, r.err)
	}
}

func TestList_Shows(t *testing.T) {
	row := lost(`"recipient":"+14155550142"`, `"recipient":null`)
	r := run(t, answers(t, answer{200, `{"notifications":[` + notification() + "," + row + `],"next_cursor":null}`}), "", "list")
	expect(t, r, ExitDone, `
ID                                    STATE                              CHANNEL  RECIPIENT     EVENT  PROVIDER     ATTEMPTS  CLAIMED
`+id+`  claimed                            sms      +14155550142  evt_1  infrai_main  0         2026-11-30 09:30:00 UTC
`+id+`  ambiguous (no_answer), maybe sent  sms      -             evt_1  infrai_main  0         2026-11-30 09:30:00 UTC
`)
	r = run(t, answers(t, answer{200, `{"notifications":[],"next_cursor":null}`}), "", "list")
	expect(t, r, ExitDone, "", "No notification matches.")
}

func TestGet_Shows(t *testing.T) {
	row := lost(`"attempt_count":0`, `"attempt_count":2`, `"duplicate_count":0,"last_duplicate_at":null`, `"duplicate_count":1,"last_duplicate_at":"2026-11-30T09:31:00.000Z"`)
	record := strings.TrimSuffix(row, "}") + `,"message":{"text":"Hello\nyou"},"metadata":null,"attempts":[
 {"number":1,"kind":"send","provider":"infrai_main","started_at":"2026-11-30T09:30:00.000Z","ended_at":"2026-11-30T09:30:15.000Z","outcome":"ambiguous",
  "phase":"written","status":null,"code":null,"message_id":null,"error":"no answer in 15 s","answer":null},
 {"number":2,"kind":"repeat","provider":"infrai_main","started_at":"2026-11-30T09:31:00.000Z","ended_at":null,"outcome":null,"phase":null,"status":503,
  "code":null,"message_id":null,"error":null,"answer":null}],
 "receipts":[{"provider":"infrai_main","attempt":1,"message_id":"m1","kind":"sent","delivery":"passed_on","code":null,"provider_at":null,"arrived_at":"2026-11-30T09:32:00.000Z"}],
 "settlements":[{"at":"2026-11-30T09:33:00.000Z","action":"release","from_state":"failed","to_state":"claimed","actor":"desk","by":"Ada","reason":"was down","evidence":null},
  {"at":"2026-11-30T09:34:00.000Z","action":"look_up","from_state":"ambiguous","to_state":"ambiguous","actor":"provider:infrai_main","by":null,"reason":null,
   "evidence":{"request":"GET /v1/x","status":200,"verdict":"probably","message_ids":["a","b"]}}],
 "duplicates":[{"at":"2026-11-30T09:31:00.000Z","caller":"shop","differs":["message"]}],"resends":["r1"]}`
	r := run(t, answers(t, answer{200, record}), "", "get", id)
	expect(t, r, ExitDone, `
id           `+id+`
state        ambiguous (no_answer), maybe sent
next action  send at 2026-11-30 09:30:00 UTC
event        evt_1
channel      sms
recipient    +14155550142
provider     infrai_main
lane         normal
attempts     2
suppressed   1 repeat, last 2026-11-30 09:31:00 UTC
dedupe key   k1
claimed      2026-11-30 09:30:00 UTC
expires      2026-12-03 09:30:00 UTC
updated      2026-11-30 09:30:00 UTC
version      3
resent as    r1
message      {"text":"Hello\nyou"}

attempts
NO  KIND    PROVIDER     STARTED                  ENDED                    OUTCOME    PHASE    STATUS  CODE  MESSAGE ID  ERROR
1   send    infrai_main  2026-11-30 09:30:00 UTC  2026-11-30 09:30:15 UTC  ambiguous  written  -       -     -           no answer in 15 s
2   repeat  infrai_main  2026-11-30 09:31:00 UTC  running                  -          -        503     -     -           -

receipts
ARRIVED                  PROVIDER     ATTEMPT  KIND  DELIVERY   CODE  MESSAGE ID
2026-11-30 09:32:00 UTC  infrai_main  1        sent  passed_on  -     m1

settlements
AT                       ACTION   FROM       TO         ACTOR                 BY   REASON    EVIDENCE
2026-11-30 09:33:00 UTC  release  failed     claimed    desk                  Ada  was down  -
2026-11-30 09:34:00 UTC  look_up  ambiguous  ambiguous  provider:infrai_main  -    -         message_ids=["a","b"] request=GET /v1/x status=200 verdict=probably

suppressed repeats
AT                       CALLER  DIFFERS
2026-11-30 09:31:00 UTC  shop    message
`, "Nobody knows whether this message went out")

	erased := strings.TrimSuffix(notification(), "}") + `,"message":null,"metadata":null,"attempts":[],"receipts":[],"settlements":[],"duplicates":[],"resends":[]}`
	if r := run(t, answers(t, answer{200, erased}), "", "get", id); !strings.HasSuffix(r.out, "message      erased\n") {
		t.Errorf("got\n%s", r.out)
	}
}

// What a provider answered must not steer the terminal or break out of its line.
func TestGet_TerminalSafe(t *testing.T) {
	record := strings.TrimSuffix(notification(`"event_id":"evt_1"`, `"event_id":"a\u001b[2Jb\u202ec\nd\te"`), "}") +
		`,"message":{},"metadata":null,"attempts":[],"receipts":[],"settlements":[],"duplicates":[],"resends":[]}`
	r := run(t, answers(t, answer{200, record}), "", "get", id)
	if !strings.Contains(r.out, "event        a·[2Jb·c d e\n") || strings.ContainsRune(r.out, 0x1b) {
		t.Errorf("got %q", r.out)
	}
	r = run(t, answers(t, problem(400, "invalid_request", `,"errors":[{"field":"a\u001b[2J","detail":"b\u001b[2J"}]`)), "", "get", id)
	if strings.ContainsRune(r.err, 0x1b) {
		t.Errorf("got %q", r.err)
	}
}

func TestKey_Shows(t *testing.T) {
	r := run(t, answers(t, answer{200, `{"keys":[
 {"recipe":"event","parts":[{"name":"event_id","value":"evt_1"},{"name":"channel","value":"sms"}],"dedupe_key":"k1","notification":` + lost() + `},
 {"recipe":"mine","parts":[{"name":"event_id","value":" e "}],"dedupe_key":"k2","notification":null}]}`}), "", "key", "--event-id", "evt_1")
	expect(t, r, ExitDone, `
recipe      event
  event_id  "evt_1"
  channel   "sms"
key         k1
row         `+id+`
state       ambiguous (no_answer), maybe sent

recipe      mine
  event_id  " e "
key         k2
row         none
`)
}

func TestProviders_Shows(t *testing.T) {
	const infrai = `{"name":"infrai_main","type":"infrai","channels":["sms"],"gate":{"state":"paused","until":null,"reason":"bill","by":"desk"},"capabilities":["repeat"],"offers":["repeat","status_by_id"]}`
	const table = `
NAME         TYPE    CHANNELS    GATE    UNTIL                    REASON     BY    USES    OFFERS
infrai_main  infrai  sms         paused  -                        bill       desk  repeat  repeat,status_by_id
`
	r := run(t, answers(t, answer{200, `{"providers":[` + infrai + `,{"name":"log","type":"log","channels":["email","push"],"gate":{"state":"slowed","until":"2026-11-30T09:30:00.000Z","reason":"throttled","by":null},"capabilities":[],"offers":[]}]}`}), "", "providers")
	expect(t, r, ExitDone, table+"log          log     email,push  slowed  2026-11-30 09:30:00 UTC  throttled  -     -       -\n")

	r = run(t, answers(t, answer{200, infrai}), "", "providers", "pause", "infrai_main", "--reason", "bill")
	expect(t, r, ExitDone, `
NAME         TYPE    CHANNELS  GATE    UNTIL  REASON  BY    USES    OFFERS
infrai_main  infrai  sms       paused  -      bill    desk  repeat  repeat,status_by_id
`)
}

func TestProviders_Codes(t *testing.T) {
	svc := Service{Codes: []Codes{
		{Type: "a", Source: "a's page", Codes: []Code{
			{Code: "21211", Outcome: "rejected", Does: "rejected", Means: "no number"},
			{Code: "20429", Outcome: "deferred", Fault: "throttled", Does: "deferred, gate slowed (throttled)", Means: "too many"},
			{Code: "21212", Outcome: "deferred", Fault: "account", Sender: true, Does: "deferred", Means: "sender"},
		}},
		{Type: "b", Source: "b's page", Codes: []Code{{Code: "5", Outcome: "ambiguous", Reason: "partial", Does: "ambiguous (partial)", Means: "some"}}},
	}}
	expect(t, runWith(t, nil, svc, "", "providers", "--codes"), ExitDone, `
TYPE  CODE   OUTCOME                            MEANS
a     21211  rejected                           no number
a     20429  deferred, gate slowed (throttled)  too many
a     21212  deferred                           sender
b     5      ambiguous (partial)                some
`, "docs/providers.md")
	expect(t, runWith(t, nil, svc, "", "providers", "--codes", "--json"), ExitDone, `
{"types":[{"type":"a","source":"a's page","codes":[{"code":"21211","outcome":"rejected","means":"no number"},`+
		`{"code":"20429","outcome":"deferred","fault":"throttled","means":"too many"},`+
		`{"code":"21212","outcome":"deferred","fault":"account","own_sender_rejected":true,"means":"sender"}]},`+
		`{"type":"b","source":"b's page","codes":[{"code":"5","outcome":"ambiguous","reason":"partial","means":"some"}]}]}
`)
	expect(t, runWith(t, nil, svc, "", "providers", "--codes", "--url", "http://127.0.0.1:1"), ExitUsage, "", "--url")
}

func TestStats_Shows(t *testing.T) {
	r := run(t, answers(t, answer{200, `{"notifications":7,"states":{"sent":5,"ambiguous":2},"maybe_sent":2,"duplicates_suppressed":3,"duplicates_proven":0,"message_ids_shared":0,"oldest_ambiguous_at":"2026-11-30T09:30:00.000Z"}`}), "", "stats")
	expect(t, r, ExitDone, `
notifications       7
  ambiguous         2
  sent              5
maybe sent          2
repeats suppressed  3
duplicates proven   0
message ids shared  0
oldest ambiguous    2026-11-30 09:30:00 UTC
`, "sendonce list --state ambiguous")
}

func TestSettle_Shows(t *testing.T) {
	args := []string{"settle", "--action", "abandon", "--state", "ambiguous", "--reason", "r"}
	r := run(t, answers(t, answer{200, `{"matched":3,"changed":0,"skipped":0}`}), "", append(args, "--dry-run")...)
	expect(t, r, ExitDone, "matched  3 rows\n", "--expect 3 in place of --dry-run")
	r = run(t, answers(t, answer{200, `{"matched":3,"changed":2,"skipped":1}`}), "", append(args, "--expect", "3")...)
	expect(t, r, ExitDone, "matched  3 rows\nchanged  2 rows\nskipped  1 row\n", "Skipped rows")
	r = run(t, answers(t, problem(409, "count_differs", `,"matched":1`)), "", append(args, "--expect", "3")...)
	expect(t, r, ExitNo, "", "A title (409 count_differs)", "The filter matches 1 row.")
}

func TestRun_ShowsProblems(t *testing.T) {
	for _, tc := range []struct {
		answer answer
		want   string
	}{
		{problem(400, "invalid_request", `,"errors":[{"field":"message.text","detail":"must not be empty"},{"field":"recipient","detail":"must begin with +"}]`),
			"sendonce: A title (400 invalid_request)\n  message.text: must not be empty\n  recipient: must begin with +\n"},
		{problem(404, "notification_not_found", ""), "sendonce: A title (404 notification_not_found)\n  A detail.\n"},
		{problem(409, "wrong_state", `,"state":"sent","allowed":[]`),
			"sendonce: A title (409 wrong_state)\n  It is sent; possible from there: nothing.\n"},
		{problem(409, "wrong_state", `,"state":"held","allowed":["unhold","cancel"]`),
			"sendonce: A title (409 wrong_state)\n  It is held; possible from there: unhold, cancel.\n"},
		{problem(422, "dedupe_key_reused", `,"differs":["user_id"],"notification":`+notification()),
			"sendonce: A title (422 dedupe_key_reused)\n  These differ: user_id.\n  row      " + id + "\n  state    claimed\n  event    evt_1\n  version  1\n"},
		{problem(412, "version_differs", `,"notification":`+strings.TrimSuffix(notification(), "}")+`,"resends":["r1"]}`),
			"sendonce: A title (412 version_differs)\n  row        " + id + "\n  state      claimed\n  event      evt_1\n  version    1\n  resent as  r1\n" +
				"The row has changed since you looked: sendonce get " + id + ", then decide again with its version.\n"},
	} {
		if r := run(t, answers(t, tc.answer), "", "confirm", id, "--reason", "r"); r.err != tc.want || r.out != "" {
			t.Errorf("got\n%s\nwant\n%s", r.err, tc.want)
		}
	}
}
