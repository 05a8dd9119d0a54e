package fake

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
)

// refusal is the status and code of a behaviour that answers an error; 0 for those that answer 200.
func refusal(c *call) (status int, code string) {
	switch c.Behaviour {
	case AcceptError:
		return http.StatusInternalServerError, "INTERNAL"
	case Throttle:
		return http.StatusTooManyRequests, "RATE_LIMITED"
	case Unauthorized:
		return http.StatusUnauthorized, "UNAUTHORIZED"
	case NoCredit:
		return http.StatusPaymentRequired, "INSUFFICIENT_CREDIT"
	case Unavailable:
		return http.StatusServiceUnavailable, "UNAVAILABLE"
	case Refuse:
		if c.kind == "hook" {
			return http.StatusGone, "GONE"
		}
		return http.StatusBadRequest, "INVALID_RECIPIENT"
	case Defer:
		if c.kind == "hook" {
			return http.StatusServiceUnavailable, "LATER"
		}
	}
	return 0, ""
}

// no is the answer of a route to a behaviour that answers an error; status 0 for those that say yes.
func no(c *call) (status int, body any) {
	if c.dialect != nil {
		return c.dialect.no(c.Behaviour)
	}
	status, code := refusal(c)
	return status, envelope(false, nil, map[string]any{"code": code, "message": "the fake was told to"}, 0)
}

// known turns Defer into Throttle where the provider has no such answer.
func (c *call) known() {
	if c.Behaviour != Defer {
		return
	}
	if status, _ := no(c); status == 0 {
		c.Behaviour = Throttle
	}
}

// yes is the answer of a route to an accepted request.
func yes(c *call) (status int, body any) {
	if c.dialect != nil {
		return c.dialect.yes(c.ids[0])
	}
	return http.StatusOK, okBody(c)
}

// idHeader is where a yes has its id when its body is empty; "": in its body.
func idHeader(c *call) string {
	if c.dialect == nil {
		return ""
	}
	return c.dialect.idHeader
}

// okBody is the 200 of Infrai's routes and of a webhook.
func okBody(c *call) any {
	if c.kind == "hook" {
		return map[string]any{"ok": true, "id": c.ids[0]}
	}
	var data map[string]any
	if c.kind == "single" {
		data = map[string]any{"sms_id": c.ids[0], "state": "queued"}
	} else {
		results := make([]map[string]any, len(c.ids))
		for i, id := range c.ids {
			results[i] = map[string]any{"message_id": id}
		}
		data = map[string]any{"results": results}
	}
	return envelope(true, data, nil, c.N)
}

// envelope has the form of every Infrai answer.
func envelope(ok bool, data, problem any, n int) map[string]any {
	return map[string]any{
		"ok": ok, "data": data, "error": problem,
		"metadata": map[string]any{"request_id": fmt.Sprintf("req_fake_%06d", n), "vendor": "fake"},
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	writeJSON(w, status, envelope(false, nil, map[string]any{"code": code, "message": "the fake was told to"}, 0))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings and numbers
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that went is a case of its own
}

// rawOK is the whole answer to an accepted request as bytes, for behaviours below HTTP.
func rawOK(c *call) string {
	status, value := yes(c)
	if name := idHeader(c); name != "" {
		return fmt.Sprintf("HTTP/1.1 %d OK\r\n%s: %s\r\nContent-Length: 0\r\n\r\n", status, name, c.ids[0])
	}
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

// hijack takes the connection out of the server, does something with it, and closes it.
func hijack(w http.ResponseWriter, do func(net.Conn)) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // no connection of its own: to end without an answer is the nearest
	}
	do(conn)
	_ = conn.Close()
}

// reset makes the close that follows a reset instead of an orderly end.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}
