package ledger

import (
	"cmp"
	"errors"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/currency"
)

const (
	priceDecimals = 6
	priceUnit     = 1_000_000 // parts of a currency's unit that prices are counted in
	maxPrice      = 1_000_000 // units
)

// Price is what a provider takes for one message, or for one part of an SMS: exact, with its currency. The zero value is "not given".
type Price struct {
	parts    int64
	currency string
}

var errPrice = errors.New("must be an amount above 0 with at most 6 decimals and the currency's three letters behind it, such as 0.0079 USD")

// ParsePrice reads a price as it is written in the configuration: 0.0079 USD.
func ParsePrice(s string) (Price, error) {
	amount, code, ok := strings.Cut(s, " ")
	whole, fraction, point := strings.Cut(amount, ".")
	if !ok || !digits(whole) || point && !digits(fraction) || len(fraction) > priceDecimals || strings.ToUpper(code) != code {
		return Price{}, errPrice
	}
	if _, err := currency.ParseISO(code); err != nil {
		return Price{}, errPrice
	}
	parts, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", priceDecimals-len(fraction)), 10, 64)
	if err != nil || parts <= 0 || parts > maxPrice*priceUnit {
		return Price{}, errPrice
	}
	return Price{parts: parts, currency: code}, nil
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// UnmarshalText is ParsePrice for decoders.
func (p *Price) UnmarshalText(text []byte) error {
	parsed, err := ParsePrice(string(text))
	if err == nil {
		*p = parsed
	}
	return err
}

// MarshalText writes the price as ParsePrice reads it.
func (p Price) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// String writes the price as ParsePrice reads it; "none" where none is given.
func (p Price) String() string {
	if p == (Price{}) {
		return "none"
	}
	return p.Times(1).String()
}

// Given reports whether there is a price.
func (p Price) Given() bool { return p.parts > 0 }

// Times is what n messages or parts cost.
func (p Price) Times(n int64) Amount {
	return Amount{Currency: p.currency, parts: new(big.Int).Mul(big.NewInt(p.parts), big.NewInt(n))}
}

// Amount is a sum of prices, exact.
type Amount struct {
	Currency string // three letters of ISO 4217
	parts    *big.Int
}

// Decimal writes the amount without its currency, with the decimals that the currency has at least.
func (a Amount) Decimal() string {
	unit, err := currency.ParseISO(a.Currency)
	least := 2
	if err == nil {
		least, _ = currency.Standard.Rounding(unit)
	}
	whole, rest := new(big.Int).QuoRem(a.parts, big.NewInt(priceUnit), new(big.Int))
	decimals := strings.TrimRight(strconv.FormatInt(priceUnit+rest.Int64(), 10)[1:], "0")
	if len(decimals) < least {
		decimals += strings.Repeat("0", least-len(decimals))
	}
	if decimals == "" {
		return whole.String()
	}
	return whole.String() + "." + decimals
}

// String writes the amount with its currency.
func (a Amount) String() string { return a.Decimal() + " " + a.Currency }

// Saved is what the suppressed repeats since the service started would have cost, by currency: had each been sent by the provider of
// its row, at that provider's price. Unpriced counts those of providers without one.
type Saved struct {
	Amounts  []Amount // by currency; none where no provider has a price
	Repeats  int64    // that have a price
	Unpriced int64
}

// Saved adds up what was not sent twice.
func (l *Ledger) Saved() Saved {
	var s Saved
	sums := map[string]*big.Int{}
	for _, o := range l.outlets {
		r := o.tally.saved()
		if !o.price.Given() {
			s.Unpriced += r.Count
			continue
		}
		s.Repeats += r.Count
		if sums[o.price.currency] == nil {
			sums[o.price.currency] = new(big.Int)
		}
		sums[o.price.currency].Add(sums[o.price.currency], o.price.Times(r.Parts).parts)
	}
	s.Unpriced += l.strays.saved().Count
	for code, parts := range sums {
		s.Amounts = append(s.Amounts, Amount{Currency: code, parts: parts})
	}
	if s.Repeats > 0 { // nothing saved in one currency is no news beside something in another
		s.Amounts = slices.DeleteFunc(s.Amounts, func(a Amount) bool { return a.parts.Sign() == 0 })
	}
	slices.SortFunc(s.Amounts, func(a, b Amount) int { return cmp.Compare(a.Currency, b.Currency) })
	return s
}

func (t *tally) saved() Repeats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.repeats
}
