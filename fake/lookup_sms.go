package fake

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

func twilioNo(status int, word string) any {
	code := map[int]int{401: 20003, 404: 20404, 429: 20429, 500: 20500}[status]
	if code == 0 {
		code = 20001
	}
	return map[string]any{"code": code, "message": word, "more_info": "", "status": status}
}

// twilioOne reports whether a path is one message's.
func twilioOne(path string) bool {
	return strings.HasPrefix(path, "/2010-04-01/Accounts/") && strings.Contains(path, "/Messages/") && strings.HasSuffix(path, ".json")
}

func twilioResource(m *message) map[string]any {
	at := m.At.UTC().Format(time.RFC1123Z)
	row := map[string]any{
		"account_sid": m.account, "api_version": "2010-04-01", "body": m.text, "date_created": at, "date_sent": nil, "date_updated": at,
		"direction": "outbound-api", "error_code": nil, "error_message": nil, "from": m.from, "to": m.to, "messaging_service_sid": nil,
		"num_media": "0", "num_segments": "1", "price": nil, "price_unit": "USD", "sid": m.ID, "status": m.word(time.Now()),
		"subresource_uris": map[string]any{}, "uri": "/2010-04-01/Accounts/" + m.account + "/Messages/" + m.ID + ".json",
	}
	if m.service != "" {
		row["messaging_service_sid"] = m.service
	}
	if m.from == "" {
		row["from"] = "+15005550006" // one that the service chose
	}
	if sent := twilioSent(m); !sent.IsZero() {
		row["date_sent"] = sent.UTC().Format(time.RFC1123Z)
	}
	return row
}

// twilioSent is when a message left Twilio; zero: not yet.
func twilioSent(m *message) time.Time {
	if m.word(time.Now()) == "queued" {
		return time.Time{}
	}
	return m.At.Add(m.way.steps[0].after)
}

