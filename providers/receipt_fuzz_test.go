package providers

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sendonce/ledger"
)

// FuzzReceipts posts what nobody signed. Whatever it is, it is refused, unless it says what a signed request says.
func FuzzReceipts(f *testing.F) {
	adapters := make([]ledger.Reporter, len(posters))
	signed := make([]ledger.Posted, len(posters))
	said := make([][]ledger.Receipt, len(posters))
	for i, p := range posters {
		adapters[i], signed[i] = p.make(f, true), p.post(p.good, testTime)
		said[i] = bare(taken(f, adapters[i], signed[i]))
		var values []string
		for _, name := range p.headers {
			values = append(values, signed[i].Header[name][0])
		}
		f.Add(uint8(i), signed[i].URL, strings.Join(values, "\n"), signed[i].Body)
		f.Add(uint8(i), signed[i].URL+"?a=b", strings.Join(values, "\n"), []byte(`{"sig":"","timestamp":"1"}`))
	}
	f.Fuzz(func(t *testing.T, which uint8, address, values string, body []byte) {
		i := int(which) % len(posters)
		path, _, _ := strings.Cut(address, "?")
		r := ledger.Posted{URL: address, Header: http.Header{}, Body: body, At: testTime, Reference: path[strings.LastIndexByte(path, '/')+1:]}
		lines := strings.Split(values, "\n")
		for n, name := range posters[i].headers {
			if n < len(lines) {
				r.Header[name] = []string{lines[n]}
			}
		}
		got, err := adapters[i].Receipts(r)
		if !(errors.Is(err, ledger.ErrUnverified) && got == nil) && !reflect.DeepEqual(bare(got), said[i]) {
			t.Errorf("%s: unsigned, and %v with %+v", posters[i].name, err, got)
		}
	})
}

// FuzzReports posts bodies of every kind with a right signature: what comes of them, a row can hold, and it names a message.
func FuzzReports(f *testing.F) {
	adapters := make([]ledger.Reporter, len(posters))
	for i, p := range posters {
		adapters[i] = p.make(f, true)
		f.Add(uint8(i), testReference, p.body(p.good))
		for _, body := range []string{"", "[]", "[null]", "{}", `{"status":{}}`, "a=b&c", "%zz=1", `[{"event":"open","sg_message_id":"` + strings.Repeat("x", 300) + `"}]`} {
			f.Add(uint8(i), "x", []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, reference string, body []byte) {
		i := int(which) % len(posters)
		r := posters[i].sign(body, reference, testTime)
		got, err := adapters[i].Receipts(r)
		if err != nil && (got != nil || posters[i].raw && !posters[i].inURL && !errors.Is(err, ledger.ErrUnreadable)) {
			t.Errorf("%s: %v with %d receipts", posters[i].name, err, len(got))
		}
		for _, x := range got {
			sound(t, x)
			if x.Number != 0 && !strings.Contains(r.URL+string(r.Body), "-"+itoa(x.Number)) {
				t.Errorf("%s: attempt %d out of nothing", posters[i].name, x.Number)
			}
		}
	})
}

// sound wants a receipt that the store takes as it is.
func sound(t *testing.T, r ledger.Receipt) {
	t.Helper()
	plain := func(s string, max int) bool {
		return len(s) <= max && !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' })
	}
	switch {
	case r.EventKey == "" || r.FactKey == "" || !plain(r.EventKey, 255) || !plain(r.FactKey, 255):
		t.Errorf("keys %q and %q", r.EventKey, r.FactKey)
	case r.Kind == "" || !plain(r.Kind, 40) || !plain(r.Code, 64) || !plain(r.MessageID, 255):
		t.Errorf("kind %q, code %q, message id %q", r.Kind, r.Code, r.MessageID)
	case r.MessageID == "" && r.Number == 0, r.Number < 0:
		t.Errorf("it names no message: %+v", r)
	case r.Delivery != ledger.NoDelivery && !slices.Contains(ledger.Deliveries, r.Delivery):
		t.Errorf("delivery %q", r.Delivery)
	case len(r.Body) > ledger.MaxAnswerBytes, !r.ArrivedAt.IsZero(), r.Provider != "":
		t.Errorf("%d bytes, arrived %v, of %q", len(r.Body), r.ArrivedAt, r.Provider)
	case !r.ProviderAt.IsZero() && (r.ProviderAt.Unix() <= 0 || r.ProviderAt.Year() > 9999):
		t.Errorf("the provider's time is %v", r.ProviderAt)
	}
}
