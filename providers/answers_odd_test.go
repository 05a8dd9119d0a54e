package providers

import (
	"fmt"
	"testing"

	"sendonce/ledger"
)

// Answers that are yes and no at once, and yeses that are nobody's: each stays open.
func TestAnswer_OddOnesAreAmbiguous(t *testing.T) {
	for _, c := range []struct {
		kit    string
		status int
		body   string
	}{
		// The provider's own id of a message beside a refusing status: yes and no in one answer.
		{"twilio", 400, `{"sid":"SM1","code":21610,"message":"m","more_info":"x"}`},
		{"twilio", 409, `{"sid":"SM1","status":"queued"}`},
		{"twilio", 429, `{"sid":"SM1","status":"queued"}`},
		{"vonage_messages", 422, `{"message_uuid":"u","title":"x","type":"https://developer.vonage.com/api-errors/messages#1420"}`},
		{"vonage_messages", 429, `{"message_uuid":"u"}`},
		{"resend", 422, `{"id":"x","name":"validation_error","message":"x"}`},
		{"resend", 429, `{"id":"x"}`},
		{"fcm", 400, `{"name":"projects/x/messages/1","error":{"status":"INVALID_ARGUMENT"}}`},
		{"vonage", 413, `{"message-count":"1","messages":[{"status":"0","message-id":"x"}]}`},
		{"vonage", 409, `{"messages":[{"status":0,"message-id":"x"}]}`},
		// The same name twice: nobody can say which counts.
		{"vonage", 200, `{"message-count":"1","messages":[{"status":"0","message-id":"a"}],"messages":[{"status":"1"}]}`},
		{"vonage", 200, `{"message-count":"1","messages":[{"status":"0","status":"9"}]}`},
		{"fcm", 200, `{"error":{"status":"X"},"error":null}`},
		// An error under a 2xx.
		{"sendgrid", 200, `{"errors":[{"message":"x","field":null}]}`},
		{"sendgrid", 202, `{"errors":[{"message":"x","field":null}]}`},
		{"fcm", 200, `{"error":{"status":400}}`},
		{"fcm", 200, `{"error":{"status":"INVALID_ARGUMENT","details":{}}}`},
		{"fcm", 200, `{"error":"x"}`},
		{"resend", 200, `{"statusCode":422,"message":"x"}`},
		{"resend", 200, `{"data":null,"error":{"name":"validation_error","message":"x"}}`},
		// A whole page of somebody else's: only a lost body leaves the yes to the status.
		{"resend", 200, `<html>Sign in</html>`},
		{"fcm", 200, `<html>Sign in</html>`},
		{"sendgrid", 200, `<html>Sign in</html>`},
		{"sendgrid", 203, `<html>Sign in</html>`},
		{"infrai", 400, `{"ok":false,"data":{"sms_id":"x"},"error":{"code":"INSUFFICIENT_CREDIT"}}`},
		{"twilio", 422, `{"sid":"SM1","code":"21610","message":"m"}`},
		{"vonage", 429, `{"messages":[{"status":"1","message-id":"x"}]}`},
		{"vonage", 200, `{"messages":[{"status":"1","message-id":"x"}]}`},
		{"resend", 413, `{"id":"x"}`},
		{"sendgrid", 202, `{"errors":[],"Errors":null}`},
		{"twilio", 201, `[]`},
		{"twilio", 201, `{"sid":"SM1","SID":"SM2"}`},
		{"fcm", 200, `null`},
		{"resend", 200, `{"id":"x","error":"y"}`},
		{"vonage_messages", 202, `<html>Sign in</html>`},
	} {
		t.Run(fmt.Sprintf("%s/%d/%.40s", c.kit, c.status, c.body), func(t *testing.T) {
			k := kitNamed(t, c.kit)
			address := listen(t, afterRequest(make(chan served, 8), write(answer{c.status, c.body}.raw())))
			if r := k.send(t, Common{}, "http://"+address); r.Outcome != ledger.Ambiguous {
				t.Errorf("%d %s is %s %s", c.status, c.body, r.Outcome, r.Fault)
			}
		})
	}
}

// A sender that is refused closes the gate where it is the configured one, and rejects the message that brought its own.
func TestAnswer_RefusedSender(t *testing.T) {
	for name, body := range map[string]string{
		"sendgrid": `{"errors":[{"message":"The from email does not contain a valid address.","field":"from.email"}]}`,
		"resend":   "{\"statusCode\":422,\"name\":\"validation_error\",\"message\":\"Invalid `from` field.\"}",
	} {
		status := map[string]int{"sendgrid": 400, "resend": 422}[name]
		for own, want := range map[bool]ledger.Result{
			false: {Outcome: ledger.Deferred, Fault: ledger.FaultAccount}, true: {Outcome: ledger.Rejected},
		} {
			x := exchange{phase: ledger.Answered, status: status, whole: true, body: []byte(body), ownSender: own}
			if r := kitNamed(t, name).read(&x); r.Outcome != want.Outcome || r.Fault != want.Fault {
				t.Errorf("%s, own sender %v: %s %s", name, own, r.Outcome, r.Fault)
			}
		}
	}
}
