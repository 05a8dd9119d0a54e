package providers

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"sendonce/ledger"
)

// may says which outcomes the documented tables have for an answered request; everything else has to end ambiguous.
var may = map[string]func(x *exchange, o ledger.Outcome) bool{
	"infrai": func(x *exchange, o ledger.Outcome) bool {
		var a struct {
			OK   bool
			Data json.RawMessage
		}
		readable := x.whole && json.Unmarshal(x.body, &a) == nil
		kind := x.status / 100
		switch o {
		case ledger.Accepted:
			return kind == 2 && readable && a.OK && bytes.Contains(a.Data, []byte("_id"))
		case ledger.Rejected:
			return x.status == 413 || x.whole && slices.Contains([]int{400, 404, 405, 415, 422}, x.status)
		case ledger.Deferred:
			return kind == 3 || kind == 4 && x.status != 408 && x.status != 425 && x.status != 413 ||
				kind == 2 && readable && bytes.Contains(x.body, []byte("INSUFFICIENT_CREDIT"))
		}
		return true
	},
	"twilio":          mayStatus(func(status int) bool { return status == 201 }),
	"vonage_messages": mayStatus(func(status int) bool { return status == 202 }),
	"vonage": func(x *exchange, o ledger.Outcome) bool {
		kind := x.status / 100
		parts := x.whole && bytes.Contains(x.body, []byte("essages")) && bytes.Contains(x.body, []byte(`"`))
		sure := kind != 5 && x.status != 408 && x.status != 425
		switch o {
		case ledger.Accepted:
			return kind == 2 && parts
		case ledger.Rejected:
			return x.status == 413 || parts && sure && kind >= 2
		case ledger.Deferred:
			return kind == 3 || kind == 4 && sure && x.status != 413 || kind == 2 && parts
		}
		return true
	},
	"sendgrid": mayStatus(func(status int) bool { return status/100 == 2 }),
	"resend":   mayStatus(func(status int) bool { return status == 200 }),
	"fcm":      mayStatus(func(status int) bool { return status == 200 }),
	"webhook": func(x *exchange, o ledger.Outcome) bool {
		kind := x.status / 100
		final := x.status == 410 || kind == 3
		switch o {
		case ledger.Accepted:
			return kind == 2
		case ledger.Rejected:
			return final
		case ledger.Deferred:
			return (kind == 4 || kind == 5) && !final && !x.cut && x.status != 502 && x.status != 504
		}
		return kind != 2 && !final
	},
}

// mayStatus is the table of an adapter whose provider says yes with some statuses and has codes for its noes.
func mayStatus(yes func(status int) bool) func(x *exchange, o ledger.Outcome) bool {
	return func(x *exchange, o ledger.Outcome) bool {
		kind := x.status / 100
		switch o {
		case ledger.Accepted:
			return yes(x.status)
		case ledger.Rejected:
			return x.status == 413 || x.whole && kind == 4 && x.status != 408 && x.status != 425
		case ledger.Deferred:
			return kind == 3 || kind == 4 && x.status != 408 && x.status != 425 && x.status != 413
		}
		return true
	}
}

// checkRead reads an exchange with every adapter and holds the result against its table.
func checkRead(t *testing.T, k kit, x exchange) {
	t.Helper()
	r := k.read(&x)
	checkForm(t, r)
	if x.phase == ledger.Answered && !may[k.name](&x, r.Outcome) {
		t.Errorf("%s: status %d, whole %v, cut %v, body %q: %s is not in the table", k.name, x.status, x.whole, x.cut, x.body, r.Outcome)
	}
}

// An answer is read as data from the network: no bytes may panic an adapter, and no forgotten case may be called
// sent, refused or surely not sent.
func FuzzReadAnswer(f *testing.F) {
	for _, k := range kits {
		paths, err := filepath.Glob("../testdata/providers/" + k.name + "/*.http")
		if err != nil {
			f.Fatal(err)
		}
		for i, path := range paths {
			raw, _ := readFixture(&testing.T{}, path)
			_, body, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
			f.Add(uint16(200+i), body, uint8(0), "30")
			f.Add(uint16(200), body, uint8(1), "Mon, 30 Nov 2026 10:01:30 GMT")
		}
	}
	f.Fuzz(func(t *testing.T, status uint16, body []byte, state uint8, retryAfter string) {
		x := exchange{
			phase: ledger.Answered, status: 1 + int(status)%999, body: body, header: http.Header{"Retry-After": {retryAfter}},
			at: testTime, whole: state%3 == 0, cut: state%3 == 1, secrets: [][]byte{[]byte(testKey)},
		}
		if x.cut {
			x.err = http.ErrBodyReadAfterClose
		}
		for _, k := range kits {
			checkRead(t, k, x)
		}
	})
}

// Every status that can stand on a status line, with every body of the fixtures, whole and cut.
func TestReadAnswer_ForgottenCaseEndsAmbiguous(t *testing.T) {
	bodies := [][]byte{nil, []byte("null"), []byte("{}"), []byte("[]"), []byte("\x00"), []byte(`{"ok":false,"error":{"code":"NEW"}}`),
		[]byte(`{"ok":false,"error":{"code":"INSUFFICIENT_CREDIT"}}`), []byte(`{"ok":true,"data":{"results":[{"message_id":"m"}]}}`),
		[]byte(`{"ok":true,"data":{"sms_id":"m"}}`), []byte(`{"ok":"true","data":{"sms_id":"m"}}`), []byte("<html>"),
		[]byte(`{"errors":[{"message":"m","field":"from"}]}`), []byte(`{"errors":[{"message":"Maximum credits exceeded","field":null}]}`),
		[]byte(`{"statusCode":422,"name":"validation_error","message":"m"}`), []byte(`{"name":"daily_quota_exceeded","message":"m"}`),
		[]byte(`{"error":{"code":404,"status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"}]}}`),
		[]byte(`{"code":21211,"message":"m","more_info":"i","status":400}`), []byte(`{"code":20003,"message":"m","status":401}`), []byte(`{"sid":"SM1"}`),
		[]byte(`{"messages":[{"status":"0","message-id":"m"}]}`), []byte(`{"messages":[{"status":"0"},{"status":"7"}]}`), []byte(`{"messages":[{"status":"5"}]}`),
		[]byte(`{"messages":[{"status":"1"},{"status":"7"}]}`), []byte(`{"messages":[{"status":"0"},{}]}`), []byte(`{"message_uuid":"u"}`),
		[]byte(`{"type":"https://developer.vonage.com/api-errors/messages#1120","title":"t"}`), []byte(`{"title":"t","detail":"d"}`)}
	eachProvider(t, func(t *testing.T, k kit) {
		for status := 1; status <= 999; status++ {
			for _, body := range bodies {
				for _, x := range []exchange{{whole: true}, {cut: true, err: http.ErrBodyReadAfterClose}, {}} {
					x.phase, x.status, x.body = ledger.Answered, status, body
					checkRead(t, k, x)
				}
			}
		}
	})
}
