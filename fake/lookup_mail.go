package fake

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func sendGridNo(_ int, word string) any {
	return map[string]any{"errors": []any{map[string]any{"message": word, "field": nil, "help": nil}}}
}

func bearer(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && token != ""
}

// condition is one part of a query of the Email Logs API.
var condition = regexp.MustCompile(`^(sg_message_id|subject|to_email|reason) = (?:'([^']*)'|"([^"]*)")$|` +
	`^(status|categories) IN \(((?:'[^']*'|"[^"]*")(?:, ?(?:'[^']*'|"[^"]*"))*)\)$|` +
	`^(sg_message_id_created_at) (>=|<=|>|<) TIMESTAMP "([^"]+)"$`)

// sendGridQuery turns a query into a test; false: the API refuses it.
func sendGridQuery(query string) (to string, fits func(*message) bool, ok bool) {
	var tests []func(*message) bool
	for _, part := range strings.Split(query, " AND ") {
		g := condition.FindStringSubmatch(part)
		switch {
		case query == "":
		case g == nil:
			return "", nil, false
		case g[1] == "to_email":
			to = g[2] + g[3]
		case g[1] != "":
			field, value := g[1], g[2]+g[3]
			tests = append(tests, func(m *message) bool {
				return value == map[string]string{"sg_message_id": m.logID(), "subject": m.subject}[field]
			})
		case g[4] != "":
			field, list := g[4], strings.Split(strings.NewReplacer("'", "", `"`, "", ", ", ",").Replace(g[5]), ",")
			tests = append(tests, func(m *message) bool {
				if field == "status" {
					return slices.Contains(list, sendGridStatus(m))
				}
				return slices.ContainsFunc(m.category, func(c string) bool { return slices.Contains(list, c) })
			})
		default:
			at, err := time.Parse(time.RFC3339, g[8])
			if err != nil {
				return "", nil, false
			}
			operator := g[7]
			tests = append(tests, func(m *message) bool {
				order := m.At.Truncate(time.Second).Compare(at)
				return order > 0 && operator[0] == '>' || order < 0 && operator[0] == '<' || order == 0 && len(operator) == 2
			})
		}
	}
	return to, func(m *message) bool {
		return m.kind == "sendgrid" && !slices.ContainsFunc(tests, func(test func(*message) bool) bool { return !test(m) })
	}, true
}

// sendGridStatus is the word of the logs for what was reported last.
func sendGridStatus(m *message) string {
	word := m.word(time.Now())
	return map[string]string{
		"bounce": "bounced", "open": "delivered", "click": "delivered", "spamreport": "delivered",
	}[word] + map[string]string{"processed": word, "deferred": word, "delivered": word, "dropped": word}[word]
}

func sendGridRow(m *message) map[string]any {
	return map[string]any{
		"from_email": m.from, "sg_message_id": m.logID(), "subject": m.subject, "to_email": m.to, "reason": "",
		"status": sendGridStatus(m), "sg_message_id_created_at": m.At.UTC().Format(time.RFC3339),
	}
}

// sendGridLogs is POST /v3/logs. Its rows have no custom_args.
func (p *Provider) sendGridLogs(r *http.Request, body []byte) (int, any) {
	var ask struct {
		Query    *string  `json:"query"`
		Limit    *int     `json:"limit"`
		Subusers []string `json:"subusers"`
	}
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.DisallowUnknownFields()
	limit, query := 10, ""
	switch err := decoder.Decode(&ask); {
	case !bearer(r):
		return http.StatusUnauthorized, sendGridNo(0, "authorization required")
	case r.Header.Get("Content-Type") != "application/json" || err != nil:
		return http.StatusBadRequest, sendGridNo(0, "bad request")
	}
	if ask.Limit != nil {
		limit = *ask.Limit
	}
	if ask.Query != nil {
		query = *ask.Query
	}
	to, fits, ok := sendGridQuery(query)
	if !ok || limit < 1 || limit > 1000 {
		return http.StatusBadRequest, sendGridNo(0, "invalid query or limit")
	}
	rows := []any{}
	for _, m := range p.visible(to, fits) {
		if len(rows) < limit {
			rows = append(rows, sendGridRow(m))
		}
	}
	return http.StatusOK, map[string]any{"messages": rows}
}

