package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// client speaks the API as an application would, with structs of its own, so that it cannot share a mistake.
type client struct {
	url  string
	http *http.Client
}

// row is what these tests read of a notification.
type row struct {
	ID           string    `json:"id"`
	EventID      string    `json:"event_id"`
	DedupeKey    string    `json:"dedupe_key"`
	Duplicate    bool      `json:"duplicate"`
	State        string    `json:"state"`
	Reason       string    `json:"reason"`
	MaybeSent    bool      `json:"maybe_sent"`
	Provider     string    `json:"provider"`
	MessageID    string    `json:"message_id"`
	AttemptCount int       `json:"attempt_count"`
	NextAction   string    `json:"next_action"`
	DueAt        string    `json:"due_at"`
	Version      int64     `json:"version"`
	Attempts     []attempt `json:"attempts"`
}

type attempt struct {
	Number    int        `json:"number"`
	Kind      string     `json:"kind"`
	Provider  string     `json:"provider"`
	StartedAt time.Time  `json:"started_at"`
	EndedAt   *time.Time `json:"ended_at"`
	Outcome   string     `json:"outcome"`
	Phase     string     `json:"phase"`
	Status    int        `json:"status"`
}

// erased reports whether little more is left of the row than its key: what its event was is no longer there.
func (r *row) erased() bool { return r.EventID == "" }

// final reports whether nothing moves such a row by itself. In these tests no person does either.
func (r *row) final() bool { return r.State == "sent" || r.State == "failed" }

// answer is the answer to a claim.
type answer struct {
	row
	Status int    // 0: none came
	Code   string // of a problem
}

func newClient(url string) *client {
	return &client{url: url, http: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 128},
		Timeout:   patience,
	}}
}

// do makes one request; an error means that no answer came or none that could be read.
func (c *client) do(ctx context.Context, method, path string, body []byte, into any, header ...string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	if into != nil {
		if err := json.Unmarshal(raw, into); err != nil {
			return 0, fmt.Errorf("status %d: %w", resp.StatusCode, err)
		}
	}
	return resp.StatusCode, nil
}

// post claims one event; wait > 0 asks to wait for the first attempt.
func (c *client) post(ctx context.Context, body []byte, wait time.Duration) (answer, error) {
	var a answer
	var header []string
	if wait > 0 {
		header = []string{"Prefer", "wait=" + strconv.Itoa(int(wait/time.Second))}
	}
	var err error
	var got struct {
		row
		Code string `json:"code"`
	}
	a.Status, err = c.do(ctx, http.MethodPost, "/v1/notifications", body, &got, header...)
	a.row, a.Code = got.row, got.Code
	return a, err
}

// batch claims several events at once.
func (c *client) batch(ctx context.Context, bodies []json.RawMessage) ([]answer, int, error) {
	body, err := json.Marshal(map[string]any{"notifications": bodies})
	if err != nil {
		return nil, 0, err
	}
	var got struct {
		Results []struct {
			Status       int `json:"status"`
			Notification row `json:"notification"`
			Problem      struct {
				Code string `json:"code"`
			} `json:"problem"`
		} `json:"results"`
	}
	status, err := c.do(ctx, http.MethodPost, "/v1/notifications/batch", body, &got)
	if err != nil || status != http.StatusOK {
		return nil, status, err
	}
	out := make([]answer, len(got.Results))
	for i, r := range got.Results {
		out[i] = answer{row: r.Notification, Status: r.Status, Code: r.Problem.Code}
	}
	return out, status, nil
}

// get reads one row in full.
func (c *client) get(ctx context.Context, id string) (row, error) {
	var r row
	status, err := c.do(ctx, http.MethodGet, "/v1/notifications/"+id, nil, &r)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("get %s: status %d", id, status)
	}
	return r, err
}

// list hands the rows that match to visit, page by page, until it returns false.
func (c *client) list(ctx context.Context, query url.Values, visit func(row) bool) error {
	q := url.Values{"limit": {"500"}}
	for k, v := range query {
		q[k] = v
	}
	for {
		var page struct {
			Notifications []row   `json:"notifications"`
			NextCursor    *string `json:"next_cursor"`
		}
		status, err := c.do(ctx, http.MethodGet, "/v1/notifications?"+q.Encode(), nil, &page)
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("list: status %d: %w", status, err)
		}
		for _, r := range page.Notifications {
			if !visit(r) {
				return nil
			}
		}
		if page.NextCursor == nil {
			return nil
		}
		q.Set("cursor", *page.NextCursor)
	}
}

// none reports whether no row stands in any of the states.
func (c *client) none(ctx context.Context, states ...string) bool {
	for _, s := range states {
		found := false
		err := c.list(ctx, url.Values{"state": {s}, "limit": {"1"}}, func(row) bool { found = true; return false })
		if err != nil || found {
			return false
		}
	}
	return true
}

// ready asks whether a claim can be made durable now.
func (c *client) ready(ctx context.Context) bool {
	status, err := c.do(ctx, http.MethodGet, "/readyz", nil, nil)
	return err == nil && status == http.StatusOK
}
