package providers

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sendonce/ledger"
)

// finderKit is what a case needs to run on any adapter that looks messages up. The adapters are those of kits.
type finderKit struct {
	kit
	searches []ledger.Search // of the fixtures: two rows whose answers were lost
}

const (
	firstRow  = "01939c7e-0000-7000-8000-000000000001"
	secondRow = "01939c7e-0000-7000-8000-000000000002"
)

// lostRow is a row whose only attempt lasted for 15 seconds from testTime on.
func lostRow(id, wireKey string, o ledger.Order) ledger.Search {
	return ledger.Search{
		ID: id, WireKey: wireKey, Channel: o.Channel, Recipient: o.Recipient, Message: o.Message,
		From: testTime.Add(-time.Minute), Until: testTime.Add(15*time.Second + 5*time.Minute),
	}
}

// eachFinder runs a case on every adapter that looks messages up.
func eachFinder(t *testing.T, run func(t *testing.T, k finderKit)) {
	for _, k := range finders(t) {
		t.Run(k.name, func(t *testing.T) { run(t, k) })
	}
}

// finders are the adapters that look messages up.
func finders(t *testing.T) (list []finderKit) {
	t.Helper()
	for _, k := range kits {
		if _, ok := k.make(t, Common{BaseURL: k.base}).(ledger.Finder); ok {
			order := k.order(k.base)
			list = append(list, finderKit{k, []ledger.Search{lostRow(firstRow, testWire, order), lostRow(secondRow, "wire-2", order)}})
		}
	}
	if len(list) != 5 {
		t.Fatalf("%d adapters look messages up", len(list))
	}
	return list
}

// answers is a dialer whose peers give one answer after the other, one for each connection. After the last one there is none.
type answers struct {
	mu   sync.Mutex
	raw  [][]byte
	seen []served
}

func (a *answers) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		defer func() { _ = server.Close() }()
		req, err := readRequest(bufio.NewReader(server))
		if err != nil {
			return
		}
		a.mu.Lock()
		a.seen = append(a.seen, req)
		var raw []byte
		if len(a.raw) > 0 {
			raw, a.raw = a.raw[0], a.raw[1:]
		}
		a.mu.Unlock()
		_, _ = server.Write(raw)
	}()
	return client, nil
}

// look asks for the kit's searches over a pipe.
func (k finderKit) look(t *testing.T, a *answers) (ledger.LookedUp, error) {
	t.Helper()
	f := k.make(t, Common{BaseURL: k.base, Dial: a.dial}).(ledger.Finder)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	return f.Find(ctx, testTime.Add(time.Hour), k.searches)
}

// summary says what was found, as the second line of a fixture does.
func summary(l ledger.LookedUp, err error) string {
	var out []string
	var failed *ledger.LookUpError
	if errors.As(err, &failed) {
		out = append(out, "error", string(failed.Fault))
		if failed.RetryAfter > 0 {
			out = append(out, "retry="+failed.RetryAfter.String())
		}
		return strings.Join(out, " ")
	}
	if err != nil {
		return err.Error()
	}
	for row, list := range l.Found {
		for _, f := range list {
			out = append(out, "found", "id="+f.MessageID, fmt.Sprintf("attempt=%d", f.Number))
			if f.Delivery != "" {
				out = append(out, "delivery="+string(f.Delivery))
			}
			if f.Code != "" {
				out = append(out, "code="+f.Code)
			}
			if row > 0 {
				out = append(out, fmt.Sprintf("row=%d", row+1))
			}
		}
	}
	if l.Cut {
		out = append(out, "cut")
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, " ")
}

// readLookUp returns the raw answers of a fixture and what they mean.
func readLookUp(t testing.TB, path string) (raw [][]byte, want string) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	source, rest, _ := strings.Cut(string(file), "\n")
	expect, rest, _ := strings.Cut(rest, "\n")
	if !strings.HasPrefix(source, "# source: ") || !strings.HasPrefix(expect, "# expect: ") {
		t.Fatalf("%s must begin with its source and what is expected", path)
	}
	for _, answer := range strings.Split(rest, "\n====\n") {
		header, body, _ := strings.Cut(answer, "\n\n")
		var b bytes.Buffer
		if header != "" {
			b.WriteString(strings.ReplaceAll(header, "\n", "\r\n"))
			if !strings.Contains(header, "Content-Length") {
				b.WriteString("\r\nConnection: close")
			}
			b.WriteString("\r\n\r\n" + body)
		}
		raw = append(raw, b.Bytes())
	}
	return raw, strings.TrimPrefix(expect, "# expect: ")
}

// Each fixture goes through the real sender, as the bytes that a server would send.
func TestFind_Fixtures(t *testing.T) {
	eachFinder(t, func(t *testing.T, k finderKit) {
		paths, err := filepath.Glob("../testdata/lookups/" + k.name + "/*.http")
		if err != nil || len(paths) == 0 {
			t.Fatalf("no fixtures: %v", err)
		}
		for _, path := range paths {
			name := strings.TrimSuffix(filepath.Base(path), ".http")
			t.Run(name, func(t *testing.T) {
				raw, want := readLookUp(t, path)
				if word, _, _ := strings.Cut(want, " "); !strings.HasPrefix(name, word+"_") {
					t.Errorf("the name says something else than %q", want)
				}
				a := &answers{raw: raw}
				got, err := k.look(t, a)
				if s := summary(got, err); s != want {
					t.Errorf("got  %s\nwant %s", s, want)
				}
				if len(a.seen) != len(raw) {
					t.Errorf("%d requests for %d answers", len(a.seen), len(raw))
				}
				checkLookUp(t, a, got, err)
			})
		}
	})
}

// checkLookUp is what holds for every look-up: it only reads, and its evidence holds no secret and nothing personal.
func checkLookUp(t *testing.T, a *answers, l ledger.LookedUp, err error) {
	t.Helper()
	for _, r := range a.seen {
		if r.Method != "GET" && !(r.Method == "POST" && r.URL.Path == "/v3/logs") {
			t.Errorf("%s %s is no reading request", r.Method, r.URL.Path)
		}
	}
	evidence := l.Request
	if err != nil {
		evidence += err.Error()
	} else if l.Request == "" || l.Status != 200 || l.BodyHash == [32]byte{} {
		t.Errorf("evidence %q %d %x", l.Request, l.Status, l.BodyHash)
	}
	for _, list := range l.Found {
		for _, f := range list {
			if f.MessageID == "" || len(f.Body) == 0 || len(f.Body) > ledger.MaxAnswerBytes {
				t.Errorf("found %q with a record of %d bytes", f.MessageID, len(f.Body))
			}
			evidence += f.MessageID + f.Code + string(f.Body)
		}
	}
	for _, private := range []string{testKey, testSecret} {
		if strings.Contains(evidence, private) {
			t.Errorf("the evidence shows %q", private)
		}
	}
	if personal := l.Request; strings.Contains(personal, testNumber[1:]) || strings.Contains(personal, testAddress) {
		t.Errorf("the request shows a recipient: %q", personal)
	}
}
