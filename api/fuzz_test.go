package api

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Whatever bytes come, decoding ends with an event or a refusal that names a field. What is accepted is the
// same to every reader of JSON, and writing it and reading it again gives the same event.
func FuzzDecode_Event(f *testing.F) {
	valid := bodies["POST /v1/notifications"]
	f.Add([]byte(valid))
	for _, s := range []string{"", "null", "[]", "{", `{"event_id":"a\u0000"}`, `{"event_id":"\ud800"}`, `{"a":1,"a":2}`, `{"metadata":{"n":1e400,"m":{"m":{}}}}`,
		strings.Repeat(`{"message":`, 70), `{"message":"\\u0000"}`, `{"event_id":"\\\u0000"}`, "{\"event_id\":\"\xff\"}", `{"Event_id":1}`, ` {"source":null} `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		given := string(body)
		var e Event
		err := decode(body, &e)
		if string(body) != given {
			t.Fatal("the body was changed")
		}
		if err != nil {
			r, known := refusalOf(err)
			if !known || len(r.problem.Errors) == 0 || r.problem.Errors[0].Field == "" || r.problem.Errors[0].Detail == "" {
				t.Fatalf("refused without a reason: %v", err)
			}
			return
		}
		for i := range body {
			body[i] = 'x' // the memory is used again for the next body
		}
		var usual Event
		if err := json.Unmarshal([]byte(given), &usual); err != nil {
			t.Fatalf("accepted what another reader refuses: %v", err)
		}
		if !reflect.DeepEqual(usual, e) {
			t.Fatalf("two readers see different events:\n%+v\n%+v", usual, e)
		}
		again, err := jsonv2.Marshal(e, jsontext.PreserveRawStrings(true))
		if err != nil {
			t.Fatal(err)
		}
		var back Event
		if err := decode(again, &back); err != nil {
			t.Fatalf("%s is refused: %v", again, err)
		}
		if back.EventID != e.EventID || back.Recipient != e.Recipient || !reflect.DeepEqual(back.Source, e.Source) || !reflect.DeepEqual(back.DedupeKey, e.DedupeKey) {
			t.Fatalf("%+v came back as %+v", e, back)
		}
		if strings.Contains(e.EventID+e.Recipient+e.UserID, "\x00") {
			t.Fatal("NUL was accepted")
		}
	})
}

// A batch is cut into items without a panic, and each item is a whole JSON value.
func FuzzDecode_Batch(f *testing.F) {
	f.Add([]byte(bodies["POST /v1/notifications/batch"]))
	for _, s := range []string{`{"notifications":[]}`, `{"notifications":[{},[],null,"x",1]}`, `{"notifications":[{"a":1,"a":2}],"notifications":[]}`, `{"notifications":[`, `{"x":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		items := 0
		err := eachItem(body, func(item []byte) {
			items++
			if !json.Valid(item) {
				t.Fatalf("no JSON: %q", item)
			}
		})
		if err == nil && items == 0 {
			t.Fatal("an empty batch was accepted")
		}
		if err != nil {
			if _, known := refusalOf(err); !known {
				t.Fatalf("refused without a reason: %v", err)
			}
		}
	})
}
