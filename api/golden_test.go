package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"sendonce/ledger"
)

var update = flag.Bool("update", false, "write the golden answers anew")

// fullRecord has something in every field that an answer can show.
func fullRecord() ledger.Record {
	n := sample()
	n.EventType, n.UserID, n.OccurredAt = "order.shipped", "u_17", noon.Add(-time.Minute)
	n.Metadata = []byte(`{"order":9007199254740993,"amount":1.10,"e":1e400}`)
	n.Message = []byte(`{"text":"Grüße <b>\u00e9</b> & \/ 👍"}`)
	n.State, n.Reason, n.MaybeSent, n.NextAction, n.DueAt = ledger.StateAmbiguous, ledger.ReasonNoAnswer, true, ledger.DoExpire, n.ExpiresAt
	n.AttemptCount, n.MessageID, n.Delivery, n.Version = 3, "m-1", ledger.Delayed, 7
	n.ResendOf, n.SuspectedOf, n.Duplicates, n.DuplicateAt, n.ConfirmedAt = rowB, rowB, 2, noon.Add(time.Hour), noon.Add(2*time.Hour)
	return ledger.Record{
		Notification: n,
		Attempts: []ledger.Attempt{
			{Number: 1, Kind: ledger.KindSend, Provider: "infrai_main", StartedAt: noon, EndedAt: noon.Add(15 * time.Second), Outcome: ledger.Ambiguous,
				Phase: ledger.Written, Error: "no answer in 15s"},
			{Number: 2, Kind: ledger.KindRepeat, Provider: "infrai_main", StartedAt: noon.Add(time.Minute), EndedAt: noon.Add(61 * time.Second), Outcome: ledger.Accepted,
				Phase: ledger.Answered, Status: 200, Code: "0", MessageID: "m-1", Answer: []byte("{\"id\":\"m-1\"}\xff")},
			{Number: 3, Kind: ledger.KindRepeat, Provider: "infrai_main", StartedAt: noon.Add(2 * time.Minute)},
		},
		Receipts: []ledger.Receipt{{Provider: "infrai_main", Number: 2, MessageID: "m-1", Kind: "delayed", Delivery: ledger.Delayed, Code: "30008",
			ProviderAt: noon.Add(3 * time.Minute), ArrivedAt: noon.Add(4 * time.Minute)}, {Provider: "infrai_main", Kind: "opened", ArrivedAt: noon}},
		Settlements: []ledger.Settlement{{At: noon, Action: ledger.CauseHold, From: ledger.StateClaimed, To: ledger.StateHeld, Actor: "operator", Person: "ada",
			Reason: "wait", Evidence: []byte(`{"ids":["m-1"]}`)}, {At: noon, Action: ledger.CauseUnhold, From: ledger.StateHeld, To: ledger.StateClaimed, Actor: "sendonce"}},
		Suppressed: []ledger.Suppressed{{At: noon, Caller: "shop", Differs: []string{"message"}}, {At: noon, Caller: "shop"}},
		Resends:    []uuid.UUID{rowB},
	}
}

// erasedSample is what is left of a row.
func erasedSample() ledger.Notification {
	n := sample()
	return ledger.Notification{ID: n.ID, Source: n.Source, DedupeKey: n.DedupeKey, Recipe: n.Recipe, Channel: n.Channel, State: ledger.StateSent,
		Delivery: ledger.Delivered, AttemptCount: 1, Version: 4, Duplicates: 2, DuplicateAt: noon.Add(time.Hour), ClaimedAt: noon,
		ConfirmedAt: noon.Add(time.Second), UpdatedAt: noon.Add(time.Minute), ErasedAt: noon.Add(90 * 24 * time.Hour)}
}

