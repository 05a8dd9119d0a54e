package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// service is a server that answers every request with the same answer and remembers what came.
type service struct {
	*httptest.Server
	mu   sync.Mutex
	seen []request
}

type request struct {
	line   string // method and path with query
	header http.Header
	body   string
}

// answers plays its answers one after the other, the last one for ever.
func answers(t *testing.T, list ...answer) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		next := list[min(len(s.seen), len(list)-1)]
		s.seen = append(s.seen, request{r.Method + " " + r.URL.RequestURI(), r.Header, string(body)})
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(next.status)
		_, _ = io.WriteString(w, next.body)
	}))
	t.Cleanup(s.Close)
	return s
}

type answer struct {
	status int
	body   string
}

// only is the one request that came.
func (s *service) only(t *testing.T) request {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) != 1 {
		t.Fatalf("%d requests came, want 1: %v", len(s.seen), s.seen)
	}
	return s.seen[0]
}

// result is what a run of the command line left behind.
type result struct {
	code     int
	out, err string
}

// run runs a command line against a service; nil: none is named.
func run(t *testing.T, s *service, stdin string, args ...string) result {
	t.Helper()
	var env []string
	if s != nil {
		env = []string{"SENDONCE_URL=" + s.URL}
	}
	return runWith(t, env, Service{Version: "1.2.3"}, stdin, args...)
}

func runWith(t *testing.T, env []string, svc Service, stdin string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := Run(context.Background(), args, env, Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs}, svc)
	return result{code, out.String(), errs.String()}
}

const id = "01890a5d-ac96-774b-bcce-b302099a8057"

// notification is a row as the API shows it, with some fields changed.
func notification(changes ...string) string {
	row := `{"id":"` + id + `","dedupe_key":"k1","duplicate":false,"state":"claimed","final":false,"maybe_sent":false,` +
		`"reason":null,"next_action":"send","delivery":null,"event_id":"evt_1","event_type":null,"source":"","user_id":null,` +
		`"occurred_at":null,"channel":"sms","recipient":"+14155550142","provider":"infrai_main","lane":"normal","message_id":null,` +
		`"attempt_count":0,"version":1,"resend_of":null,"duplicate_count":0,"last_duplicate_at":null,"suspected_duplicate_of":null,` +
		`"claimed_at":"2026-11-30T09:30:00.000Z","due_at":"2026-11-30T09:30:00.000Z","expires_at":"2026-12-03T09:30:00.000Z",` +
		`"confirmed_at":null,"updated_at":"2026-11-30T09:30:00.000Z"}`
	return strings.NewReplacer(changes...).Replace(row)
}

// lost makes a row ambiguous.
func lost(changes ...string) string {
	return notification(append([]string{
		`"state":"claimed"`, `"state":"ambiguous"`, `"maybe_sent":false`, `"maybe_sent":true`, `"reason":null`, `"reason":"no_answer"`,
		`"version":1`, `"version":3`,
	}, changes...)...)
}
