package cli

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sendonce/api"
)

// providersCommand shows gates; pause and resume stand below it.
func (a *app) providersCommand() *cobra.Command {
	var codes bool
	cmd := &cobra.Command{
		Use: "providers", Args: cobra.NoArgs,
		Short: "Show the providers and whether they may be used now",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if codes {
				if err := refuseFlags("has nothing to do with --codes, which asks no service", "url", "key")(cmd, nil); err != nil {
					return err
				}
				return a.showCodes()
			}
			var p api.Providers
			shown, err := a.fetch(cmd.Context(), call{method: http.MethodGet, path: path("providers")}, &p)
			if err != nil || shown {
				return err
			}
			return a.showProviders(p.Providers...)
		},
	}
	cmd.Flags().BoolVar(&codes, "codes", false, "show what each type makes of its provider's codes; needs no service")
	cmd.AddCommand(a.gateCommand("pause", "Stop using a provider until somebody resumes it"),
		a.gateCommand("resume", "Use a provider again"))
	return cmd
}

// gateCommand moves a gate by hand. A pause needs a reason, since it ends only by a person, who will want to know.
func (a *app) gateCommand(name, short string) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: name + " NAME", Args: oneProvider, Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			if name == "pause" && strings.TrimSpace(reason) == "" {
				return usage("pause needs --reason: others will ask why nothing is sent")
			}
			var p api.Provider
			shown, err := a.fetch(cmd.Context(), call{
				method: http.MethodPost, path: path("providers", args[0], name), body: api.PauseRequest{Reason: reason},
				again: "repeat the same command, that is safe",
			}, &p)
			if err != nil || shown {
				return err
			}
			return a.showProviders(p)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why")
	return cmd
}

var providerName = regexp.MustCompile(`^[a-z0-9_]{1,64}$`)

// oneProvider takes a name as the configuration allows it. Anything else would be another path of the service.
func oneProvider(_ *cobra.Command, args []string) error {
	if len(args) != 1 || !providerName.MatchString(args[0]) {
		return usage("it takes the name of one provider: a-z, 0-9 and _")
	}
	return nil
}

// showProviders shows providers with their gates.
func (a *app) showProviders(list ...api.Provider) error {
	t := a.table("NAME", "TYPE", "CHANNELS", "GATE", "UNTIL", "REASON", "BY", "USES", "OFFERS")
	t.Spare("NAME", "OFFERS", "USES", "TYPE", "CHANNELS", "BY")
	for _, p := range list {
		t.row(p.Name, p.Type, strings.Join(p.Channels, ","), p.Gate.State, moment(text(p.Gate.Until)), text(p.Gate.Reason),
			text(p.Gate.By), strings.Join(p.Capabilities, ","), strings.Join(p.Offers, ","))
	}
	return a.flushPage(t, true)
}

// showCodes shows the code tables that are built in. A code that no table has is judged by its status.
func (a *app) showCodes() error {
	if a.json {
		return a.done(map[string]any{"types": a.service.Codes}, "")
	}
	t := a.table("TYPE", "CODE", "OUTCOME", "MEANS")
	for _, c := range a.service.Codes {
		for _, row := range c.Codes {
			t.row(c.Type, row.Code, row.Does, row.Means)
		}
	}
	if err := t.flush(); err != nil {
		return err
	}
	a.hint("A code that is not here is judged by its status: docs/providers.md")
	return nil
}

// keyCommand asks the service and does not compute: only the service knows its recipes, the regions of its phone
// numbers, and which row has the key.
func (a *app) keyCommand() *cobra.Command {
	var e eventFlags
	cmd := &cobra.Command{
		Use: "key", Args: cobra.NoArgs,
		Short: "Show the dedupe key of an event, what enters it, and the row that has it",
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := url.Values{}
			for flag, name := range map[string]string{
				"event-id": "event_id", "channel": "channel", "recipient": "recipient",
				"event-type": "event_type", "user-id": "user_id", "source": "source",
			} {
				if cmd.Flags().Changed(flag) {
					q.Set(name, cmd.Flags().Lookup(flag).Value.String())
				}
			}
			if len(q) == 0 {
				return usage("key needs the event: --event-id, --channel and --recipient, and what else enters your keys")
			}
			var k api.Keys
			shown, err := a.fetch(cmd.Context(), call{method: http.MethodGet, path: path("keys"), query: q}, &k)
			if err != nil || shown {
				return err
			}
			return a.showKeys(k.Keys)
		},
	}
	keyFlags(cmd, &e)
	return cmd
}

// showKeys shows a block for each recipe. Values are quoted: a blank at an end makes another key.
func (a *app) showKeys(keys []api.Key) error {
	for i, k := range keys {
		if i > 0 {
			if _, err := fmt.Fprintln(a.streams.Out); err != nil {
				return exitNo(err)
			}
		}
		t := a.table()
		t.row("recipe", k.Recipe)
		for _, p := range k.Parts {
			t.row("  "+p.Name, strconv.Quote(p.Value))
		}
		t.row("key", k.DedupeKey)
		if k.Notification == nil {
			t.row("row", "none")
		} else {
			t.row("row", k.Notification.ID)
			t.row("state", stateOf(k.Notification))
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	return nil
}

// statsCommand shows counts, states in the order of their names.
func (a *app) statsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stats", Args: cobra.NoArgs,
		Short: "Count what is in the ledger",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var s api.Stats
			shown, err := a.fetch(cmd.Context(), call{method: http.MethodGet, path: path("stats")}, &s)
			if err != nil || shown {
				return err
			}
			t := a.table()
			number := func(name string, n int64) { t.row(name, strconv.FormatInt(n, 10)) }
			number("notifications", s.Notifications)
			for _, state := range slices.Sorted(maps.Keys(s.States)) {
				number("  "+state, s.States[state])
			}
			number("maybe sent", s.MaybeSent)
			number("repeats suppressed", s.Duplicates)
			number("duplicates proven", s.ProvenTwice)
			number("message ids shared", s.Shared)
			t.field("oldest ambiguous", moment(text(s.OldestAmbiguous)))
			if err := t.flush(); err != nil {
				return err
			}
			if s.States["ambiguous"] > 0 {
				a.hint("Ambiguous rows wait for proof or for a person: sendonce list --state ambiguous --sort oldest")
			}
			return nil
		},
	}
}
