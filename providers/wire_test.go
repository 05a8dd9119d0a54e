package providers

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"sendonce/ledger"
)

// described is an adapter whose provider describes its API in a document that a mock server reads.
type described struct {
	spec  string // the document in testdata/specs
	forms func(t *testing.T, base string) []requestForm
	post  func(p ledger.Provider) *sender
	wrong []wrongRequest
}

// requestForm is one form of request.
type requestForm struct {
	name    string
	adapter ledger.Provider
	order   ledger.Order
}

// wrongRequest makes a good request wrong.
type wrongRequest struct {
	name     string
	change   func(*request)
	unlogged bool // Prism refuses it before it writes a line
}

// Every form of request that an adapter makes goes to Prism, which holds it against the provider's own description, closed
// against fields that it does not name. A request that is wrong on purpose is found, or nothing would be proven.
func TestWire_RequestsFitTheProvidersDescriptions(t *testing.T) {
	for _, d := range describedAPIs {
		t.Run(d.spec, func(t *testing.T) {
			t.Parallel()
			spec := readDescription(t, d.spec)
			spec.prepare(t)
			p := startPrism(t, spec)
			forms := d.forms(t, p.url)
			sent, findings, found := map[string]bool{}, 0, 0
			for _, f := range forms {
				r := requestOf(t, f)
				key := r.header.Get("Authorization") + string(r.body)
				if sent[key] {
					continue // two ways to the same bytes
				}
				sent[key] = true
				answer, log := p.hold(t, d.post(f.adapter), r, true)
				answer = append(answer, spec.unknown(r)...)
				if findings += len(answer) + len(log); len(answer)+len(log) > 0 {
					t.Errorf("%s: the answer says %q, the log %q\n%.2000s", f.name, answer, log, r.body)
				}
			}
			for _, b := range d.wrong {
				r := requestOf(t, forms[0])
				b.change(r)
				answer, log := p.hold(t, d.post(forms[0].adapter), r, !b.unlogged)
				if (len(answer) == 0 || len(log) == 0 && !b.unlogged) && len(spec.unknown(r)) == 0 {
					t.Errorf("%s is not found: the answer says %q, the log %q", b.name, answer, log)
					continue
				}
				found++
			}
			t.Logf("%-26s %4d forms of request, %d findings; %d of %d wrong requests found", d.spec, len(sent), findings, found, len(d.wrong))
		})
	}
}

// requestOf builds a form's request.
func requestOf(t *testing.T, f requestForm) *request {
	t.Helper()
	built, err := f.adapter.Build(f.order)
	if err != nil {
		t.Fatal(err)
	}
	return built.(*request)
}

// replaced changes a text in the body that must be there.
func replaced(old, new string) func(*request) {
	return func(r *request) {
		if !bytes.Contains(r.body, []byte(old)) {
			panic("the request has no " + old + ": " + string(r.body))
		}
		r.body = bytes.Replace(r.body, []byte(old), []byte(new), 1)
	}
}

func withHeader(name, value string) func(*request) {
	return func(r *request) {
		if r.header.Del(name); value != "" {
			r.header.Set(name, value)
		}
	}
}

func atPath(old, new string) func(*request) {
	return func(r *request) { r.url = strings.Replace(r.url, old, new, 1) }
}

// cross makes a form of each adapter with each message and each time of life.
func cross(adapters map[string]ledger.Provider, base ledger.Order, messages map[string]string) (out []requestForm) {
	for _, adapter := range slices.Sorted(maps.Keys(adapters)) {
		for _, message := range slices.Sorted(maps.Keys(messages)) {
			for _, life := range lives {
				o := base
				o.Message, o.ExpiresAt = []byte(messages[message]), life.expires
				out = append(out, requestForm{adapter + ", " + message + ", " + life.name, adapters[adapter], o})
			}
		}
	}
	return out
}

var noAuthorization = wrongRequest{name: "no Authorization", change: withHeader("Authorization", "")}

func wrongType(contentType string) wrongRequest {
	return wrongRequest{name: "another content type", change: withHeader("Content-Type", contentType), unlogged: strings.Contains(contentType, "json")}
}
