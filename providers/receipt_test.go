package providers

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sendonce/ledger"
)

func TestReceipts_ASignedReportIsTaken(t *testing.T) {
	eachPoster(t, func(t *testing.T, p poster) {
		a, r := p.make(t, true), p.post(p.good, testTime)
		if !a.TakesReceipts() {
			t.Error("it says that it takes none")
		}
		got := taken(t, a, r)
		if len(got) != 1 {
			t.Fatalf("%d receipts", len(got))
		}
		id, _, _ := strings.Cut(p.good.id, ".")
		want := ledger.Receipt{
			EventKey: got[0].EventKey, FactKey: got[0].FactKey, ID: testRow, Number: 2, MessageID: id, Kind: p.good.word, Delivery: p.want,
			ProviderAt: got[0].ProviderAt, Body: got[0].Body,
		}
		if !reflect.DeepEqual(got[0], want) || want.EventKey == "" || want.FactKey == "" {
			t.Errorf("got  %+v\nwant %+v", got[0], want)
		}
		if !strings.Contains(string(r.Body), string(want.Body)) || len(want.Body) == 0 {
			t.Errorf("its body is %s", want.Body)
		}
		if at := want.ProviderAt; !strings.HasPrefix(p.name, "twilio") && (at.Hour() != 9 || at.Minute() != 59 || at.Location() != time.UTC) {
			t.Errorf("the provider's time is %v", at)
		}
	})
}

func TestReceipts_NothingIsBelievedWithoutASecret(t *testing.T) {
	eachPoster(t, func(t *testing.T, p poster) {
		a := p.make(t, false)
		if a.TakesReceipts() {
			t.Error("it says that it takes some")
		}
		refuses(t, a, p.post(p.good, testTime), "no secret")
		unsigned := p.post(p.good, testTime)
		unsigned.Header = http.Header{}
		refuses(t, a, unsigned, "no secret and no signature")
	})
}

// refuses wants a request refused as unverified, and nothing of it believed.
func refuses(t testing.TB, a ledger.Reporter, r ledger.Posted, why string) {
	t.Helper()
	if record != nil {
		record(a, r)
	}
	if got, err := a.Receipts(r); !errors.Is(err, ledger.ErrUnverified) || got != nil {
		t.Errorf("%s: %v and %d receipts, want it refused: %s %v %s", why, err, len(got), r.URL, r.Header, r.Body)
	}
}

// F29: a signature is over the bytes that came. Every byte of body, header and URL is changed, left out and doubled once: the
// request is refused, or it says exactly what it said before, where something else than bytes is signed.
func TestReceipts_F29_OneChangedByteIsRefused(t *testing.T) {
	eachPoster(t, func(t *testing.T, p poster) {
		a, good := p.make(t, true), p.post(p.good, testTime)
		want := bare(taken(t, a, good))
		refused, same := 0, 0
		try := func(part string, strict bool, r ledger.Posted) {
			got, err := a.Receipts(r)
			switch {
			case errors.Is(err, ledger.ErrUnverified) && got == nil:
				refused++
			case !strict && err == nil && reflect.DeepEqual(bare(got), want):
				same++
			default:
				t.Errorf("%s changed: %v, %+v\n%s %v %s", part, err, got, r.URL, r.Header, r.Body)
			}
		}
		for _, body := range variants(string(good.Body)) {
			r := good
			r.Body = []byte(body)
			try("body", p.raw, r)
		}
		for name := range good.Header {
			for _, value := range variants(good.Header[name][0]) {
				r := good
				r.Header = http.Header(good.Header).Clone()
				r.Header[name] = []string{value}
				try(name, false, r)
			}
		}
		for _, address := range variants(good.URL) {
			r := good
			r.URL = address
			try("URL", p.inURL, r)
		}
		t.Logf("%d changes refused, %d that change nothing", refused, same)
		if refused < 100 {
			t.Errorf("only %d changes refused", refused)
		}
	})
}

// bare are receipts without the bytes that they were read from.
func bare(receipts []ledger.Receipt) []ledger.Receipt {
	out := slices.Clone(receipts)
	for i := range out {
		out[i].Body = nil
	}
	return out
}

