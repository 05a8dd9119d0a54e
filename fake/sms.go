package fake

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// dialect is how another provider is spoken to: where, in which form, and how it says yes and no.
type dialect struct {
	speaks   func(path string) bool
	text     func(body []byte) (string, error)
	details  func(r *http.Request, body []byte) details // nil: it reports nothing and answers no look-up
	key      string                                     // header of the wire key; "": it honours none
	idHeader string                                     // where a yes has its id; "": in its body
	yes      func(id string) (status int, body any)
	no       func(b Behaviour) (status int, body any)
}

var dialects = map[string]*dialect{
	"sendgrid": sendGrid, "resend": resend, "fcm": fcm,
	"twilio": {
		speaks: func(path string) bool {
			return strings.HasPrefix(path, "/2010-04-01/Accounts/") && strings.HasSuffix(path, "/Messages.json")
		},
		text: formField("Body"), details: twilioDetails,
		yes: func(id string) (int, any) {
			return http.StatusCreated, map[string]any{"sid": id, "status": "queued", "error_code": nil, "error_message": nil}
		},
		no: func(b Behaviour) (int, any) {
			status, code := pick(b, map[Behaviour][2]int{
				AcceptError: {500, 20500}, Throttle: {429, 20429}, Unauthorized: {401, 20003}, NoCredit: {403, 20005},
				Refuse: {400, 21211}, Unavailable: {503, 20503}, Defer: {400, 21611},
			})
			return status, map[string]any{"code": code, "message": "the fake was told to", "more_info": "", "status": status}
		},
	},
	"vonage_sms": {
		speaks: func(path string) bool { return path == "/sms/json" },
		text:   formField("text"), details: vonageSMSDetails,
		yes: func(id string) (int, any) { return http.StatusOK, vonageParts("0", id) },
		no: func(b Behaviour) (int, any) {
			status, code := pick(b, map[Behaviour][2]int{
				AcceptError: {500, 5}, Throttle: {200, 1}, Unauthorized: {200, 4}, NoCredit: {200, 9}, Refuse: {200, 7}, Unavailable: {503, 5},
			})
			return status, vonageParts(strconv.Itoa(code), "")
		},
	},
	"vonage_messages": {
		speaks: func(path string) bool { return path == "/v1/messages" },
		text: func(body []byte) (string, error) {
			var m struct {
				Text string `json:"text"`
			}
			err := json.Unmarshal(body, &m)
			return m.Text, err
		},
		details: vonageMessagesDetails,
		yes:     func(id string) (int, any) { return http.StatusAccepted, map[string]any{"message_uuid": id} },
		no: func(b Behaviour) (int, any) {
			status, code := pick(b, map[Behaviour][2]int{
				AcceptError: {500, 1030}, Throttle: {429, 1000}, Unauthorized: {401, 0}, NoCredit: {402, 1070}, Refuse: {422, 1170}, Unavailable: {503, 1030},
				Defer: {422, 1100},
			})
			link := "https://developer.vonage.com/api-errors/messages#" + strconv.Itoa(code)
			if code == 0 {
				link = "https://developer.vonage.com/api-errors#unauthorized"
			}
			return status, map[string]any{"type": link, "title": "the fake was told to", "detail": "", "instance": "fake"}
		},
	},
}

// speaking finds the dialect of a path; nil: Infrai or a webhook.
func speaking(path string) (kind string, d *dialect) {
	for kind, d := range dialects {
		if d.speaks(path) {
			return kind, d
		}
	}
	return "", nil
}

// pick finds status and code of a behaviour; 0: it says yes.
func pick(b Behaviour, table map[Behaviour][2]int) (status, code int) {
	return table[b][0], table[b][1]
}

func formField(name string) func([]byte) (string, error) {
	return func(body []byte) (string, error) {
		form, err := url.ParseQuery(string(body))
		return form.Get(name), err
	}
}

func vonageParts(status, id string) any {
	part := map[string]any{"status": status}
	if id != "" {
		part["message-id"] = id
	}
	return map[string]any{"message-count": "1", "messages": []any{part}}
}