// The answers as callers know them, field by field: a change here is a change for every caller.
func TestGolden_Answers(t *testing.T) {
	full := fullRecord()
	reused := &ledger.ReusedError{Existing: sample(), Differs: []string{"recipient", "message"}}
	one := "/v1/notifications/" + rowA.String()
	claim := bodies["POST /v1/notifications"]
	for _, c := range []struct {
		name, method, path, body string
		set                      func(*stub)
		into                     any
	}{
		{"claim", "POST", "/v1/notifications", claim, nil, &Notification{}},
		{"claim_known_differs", "POST", "/v1/notifications", claim, func(s *stub) { s.dup, s.differs = true, []string{"message"} }, &Notification{}},
		{"claim_segments", "POST", "/v1/notifications", claim, func(s *stub) { s.parts = ledger.Segments{Encoding: "UCS-2", Count: 2} }, &Notification{}},
		{"batch", "POST", "/v1/notifications/batch", batchOf(item("a"), `{"event_id":"a","Channel":"sms"}`), func(s *stub) {
			s.parts = ledger.Segments{Encoding: "GSM-7", Count: 1}
		}, &BatchAnswer{}},
		{"record", "GET", one, "", func(s *stub) { s.record = &full }, &Record{}},
		{"record_new", "GET", one, "", func(s *stub) { s.record = &ledger.Record{Notification: sample()} }, &Record{}},
		{"record_erased", "GET", one, "", func(s *stub) { s.record = &ledger.Record{Notification: erasedSample()} }, &Record{}},
		{"list", "GET", "/v1/notifications", "", func(s *stub) { s.page = ledger.Page{Rows: []ledger.Notification{sample(), full.Notification}, Next: 7} }, &List{}},
		{"keys", "GET", "/v1/keys?event_id=evt_1", "", nil, &Keys{}},
		{"providers", "GET", "/v1/providers", "", func(s *stub) {
			s.gates = append(s.gates, ledger.ProviderStatus{Name: "mail", Type: "smtp", Channels: []ledger.Channel{ledger.Email},
				Gate: ledger.GateStatus{State: "slowed", Until: noon, Reason: "throttled"}})
		}, &Providers{}},
		{"stats", "GET", "/v1/stats", "", nil, &Stats{}},
		{"settlements", "POST", "/v1/settlements", bodies["POST /v1/settlements"], func(s *stub) { s.matched = 2 }, &BulkAnswer{}},
		{"problem_invalid", "POST", "/v1/notifications", claimOf(`"event_id":"e","send_at":"tomorrow","dedupe_key":""`), nil, &Problem{}},
		{"problem_unknown_field", "POST", "/v1/notifications", claimOf(`"event":"e"`), nil, &Problem{}},
		{"problem_reused", "POST", "/v1/notifications", claim, func(s *stub) { s.err = reused }, &Problem{}},
		{"problem_wrong_state", "POST", one + "/hold", `{"reason":"x"}`, func(s *stub) {
			s.actErr = &ledger.StateError{State: ledger.StateAmbiguous, Allowed: ledger.Allowed(ledger.StateAmbiguous, true)}
		}, &Problem{}},
		{"problem_version", "POST", one + "/hold", `{"reason":"x"}`, func(s *stub) { s.actErr = &ledger.VersionError{Existing: sample()} }, &Problem{}},
		{"problem_storage", "POST", "/v1/notifications", claim, func(s *stub) { s.err = ledger.ErrUnknown }, &Problem{}},
	} {
		s := newStub()
		if c.set != nil {
			c.set(s)
		}
		got := answerOf(t, New(s, Settings{}, quiet()), c.method, c.path, c.body)
		if err := jsonv2.Unmarshal(got.body, c.into, jsonv2.RejectUnknownMembers(true)); err != nil {
			t.Errorf("%s: the answer is not its type: %v", c.name, err)
		}
		var text bytes.Buffer
		if err := json.Indent(&text, got.body, "", "  "); err != nil {
			t.Fatalf("%s: %v: %s", c.name, err, got.body)
		}
		file := filepath.Join("../testdata/api", c.name+".golden.json")
		if *update {
			if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text.Bytes(), want) {
			t.Errorf("%s differs from %s:\n%s", c.name, file, text.Bytes())
		}
	}
}

// The client's types and the answers are one: what a client decodes and writes again is the answer. Both of
// Go's JSON packages agree on it, so programs with the usual one see the same.
func TestGolden_ClientReadsEverything(t *testing.T) {
	s := newStub()
	full := fullRecord()
	s.record = &full
	body := answerOf(t, New(s, Settings{}, quiet()), "GET", "/v1/notifications/"+rowA.String(), "").body
	var usual, strict Record
	if err := json.Unmarshal(body, &usual); err != nil {
		t.Fatal(err)
	}
	if err := jsonv2.Unmarshal(body, &strict); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(usual, strict) {
		t.Errorf("read differently:\n%+v\n%+v", usual, strict)
	}
	if string(usual.Metadata) != string(full.Metadata) || string(usual.Message) != string(full.Message) {
		t.Errorf("message %s, metadata %s", usual.Message, usual.Metadata)
	}
	fields := reflect.ValueOf(usual.Notification)
	for i := range fields.NumField() {
		f := fields.Type().Field(i).Name
		if fields.Field(i).IsZero() && !slices.Contains([]string{"Duplicate", "Final", "Differs", "Segments"}, f) {
			t.Errorf("%s is empty in a row that has everything", f)
		}
	}
}

// A stored message that is no JSON, as only a changed file can have it, is shown as text and breaks no answer. (F15)
func TestGolden_BrokenContentIsShownAsText(t *testing.T) {
	s := newStub()
	s.row.Message, s.row.Metadata = []byte(`{"text":`), []byte("\xff\x00")
	s.record = &ledger.Record{Notification: s.row}
	var r Record
	body := answerOf(t, New(s, Settings{}, quiet()), "GET", "/v1/notifications/"+rowA.String(), "").body
	if err := json.Unmarshal(body, &r); err != nil || string(r.Message) != `"{\"text\":"` {
		t.Errorf("%v: %s", err, body)
	}
}
