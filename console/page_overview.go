package console

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"sendonce/ledger"
)

// overviewData is what the first page shows.
type overviewData struct {
	Stats     ledger.Stats
	States    []stateCount
	Unknown   int64 // rows that may have been sent or not
	Held      int64
	History   ledger.History
	Hour, Day ledger.Counts
	Plots     []plot
	Saved     ledger.Saved
	Providers []ledger.ProviderStatus
	Mark      string
}

// stateCount is how many rows are in a state.
type stateCount struct {
	State ledger.State
	Count int64
}

// plot is one of the two plots; its table tells the same to those who don't see it.
type plot struct {
	Name  string // hour or day
	Title string
	Total ledger.Counts
	Rows  []ledger.Span // the spans in which something happened, the newest first
}

// overview shows how things stand.
func (c *Console) overview(v *visit) error {
	stats, err := c.ledger.Stats(v.r.Context())
	if err != nil {
		return err
	}
	h := c.ledger.History("")
	data := overviewData{
		Stats: stats, Unknown: stats.States[ledger.StateAmbiguous], Held: stats.States[ledger.StateHeld], History: h, Hour: h.LastHour(), Day: h.LastDay(), Saved: c.ledger.Saved(), Providers: c.ledger.Providers(),
		Plots: []plot{
			{"hour", "The last hour, by the minute", h.LastHour(), happened(h.Hour)},
			{"day", "The last day, by the quarter of an hour", h.LastDay(), happened(h.Day)},
		},
	}
	for _, s := range ledger.States {
		data.States = append(data.States, stateCount{s, stats.States[s]})
	}
	data.Mark = c.markOf(stats, h.LastDay(), data.Saved, data.Providers)
	return v.render(http.StatusOK, "overview", "Overview", data)
}

// liveOverview tells when the figures of the first page have changed.
func (c *Console) liveOverview(v *visit) error {
	all := func(ledger.Changes) bool { return true }
	return v.stream(all, func(ctx context.Context) (string, error) {
		stats, err := c.ledger.Stats(ctx)
		h := c.ledger.History("")
		return c.markOf(stats, h.LastDay(), c.ledger.Saved(), c.ledger.Providers()), err
	})
}

// happened leaves out the spans in which nothing did.
func happened(list []ledger.Span) []ledger.Span {
	var out []ledger.Span
	for _, s := range slices.Backward(list) {
		if s.Counts != (ledger.Counts{}) {
			out = append(out, s)
		}
	}
	return out
}

// series is a plot as the script draws it: the begin of each span in Unix seconds, and the counts beside it.
type series struct {
	At         []int64 `json:"at"`
	Accepted   []int64 `json:"accepted"`
	Suppressed []int64 `json:"suppressed"`
	Ambiguous  []int64 `json:"ambiguous"`
	Deferred   []int64 `json:"deferred"`
	Rejected   []int64 `json:"rejected"`
}

func seriesOf(list []ledger.Span) series {
	var s series
	for _, p := range list {
		s.At = append(s.At, p.At.Unix())
		s.Accepted, s.Suppressed = append(s.Accepted, p.Accepted), append(s.Suppressed, p.Suppressed)
		s.Ambiguous, s.Deferred, s.Rejected = append(s.Ambiguous, p.Ambiguous), append(s.Deferred, p.Deferred), append(s.Rejected, p.Rejected)
	}
	return s
}

// history answers what the plots show.
func (c *Console) history(v *visit) error {
	h := c.ledger.History("")
	b, err := json.Marshal(map[string]series{"hour": seriesOf(h.Hour), "day": seriesOf(h.Day)})
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	v.w.WriteHeader(http.StatusOK)
	_, err = v.w.Write(b)
	return gone(err)
}