// twilioDate reads the day or time that a filter names.
func twilioDate(text string) (time.Time, bool) {
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(form, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// twilioMessages is GET …/Messages.json. A filter that it does not know is as good as none.
func (p *Provider) twilioMessages(r *http.Request, _ []byte) (int, any) {
	q, account := r.URL.Query(), strings.Split(r.URL.Path, "/")[3]
	size, page := 50, 0
	for name, n := range map[string]*int{"PageSize": &size, "Page": &page} {
		if q.Has(name) {
			var err error
			if *n, err = strconv.Atoi(q.Get(name)); err != nil {
				return http.StatusBadRequest, twilioNo(400, "Invalid "+name)
			}
		}
	}
	switch _, _, ok := r.BasicAuth(); {
	case !ok:
		return http.StatusUnauthorized, twilioNo(401, "Authenticate")
	case size < 1 || size > 1000 || page < 0 || page > 0 && q.Get("PageToken") == "":
		return http.StatusBadRequest, twilioNo(400, "Invalid page")
	}
	fits := func(m *message) bool {
		return m.kind == "twilio" && m.account == account && (q.Get("From") == "" || m.from == q.Get("From"))
	}
	for name, in := range map[string]func(sent, at time.Time) bool{
		"DateSent":  func(sent, at time.Time) bool { return sent.Truncate(24 * time.Hour).Equal(at.Truncate(24 * time.Hour)) },
		"DateSent<": func(sent, at time.Time) bool { return !sent.After(at) },
		"DateSent>": func(sent, at time.Time) bool { return !sent.Before(at) },
	} {
		if !q.Has(name) {
			continue
		}
		at, ok := twilioDate(q.Get(name))
		if !ok {
			return http.StatusBadRequest, twilioNo(400, "Invalid "+name)
		}
		before := fits
		fits = func(m *message) bool {
			sent := twilioSent(m)
			return before(m) && !sent.IsZero() && in(sent, at)
		}
	}
	return http.StatusOK, twilioPage(r.URL, p.visible(q.Get("To"), fits), size, page)
}

// twilioPage is one page of a list.
func twilioPage(u *url.URL, list []*message, size, page int) any {
	link := func(page int) string {
		q := u.Query()
		q.Set("PageSize", strconv.Itoa(size))
		q.Set("Page", strconv.Itoa(page))
		q.Set("PageToken", "PA"+strconv.Itoa(page))
		return u.Path + "?" + q.Encode()
	}
	first, end := min(page*size, len(list)), min((page+1)*size, len(list))
	rows := []any{}
	for _, m := range list[first:end] {
		rows = append(rows, twilioResource(m))
	}
	out := map[string]any{
		"messages": rows, "page": page, "page_size": size, "start": first, "end": max(first, end-1), "uri": u.RequestURI(),
		"first_page_uri": link(0), "next_page_uri": nil, "previous_page_uri": nil,
	}
	if end < len(list) {
		out["next_page_uri"] = link(page + 1)
	}
	return out
}

// twilioMessage is GET …/Messages/{Sid}.json.
func (p *Provider) twilioMessage(r *http.Request, _ []byte) (int, any) {
	if _, _, ok := r.BasicAuth(); !ok {
		return http.StatusUnauthorized, twilioNo(401, "Authenticate")
	}
	id := strings.TrimSuffix(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], ".json")
	if m := p.byMessageID("twilio", id); m != nil && strings.Contains(r.URL.Path, "/"+m.account+"/") {
		return http.StatusOK, twilioResource(m)
	}
	return http.StatusNotFound, twilioNo(404, "The requested resource was not found")
}

func vonageNo(status int, word string) any {
	return map[string]any{
		"type": "https://developer.nexmo.com/api-errors/reports#fake", "title": http.StatusText(status), "detail": word, "instance": "fake",
	}
}

// vonageFilters are what a look-up may ask for, by product.
var vonageFilters = map[string][]string{
	"SMS":      {"id", "client_ref", "to", "from", "status", "network", "country", "include_message", "show_concatenated"},
	"MESSAGES": {"id", "to", "from", "status", "provider", "include_message"},
}

// vonageReports is GET /v2/reports/records, for what was sent.
func (p *Provider) vonageReports(r *http.Request, _ []byte) (int, any) {
	q := r.URL.Query()
	user, password, ok := r.BasicAuth()
	if !ok || user == "" || password == "" {
		return http.StatusUnauthorized, vonageNo(401, "You did not provide correct credentials.")
	}
	refuse := func(name, why string) (int, any) {
		return http.StatusUnprocessableEntity, map[string]any{
			"title": "Unprocessable entity", "invalid_parameters": []any{map[string]any{"name": name, "reason": why}}, "instance": "fake",
		}
	}
	product := q.Get("product")
	filters, ok := vonageFilters[product]
	switch {
	case q.Get("account_id") != user:
		return http.StatusForbidden, vonageNo(403, "User not authorized to query the requested data")
	case !ok:
		return refuse("product", "Could not resolve product name.")
	case q.Get("direction") != "outbound":
		return refuse("direction", "Missing required parameter")
	}
	for name := range q {
		if !slices.Contains([]string{"account_id", "product", "direction", "date_start", "date_end"}, name) && !slices.Contains(filters, name) {
			return refuse(name, "Unknown parameter")
		}
	}
	start, end, ok := vonageDates(q)
	if !ok {
		return refuse("date_end", "Missing required parameter, or more than 24 hours after date_start")
	}
	kind := map[string]string{"SMS": "vonage_sms", "MESSAGES": "vonage_messages"}[product]
	ids := strings.Split(q.Get("id"), ",")
	list := p.visible(q.Get("to"), func(m *message) bool {
		return m.kind == kind && (m.account == user || m.account == "") &&
			(q.Has("id") && slices.Contains(ids, m.ID) || !q.Has("id") && !m.At.Before(start) && m.At.Before(end)) &&
			(!q.Has("client_ref") || m.reference == q.Get("client_ref")) && (!q.Has("from") || m.from == q.Get("from")) &&
			(!q.Has("status") || m.word(time.Now()) == q.Get("status"))
	})
	records := []any{}
	for _, m := range list {
		records = append(records, vonageRecord(m, user, q.Get("include_message") == "true"))
	}
	return http.StatusOK, map[string]any{
		"_links": map[string]any{"self": map[string]any{"href": "https://api.nexmo.com" + r.URL.RequestURI()}}, "request_id": "fake",
		"request_status": "SUCCESS", "received_at": time.Now().UTC().Format(vonageTime), "price": 0.0, "currency": "EUR", "account_id": user,
		"product": product, "direction": "outbound", "include_message": q.Get("include_message"), "items_count": len(records), "records": records,
	}
}

const vonageTime = "2006-01-02T15:04:05-0700"

// vonageDates reads the time that is asked for: exactly one of it and the ids.
func vonageDates(q url.Values) (start, end time.Time, ok bool) {
	if q.Has("id") {
		return start, end, !q.Has("date_start") && !q.Has("date_end") && !q.Has("status")
	}
	for _, form := range []string{time.RFC3339, vonageTime} {
		var one, other error
		start, one = time.Parse(form, q.Get("date_start"))
		end, other = time.Parse(form, q.Get("date_end"))
		if one == nil && other == nil {
			return start, end, end.Sub(start) <= 24*time.Hour && end.After(start)
		}
	}
	return start, end, false
}

func vonageRecord(m *message, account string, text bool) map[string]any {
	record := map[string]any{
		"account_id": account, "message_id": m.ID, "client_ref": m.reference, "direction": "outbound", "from": m.from, "to": m.to,
		"country": "US", "country_name": "United States", "date_received": m.At.UTC().Format(vonageTime), "date_finalized": m.At.UTC().Format(vonageTime),
		"latency": "42", "status": m.word(time.Now()), "error_code": "0", "currency": "EUR", "total_price": "0.0333",
	}
	if m.kind == "vonage_messages" {
		record["provider"] = "vonage_sms"
	} else {
		record["concatenated"], record["network"], record["network_name"], record["error_code_description"] = "false", "23410", "fake", "Delivered"
	}
	if text {
		record["message_body"] = m.text
	}
	return record
}