// variants are a text with one byte changed, left out and doubled, at every place.
func variants(s string) (out []string) {
	for i := range len(s) {
		for _, flip := range []byte{0x01, 0x02, 0x10, 0x80} {
			out = append(out, s[:i]+string([]byte{s[i] ^ flip})+s[i+1:])
		}
		out = append(out, s[:i]+s[i+1:], s[:i]+s[i:i+1]+s[i:])
	}
	return append(out, s+" ", s+"\n", " "+s, "")
}

func TestReceipts_HeadersStandOnce(t *testing.T) {
	eachPoster(t, func(t *testing.T, p poster) {
		a, good := p.make(t, true), p.post(p.good, testTime)
		for _, name := range p.headers {
			r := good
			r.Header = http.Header(good.Header).Clone()
			r.Header[name] = append(slices.Clone(r.Header[name]), r.Header[name][0])
			refuses(t, a, r, name+" twice")
			delete(r.Header, name)
			refuses(t, a, r, "no "+name)
			r.Header[name] = []string{""}
			refuses(t, a, r, "an empty "+name)
		}
	})
}

func TestReceipts_StaleTimesAreRefused(t *testing.T) {
	eachPoster(t, func(t *testing.T, p poster) {
		a := p.make(t, true)
		for _, c := range []struct {
			late time.Duration // our clock behind the signature's time
			ok   bool
		}{
			{0, true}, {p.past, true}, {p.past + time.Second, false}, {-5 * time.Minute, true}, {-5*time.Minute - time.Second, false}, {365 * 24 * time.Hour, false},
		} {
			r := p.post(p.good, testTime)
			r.At = testTime.Add(c.late)
			if c.ok || p.past == 0 { // Twilio signs no time
				taken(t, a, r)
			} else {
				refuses(t, a, r, c.late.String()+" late")
			}
		}
	})
}

// A path that is not signed says nothing, whatever stands there: only what the signature covers names a row.
func TestReceipts_OnlyASignedReferenceIsBelieved(t *testing.T) {
	const other = "01939c7e-0000-7000-8000-00000000000f-1"
	eachPoster(t, func(t *testing.T, p poster) {
		a := p.make(t, true)
		without := p.good
		without.reference = ""
		r := p.post(without, testTime)
		r.Reference, r.URL = other, receiptsURL+"/"+other
		if p.inURL {
			refuses(t, a, r, "another path")
			r = p.post(without, testTime)
			r.Reference = other // of a path that is not the signed one
		}
		got := taken(t, a, r)
		if len(got) != 1 || got[0].Number != 0 || got[0].ID.String() != "00000000-0000-0000-0000-000000000000" || got[0].MessageID == "" {
			t.Errorf("%+v", got)
		}
		for _, odd := range []string{"x", testReference + "0", strings.ToUpper(testReference), testReference[:37] + "0", testReference[:37] + "-1", " " + testReference} {
			without.reference = odd
			for _, r := range taken(t, a, p.post(without, testTime)) {
				if r.Number == 2 || r.Number < 0 {
					t.Errorf("reference %q was read: %+v", odd, r)
				}
			}
		}
	})
}

// Each word of a provider's list, words that it may add, and texts that are no words.
func TestReceipts_Words(t *testing.T) {
	eachPoster(t, func(t *testing.T, p poster) {
		a := p.make(t, true)
		kind, _, _ := strings.Cut(p.name, "_")
		words, ok := WordsOf(kind)
		if !ok || words.Source == "" || len(words.List) < 5 {
			t.Fatalf("the words of %s: %+v", kind, words)
		}
		keys := map[string]bool{}
		for _, w := range words.List {
			r := p.good
			r.word = w.Word
			got := taken(t, a, p.post(r, testTime))
			if len(got) != 1 || got[0].Kind != w.Word || got[0].Delivery != w.Delivery || w.Means == "" {
				t.Errorf("%s is %+v", w.Word, got)
				continue
			}
			if keys[got[0].FactKey] {
				t.Errorf("%s has the key of another word", w.Word)
			}
			keys[got[0].FactKey] = true
		}
		for word, want := range map[string]string{"melted": "melted", "Melted": unlistedWord, "to " + testNumber: unlistedWord, strings.Repeat("x", 41): unlistedWord} {
			r := p.good
			r.word = word
			got := taken(t, a, p.post(r, testTime))
			if len(got) != 1 || got[0].Kind != want || got[0].Delivery != ledger.NoDelivery {
				t.Errorf("%q is %+v", word, got)
			}
		}
	})
}