// sendGridLog is GET /v3/logs/{sg_message_id}.
func (p *Provider) sendGridLog(r *http.Request, _ []byte) (int, any) {
	id := strings.TrimPrefix(r.URL.Path, "/v3/logs/")
	prefix, _, _ := strings.Cut(id, ".")
	m := p.byMessageID("sendgrid", prefix)
	switch {
	case !bearer(r):
		return http.StatusUnauthorized, sendGridNo(0, "authorization required")
	case m == nil || m.logID() != id:
		return http.StatusNotFound, sendGridNo(0, "not found")
	}
	row := sendGridRow(m)
	delete(row, "reason")
	delete(row, "sg_message_id_created_at")
	row["api_key_id"], row["client_ip"], row["category"], row["custom_args"] = "fake", "203.0.113.7", m.category, m.args
	row["events"] = []any{map[string]any{"event": "received", "recv_msgid": m.ID, "timestamp": m.At.Unix(), "sg_event_id": "fake", "api_key_id": "fake", "api_version": "3"}}
	return http.StatusOK, row
}

func resendNo(status int, word string) any {
	return map[string]any{"statusCode": status, "name": word, "message": "the fake says no"}
}

func resendRow(m *message) map[string]any {
	return map[string]any{
		"id": m.ID, "to": []string{m.to}, "from": m.from, "created_at": m.At.UTC().Format("2006-01-02 15:04:05.000000+00"), "subject": m.subject,
		"bcc": nil, "cc": nil, "reply_to": nil, "last_event": m.word(time.Now()), "message_id": "<" + m.ID + "@email.example.test>",
	}
}

// resendEmails is GET /emails: the newest mails, without their texts and tags.
func (p *Provider) resendEmails(r *http.Request, _ []byte) (int, any) {
	q := r.URL.Query()
	limit, err := 20, error(nil)
	if q.Has("limit") {
		limit, err = strconv.Atoi(q.Get("limit"))
	}
	switch {
	case !bearer(r):
		return http.StatusUnauthorized, resendNo(401, "missing_api_key")
	case err != nil || limit < 1 || limit > 100 || q.Has("after") && q.Has("before"):
		return http.StatusUnprocessableEntity, resendNo(422, "validation_error")
	}
	list := p.visible("", func(m *message) bool { return m.kind == "resend" })
	if id := q.Get("after"); id != "" { // those that stand behind it, which are older
		list = list[1+slices.IndexFunc(list, func(m *message) bool { return m.ID == id }):]
	}
	if id := q.Get("before"); id != "" {
		list = list[:max(0, slices.IndexFunc(list, func(m *message) bool { return m.ID == id }))]
		list = list[max(0, len(list)-limit):]
	}
	rows := []any{}
	for _, m := range list[:min(limit, len(list))] {
		rows = append(rows, resendRow(m))
	}
	return http.StatusOK, map[string]any{"object": "list", "has_more": len(list) > limit, "data": rows}
}

// resendEmail is GET /emails/{id}.
func (p *Provider) resendEmail(r *http.Request, _ []byte) (int, any) {
	if !bearer(r) {
		return http.StatusUnauthorized, resendNo(401, "missing_api_key")
	}
	m := p.byMessageID("resend", strings.TrimPrefix(r.URL.Path, "/emails/"))
	if m == nil {
		return http.StatusNotFound, resendNo(404, "not_found")
	}
	row := resendRow(m)
	row["object"], row["html"], row["text"] = "email", m.html, m.text
	return http.StatusOK, row
}
