package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sendonce/terminal"
)

const (
	defaultURL = "http://127.0.0.1:8484"

	dialTimeout = 5 * time.Second
	callTimeout = 30 * time.Second // for a whole call, the wait of a send comes on top
	maxAnswer   = 32 << 20         // bytes
)

// call is one request. It is made once: repeating is for the person, who knows what it would do.
type call struct {
	method  string
	path    string
	query   url.Values
	ifMatch int64 // 0: none
	wait    time.Duration
	body    any    // encoded as JSON; nil: none
	again   string // what to do when the answer is lost
}

// client talks to the running service.
type client struct {
	base *url.URL
	key  string
	http *http.Client
}

// client makes a client of the flags and the environment.
func (a *app) client() (*client, error) {
	address, from := a.url, "--url"
	if address == "" {
		address, from = a.lookUp("SENDONCE_URL"), "SENDONCE_URL"
	}
	if address == "" {
		address = defaultURL
	}
	base, err := url.Parse(address)
	if err != nil || base.Hostname() == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil || base.RawQuery != "" {
		return nil, usage("%s must be the address of the service, such as %s, without user name and query", from, defaultURL)
	}
	key := a.key
	if key == "" {
		key = a.lookUp("SENDONCE_KEY")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, usage("the API key must be printable ASCII without blanks")
	}
	transport := &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		DialContext:       (&net.Dialer{Timeout: dialTimeout}).DialContext,
		DisableKeepAlives: true, // Go's transport repeats requests on its own when a kept connection breaks
	}
	return &client{base: base, key: key, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// do makes a call and returns the body of a 2xx answer. Other errors than these two are the command line's:
// a *problemError when the service said no, a *lostError when there was no answer of a service.
func (c *client) do(ctx context.Context, k call) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout+k.wait)
	defer cancel()
	req, err := c.request(ctx, k)
	if err != nil {
		return nil, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, c.lost(err, k)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, c.lost(err, k)
	}
	switch {
	case len(body) > maxAnswer:
		return nil, &lostError{fmt.Sprintf("the service at %s answered more than %d bytes", c.base.Host, maxAnswer)}
	case res.StatusCode >= 200 && res.StatusCode <= 299 && json.Valid(body):
		return body, nil
	}
	p := &problemError{status: res.StatusCode, body: body, again: k.again}
	if err := json.Unmarshal(body, &p.problem); err != nil || p.problem.Code == "" {
		return nil, &lostError{fmt.Sprintf("%s answered %d, but not as sendonce does: is the address right?%s", c.base.Host, res.StatusCode, sentence(k.again))}
	}
	return nil, p
}

// request builds a call. Its errors are about what was typed; nothing has left then.
func (c *client) request(ctx context.Context, k call) (*http.Request, error) {
	var body io.Reader
	if k.body != nil {
		text, err := encode(k.body)
		if err != nil {
			return nil, usage("the request can't be written as JSON: %v", err)
		}
		body = bytes.NewReader(text)
	}
	target := strings.TrimRight(c.base.String(), "/") + k.path
	if len(k.query) > 0 {
		target += "?" + k.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, k.method, target, body)
	if err != nil {
		return nil, usage("the request can't be made: %v", cause(err))
	}
	req.Header.Set("Accept", "application/json")
	if k.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	if k.ifMatch != 0 {
		req.Header.Set("If-Match", fmt.Sprintf(`"%d"`, k.ifMatch))
	}
	if k.wait > 0 {
		req.Header.Set("Prefer", fmt.Sprintf("wait=%d", int(k.wait/time.Second)))
	}
	return req, nil
}

// path is a path of the API; its steps are ids and names that need no escaping.
func path(steps ...string) string { return "/v1/" + strings.Join(steps, "/") }

// encode writes JSON without touching the letters of a message.
func encode(value any) ([]byte, error) {
	if raw, ok := value.(json.RawMessage); ok {
		return raw, nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(value)
	return buf.Bytes(), err
}

// fetch makes a call and, for people, decodes its answer into value. shown is true when the JSON was printed
// as it came, so that nothing is left to show.
func (a *app) fetch(ctx context.Context, k call, value any) (shown bool, err error) {
	c, err := a.client()
	if err != nil {
		return false, err
	}
	body, err := c.do(ctx, k)
	if err != nil {
		return false, err
	}
	if err := c.decode(body, k, value); err != nil {
		return false, err
	}
	if a.json {
		return true, a.raw(body)
	}
	return false, nil
}

// read makes a call and decodes its answer, whatever is printed.
func (c *client) read(ctx context.Context, k call, value any) error {
	body, err := c.do(ctx, k)
	if err != nil {
		return err
	}
	return c.decode(body, k, value)
}

// decode reads an answer of the service.
func (c *client) decode(body []byte, k call, value any) error {
	if err := json.Unmarshal(body, value); err != nil {
		return &lostError{fmt.Sprintf("the answer of %s can't be read: is it another version of sendonce?%s", c.base.Host, sentence(k.again))}
	}
	return nil
}

// raw prints JSON as it came. What would steer a terminal stands there by its number, which means the same.
func (a *app) raw(body []byte) error {
	if a.out().Live() {
		body = terminal.EscapeJSON(body)
	}
	_, err := a.streams.Out.Write(append(bytes.TrimRight(body, "\n"), '\n'))
	return exitNo(err)
}
