package ledger_test

import (
	"testing"

	"sendonce/ledger"
)

func TestPrice_ReadsAndWritesExactAmounts(t *testing.T) {
	for text, written := range map[string]string{
		"0.0079 USD": "0.0079 USD", "1 EUR": "1.00 EUR", "0.5 EUR": "0.50 EUR", "12 JPY": "12 JPY", "0.000001 CHF": "0.000001 CHF",
		"007.10 USD": "7.10 USD", "1000000 INR": "1000000.00 INR", "0.0055 KWD": "0.0055 KWD", "3.1 KWD": "3.100 KWD",
	} {
		p, err := ledger.ParsePrice(text)
		if err != nil || p.String() != written || !p.Given() {
			t.Errorf("%q is %v (%v), want %s", text, p, err, written)
		}
		again, err := ledger.ParsePrice(p.String())
		if err != nil || again != p {
			t.Errorf("%q is not read back: %v (%v)", p, again, err)
		}
	}
	for _, text := range []string{
		"", "0.0079", "USD", "0 USD", "0.0 USD", "-1 USD", "+1 USD", "1,5 EUR", ".5 EUR", "1. EUR", "1e3 EUR", "0.0000001 USD", "1000000.1 USD",
		"99999999999999999999 USD", "1 usd", "1 US", "1 XXY", "1  USD", "1 USD ", " 1 USD", "$1", "1 $", "1USD", "NaN USD", "0x1 USD", "١ USD", "1.2.3 USD",
	} {
		if p, err := ledger.ParsePrice(text); err == nil || p.Given() {
			t.Errorf("%q was read as %v", text, p)
		}
	}
	if s := (ledger.Price{}).String(); s != "none" {
		t.Errorf("no price is written %q", s)
	}
}

func TestPrice_TimesIsExact(t *testing.T) {
	for _, c := range []struct {
		price string
		n     int64
		want  string
	}{
		{"0.0079 USD", 0, "0.00 USD"}, {"0.0079 USD", 3, "0.0237 USD"}, {"0.1 EUR", 3, "0.30 EUR"}, {"7 JPY", 1_000, "7000 JPY"},
		{"1000000 USD", 1 << 62, "4611686018427387904000000.00 USD"},
	} {
		p, err := ledger.ParsePrice(c.price)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Times(c.n).String(); got != c.want {
			t.Errorf("%d times %s is %s, want %s", c.n, c.price, got, c.want)
		}
	}
}

func TestSaved_AddsUpByCurrency(t *testing.T) {
	price := func(text string) ledger.Price {
		p, err := ledger.ParsePrice(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	priced := func(r *rig) { r.scripts["a"].price = price("0.0079 USD") }
	bubble(t, priced, func(t *testing.T, r *rig) {
		r.claim("e1")
		if s := r.ledger.Saved(); len(s.Amounts) != 1 || s.Amounts[0].String() != "0.00 USD" || s.Repeats != 0 {
			t.Errorf("nothing saved: %+v", s)
		}
	})
	bubble(t, func(r *rig) {
		e := newScript("e")
		e.price = price("1 CHF") // nobody repeats what it sends
		r.use(e)
		b, c, d := newScript("b"), newScript("c"), newScript("d")
		r.scripts["a"].price, b.price, c.price = price("0.0079 USD"), price("0.05 EUR"), price("0.01 USD")
		c.disguise = func(s *script) ledger.Provider { return parted{s} }
		r.use(b, c, d)
		r.sms(func(ch *ledger.ChannelSettings) { ch.Providers = []string{"a", "b", "c", "d"} })
	}, func(t *testing.T, r *rig) {
		for name, repeats := range map[string]int{"a": 3, "b": 1, "c": 2, "d": 5} {
			for range repeats + 1 {
				r.claim("e-"+name, func(e *ledger.Event) { e.Provider = name })
			}
		}
		s := r.ledger.Saved()
		if len(s.Amounts) != 2 || s.Amounts[0].String() != "0.05 EUR" || s.Amounts[1].String() != "0.0837 USD" || s.Repeats != 6 || s.Unpriced != 5 {
			t.Errorf("saved: %v, %d repeats, %d without a price", s.Amounts, s.Repeats, s.Unpriced)
		}
	})
}
