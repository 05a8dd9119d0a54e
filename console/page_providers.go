package console

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"sendonce/ledger"
)

// Codes is the code table of a type of provider, for people.
type Codes struct {
	Source string // where the provider lists them
	Codes  []Code
}

// Code is what one of a provider's codes means and does.
type Code struct {
	Code    string
	Outcome string
	Does    string
	Means   string
}

// providersData is what the page of the providers shows.
type providersData struct {
	Providers []providerView
	Mark      string
	Since     time.Time
}

// providerView is a provider with what only its type says.
type providerView struct {
	ledger.ProviderView
	Codes Codes
}

// providers shows all providers at work.
func (c *Console) providers(v *visit) error { return c.showProviders(v, http.StatusOK, "") }

func (c *Console) showProviders(v *visit, status int, wrong string) error {
	list, err := c.ledger.ProviderViews(v.r.Context())
	if err != nil {
		return err
	}
	data := providersData{Since: c.ledger.History("").Since}
	for _, p := range list {
		data.Providers = append(data.Providers, providerView{p, c.settings.Codes[p.Type]})
	}
	data.Mark = c.providersMark()
	return v.page(status, "providers", view{Title: "Providers", Wrong: wrong, Data: data})
}

// providersMark names what the gates are.
func (c *Console) providersMark() string { return c.markOf(c.ledger.Providers()) }

// liveProviders tells when a gate has changed.
func (c *Console) liveProviders(v *visit) error {
	gates := func(ch ledger.Changes) bool { return ch.Gates }
	return v.stream(gates, func(context.Context) (string, error) { return c.providersMark(), nil })
}

// pause stops the use of a provider.
func (c *Console) pause(v *visit) error {
	reason := strings.TrimSpace(v.asked["reason"])
	if err := ledger.ValidReason(reason); err != nil {
		r, _ := refusalOf(err)
		return c.showProviders(v, r.Status, r.Text)
	}
	name := v.r.PathValue("name")
	if _, err := c.ledger.Pause(context.WithoutCancel(v.r.Context()), name, v.who.Name, reason); err != nil {
		return err
	}
	return v.done("/providers", "pause")
}

// resume opens a provider's gate.
func (c *Console) resume(v *visit) error {
	name, word := v.r.PathValue("name"), "resume"
	for _, p := range c.ledger.Providers() {
		if p.Name == name && p.Gate.State == "open" {
			word = toldOpen
		}
	}
	if _, err := c.ledger.Resume(context.WithoutCancel(v.r.Context()), name, v.who.Name); err != nil {
		return err
	}
	return v.done("/providers", word)
}

// Used reports whether a capability of the service is in use.
func (p providerView) Used(c ledger.Capability) bool { return slices.Contains(p.Capabilities, c) }

// Able lists what the service or the adapter can do, in the usual order.
func (p providerView) Able() (list []ledger.Capability) {
	for _, c := range ledger.Capabilities {
		if slices.Contains(p.Offers, c) || p.Used(c) {
			list = append(list, c)
		}
	}
	return list
}

// Cost is what its suppressed repeats would have cost.
func (p providerView) Cost() ledger.Amount { return p.Price.Times(p.Repeats.Parts) }

// RateText is its rate in the unit in which it is easy to read.
func (p providerView) RateText() string {
	switch {
	case p.Rate == 0:
		return "no limit"
	case p.Rate >= 1:
		return strconv.FormatFloat(p.Rate, 'f', -1, 64) + " a second"
	case p.Rate*60 >= 1:
		return strconv.FormatFloat(p.Rate*60, 'f', -1, 64) + " a minute"
	}
	return strconv.FormatFloat(p.Rate*3600, 'f', 0, 64) + " an hour"
}

// Share is a count of the last hour with its share of all attempts.
func (p providerView) Share(n int64) string {
	all := p.Hour.Attempts()
	if all == 0 {
		return "0"
	}
	return fmt.Sprintf("%s (%s %%)", count(n), strconv.FormatFloat(100*float64(n)/float64(all), 'f', 1, 64))
}

// able says what a capability is for. It panics on one that nobody described.
func able(c ledger.Capability) string {
	text := map[ledger.Capability]string{
		ledger.CanRepeat:          "a lost answer is asked for again under a key that sends nothing new",
		ledger.CanFindByReference: "a message is found by our own reference",
		ledger.CanFindByContent:   "messages of a recipient and time can be compared",
		ledger.CanReceipts:        "what became of a message is posted to us",
		ledger.CanStatusByID:      "the state of a message can be asked for",
		ledger.CanTemplates:       "texts that are stored there can be sent",
	}[c]
	if text == "" {
		panic("console: no words for the capability " + c)
	}
	return text
}

// short is a duration as a person says it.
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	}
	return d.Round(time.Second).String()
}

// count is a number with its thousands apart.
func count(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}
