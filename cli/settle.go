package cli

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sendonce/api"
)

const againAct = "look whether it happened before you decide again (sendonce get)"

// decision are the flags of every command that settles.
type decision struct {
	reason  string
	by      string
	ifMatch int64
}

// add registers the flags that stay in the ledger with the decision.
func (d *decision) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.reason, "reason", "", "why; it stays in the ledger")
	cmd.Flags().StringVar(&d.by, "by", "", "who decided, when that is not the API key's owner")
}

// addIfMatch registers the version. It is never read from the service: a version that nobody looked at would
// guard nothing.
func (d *decision) addIfMatch(cmd *cobra.Command) {
	cmd.Flags().Int64Var(&d.ifMatch, "if-match", 0, "version of the row that you looked at")
}

// check refuses a decision without a reason.
func (d *decision) check(cmd *cobra.Command) error {
	switch {
	case strings.TrimSpace(d.reason) == "":
		return usage("%s needs --reason: it stays in the ledger", cmd.Name())
	case cmd.Flags().Changed("if-match") && d.ifMatch < 1:
		return usage("--if-match must be the version of the row, a number from 1")
	}
	return nil
}

// actionCommands makes the six actions of one row.
func (a *app) actionCommands() []*cobra.Command {
	var out []*cobra.Command
	for _, act := range []struct{ name, short string }{
		{"confirm", "Settle an unknown: it was sent"},
		{"release", "Settle an unknown: it was not sent, so send it; or send a failed row after all"},
		{"abandon", "Settle an unknown: give it up"},
		{"hold", "Keep a claimed row from being sent"},
		{"unhold", "Let a held row go"},
		{"cancel", "Never send a claimed or held row"},
	} {
		out = append(out, a.actionCommand(act.name, act.short))
	}
	return out
}

// actionCommand makes one action; only confirm and release take more than a reason.
func (a *app) actionCommand(name, short string) *cobra.Command {
	var (
		d         decision
		messageID string
		expiresAt string
	)
	cmd := &cobra.Command{
		Use: name + " ID", Args: oneID, Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := d.check(cmd); err != nil {
				return err
			}
			var n api.Notification
			shown, err := a.fetch(cmd.Context(), call{
				method: http.MethodPost, path: path("notifications", args[0], name), ifMatch: d.ifMatch,
				body:  api.Action{Reason: d.reason, By: d.by, MessageID: messageID, ExpiresAt: expiresAt},
				again: againAct,
			}, &n)
			if err != nil || shown {
				return err
			}
			return a.showSettled(&n)
		},
	}
	d.add(cmd)
	d.addIfMatch(cmd)
	switch name {
	case "confirm":
		cmd.Flags().StringVar(&messageID, "message-id", "", "the provider's id of what it accepted")
	case "release":
		cmd.Flags().StringVar(&expiresAt, "expires-at", "", "a new end, RFC 3339, where the old one has passed")
	}
	return cmd
}

// showSettled shows where the row stands now, with the version that a next decision needs.
func (a *app) showSettled(n *api.Notification) error {
	t := a.table()
	t.row("id", n.ID)
	t.row("state", stateOf(n))
	t.field("next action", nextAction(n))
	t.row("version", strconv.FormatInt(n.Version, 10))
	return t.flush()
}

// resendCommand makes a second message on purpose. The service asks for the version and gets it from the person.
func (a *app) resendCommand() *cobra.Command {
	var (
		d      decision
		accept bool
	)
	cmd := &cobra.Command{
		Use: "resend ID --if-match VERSION", Args: oneID,
		Short: "Send a second message on purpose",
		Long:  "Send a second message on purpose: a new row with a key of its own. Its parent names it, so a second click makes none.",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := d.check(cmd); err != nil {
				return err
			}
			var n api.Notification
			shown, err := a.fetch(cmd.Context(), call{
				method: http.MethodPost, path: path("notifications", args[0], "resend"), ifMatch: d.ifMatch,
				body:  api.ResendRequest{Reason: d.reason, By: d.by, AcceptDuplicate: accept},
				again: againAct,
			}, &n)
			if err != nil || shown {
				return err
			}
			if err := a.showSettled(&n); err != nil {
				return err
			}
			a.hint("This is a new row: sendonce get %s shows what becomes of it.", n.ID)
			return nil
		},
	}
	d.add(cmd)
	d.addIfMatch(cmd)
	cmd.Flags().BoolVar(&accept, "accept-duplicate", false, "yes, although the first message may have gone out")
	return cmd
}

// settleCommand moves many rows by one decision. The count that a dry run showed must be given, so that rows
// which came meanwhile are not swept along; a filter too, since none would be every row.
func (a *app) settleCommand() *cobra.Command {
	var (
		f        filterFlags
		d        decision
		action   string
		expected int64
		dryRun   bool
	)
	cmd := &cobra.Command{
		Use: "settle --action ACTION --reason REASON [filter]", Args: cobra.NoArgs,
		Short: "Settle every row that a filter matches",
		Long: "Settle every row that a filter matches, in two steps: count them with --dry-run, then give that count as\n" +
			"--expect. Another count changes nothing and ends with exit code 1. Rows whose state does not allow the action do not\n" +
			"count; release takes one state only.",
		Example: "  sendonce settle --action release --state ambiguous --provider infrai_main --reason 'outage, nothing went out' --dry-run",
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := f.conditions(cmd)
			if err != nil {
				return err
			}
			if err := d.check(cmd); err != nil {
				return err
			}
			switch counted := cmd.Flags().Changed("expect"); {
			case action == "":
				return usage("settle needs --action: confirm, release, abandon, hold, unhold or cancel")
			case len(q) == 0:
				return usage("settle needs a filter, such as --state ambiguous")
			case !dryRun && !counted:
				return usage("settle needs --expect: run it with --dry-run first and give the count that it shows")
			}
			body := api.Bulk{Action: action, Filter: f.BulkFilter, Reason: d.reason, By: d.by, DryRun: dryRun}
			if cmd.Flags().Changed("expect") {
				body.ExpectedCount = &expected
			}
			return a.settle(cmd, body)
		},
	}
	f.add(cmd)
	d.add(cmd)
	cmd.Flags().StringVar(&action, "action", "", "confirm, release, abandon, hold, unhold or cancel")
	cmd.Flags().Int64Var(&expected, "expect", 0, "how many rows must match")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only count")
	return cmd
}

// settle makes the bulk decision, or counts.
func (a *app) settle(cmd *cobra.Command, body api.Bulk) error {
	var answer api.BulkAnswer
	shown, err := a.fetch(cmd.Context(), call{
		method: http.MethodPost, path: path("settlements"), body: body,
		again: "count again before you repeat it (--dry-run): rows that were settled are in another state",
	}, &answer)
	if err != nil || shown {
		return err
	}
	t := a.table()
	t.row("matched", count(answer.Matched, "row"))
	if !body.DryRun {
		t.row("changed", count(answer.Changed, "row"))
		t.row("skipped", count(answer.Skipped, "row"))
	}
	if err := t.flush(); err != nil {
		return err
	}
	switch {
	case body.DryRun:
		a.hint("Nothing was changed. The same command with --expect %d in place of --dry-run does it.", answer.Matched)
	case answer.Skipped > 0:
		a.hint("Skipped rows were moved by somebody else, or their state does not allow %s.", body.Action)
	}
	return nil
}
