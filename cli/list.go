package cli

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"sendonce/api"
)

// filterFlags are the conditions that a list and a bulk settlement share.
type filterFlags struct {
	api.BulkFilter
	source string
}

// add registers the flags; the same ones for list and settle, so that a list shows what a settlement would move.
func (f *filterFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.EventID, "event-id", "", "the event")
	fs.StringVar(&f.Recipient, "recipient", "", "the recipient")
	fs.StringVar(&f.MessageID, "message-id", "", "the provider's id")
	fs.StringVar(&f.DedupeKey, "dedupe-key", "", "the dedupe key")
	fs.StringVar(&f.State, "state", "", "states, separated by commas")
	fs.StringVar(&f.Channel, "channel", "", "the channel")
	fs.StringVar(&f.Provider, "provider", "", "the provider")
	fs.StringVar(&f.EventType, "event-type", "", "the event type")
	fs.StringVar(&f.source, "source", "", "the source; '' is the rows without one")
	fs.StringVar(&f.UserID, "user-id", "", "the user")
	fs.StringVar(&f.Delivery, "delivery", "", "the delivery")
	fs.StringVar(&f.ClaimedAfter, "claimed-after", "", "claimed at or after: RFC 3339, or so long ago, such as 24h")
	fs.StringVar(&f.ClaimedBefore, "claimed-before", "", "claimed before: RFC 3339, or so long ago, such as 1h")
}

// conditions are the conditions that were given.
func (f *filterFlags) conditions(cmd *cobra.Command) (url.Values, error) {
	now := time.Now()
	for name, at := range map[string]*string{"claimed-after": &f.ClaimedAfter, "claimed-before": &f.ClaimedBefore} {
		if err := relative(name, at, now, -1); err != nil {
			return nil, err
		}
	}
	if cmd.Flags().Changed("source") {
		f.Source = &f.source
	}
	q := url.Values{}
	for flag, field := range map[string]struct{ name, value string }{
		"event-id":       {"event_id", f.EventID},
		"recipient":      {"recipient", f.Recipient},
		"message-id":     {"message_id", f.MessageID},
		"dedupe-key":     {"dedupe_key", f.DedupeKey},
		"state":          {"state", f.State},
		"channel":        {"channel", f.Channel},
		"provider":       {"provider", f.Provider},
		"event-type":     {"event_type", f.EventType},
		"source":         {"source", f.source},
		"user-id":        {"user_id", f.UserID},
		"delivery":       {"delivery", f.Delivery},
		"claimed-after":  {"claimed_after", f.ClaimedAfter},
		"claimed-before": {"claimed_before", f.ClaimedBefore},
	} {
		if !cmd.Flags().Changed(flag) {
			continue
		}
		if field.value == "" && flag != "source" {
			return nil, usage("--%s is empty: give it a value or leave it out", flag)
		}
		q.Set(field.name, field.value)
	}
	return q, nil
}

// listCommand hands limits and words on as they are: the service knows which are valid.
func (a *app) listCommand() *cobra.Command {
	var (
		f            filterFlags
		sort, cursor string
		limit        int
		all          bool
	)
	cmd := &cobra.Command{
		Use: "list", Args: cobra.NoArgs,
		Short: "List notifications, newest first",
		Long: "List notifications, newest first. With --json --all each page is one line of JSON.\n" +
			"With --state ambiguous it shows how long each has been unknown, what was tried, and what comes next: ask is for a person.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := f.conditions(cmd)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("sort") {
				q.Set("sort", sort)
			}
			if cmd.Flags().Changed("limit") {
				q.Set("limit", strconv.Itoa(limit))
			}
			if cmd.Flags().Changed("cursor") {
				q.Set("cursor", cursor)
			}
			return a.list(cmd, q, all)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&sort, "sort", "", "newest or oldest")
	cmd.Flags().IntVar(&limit, "limit", 0, "rows of a page, at most 500")
	cmd.Flags().StringVar(&cursor, "cursor", "", "go on where a page ended")
	cmd.Flags().BoolVar(&all, "all", false, "go on until the last page")
	return cmd
}

// list shows one page or all. Each page is shown when it comes, so that a long list needs no memory.
func (a *app) list(cmd *cobra.Command, q url.Values, all bool) error {
	rows := 0
	w := waiting{now: time.Now()}
	count, end := func(int64, int64) {}, func() {}
	if all && !a.out().Live() { // else the rows themselves show how far it is
		count, end = a.progress("rows", false)
	}
	defer func() { end() }()
	for {
		var page api.List
		shown, err := a.fetch(cmd.Context(), call{method: http.MethodGet, path: path("notifications"), query: q}, &page)
		if err != nil {
			return err
		}
		if !shown {
			show := func() error { return a.showPage(&page, rows == 0) }
			if q.Get("state") == "ambiguous" && !a.watching {
				show = func() error { return a.showWaiting(cmd.Context(), &w, &page, rows == 0) }
			}
			if err := show(); err != nil {
				return err
			}
		}
		rows += len(page.Notifications)
		count(int64(rows), 0)
		if page.NextCursor == nil {
			break
		}
		if *page.NextCursor == q.Get("cursor") {
			return &lostError{"the service gave the same cursor again: the list can't go on"}
		}
		q.Set("cursor", *page.NextCursor)
		if !all {
			a.hint("There may be more: go on with --cursor %s, or --all.", *page.NextCursor)
			break
		}
	}
	end()
	switch {
	case rows == 0:
		a.hint("No notification matches.")
	case w.read > 0 && w.read < rows:
		a.hint("What was tried is shown of the first %d rows. sendonce get ID shows it of any.", w.read)
	}
	if w.read > 0 {
		a.hint("Look at one with sendonce get ID, then confirm, release or abandon it; sendonce settle does so with many.")
	}
	return nil
}

// showPage has the heads above the first rows only, so that pages read as one list.
func (a *app) showPage(page *api.List, head bool) error {
	if len(page.Notifications) == 0 {
		return nil
	}
	t := a.table("ID", "STATE", "CHANNEL", "RECIPIENT", "EVENT", "PROVIDER", "ATTEMPTS", "CLAIMED")
	t.Spare("ID", "ATTEMPTS", "PROVIDER", "CHANNEL", "CLAIMED", "EVENT")
	for i := range page.Notifications {
		n := &page.Notifications[i]
		t.row(n.ID, stateOf(n), n.Channel, text(n.Recipient), text(n.EventID), text(n.Provider), strconv.Itoa(n.AttemptCount), moment(n.ClaimedAt))
	}
	return a.flushPage(t, head)
}
