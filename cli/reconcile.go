package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sendonce/config"
)

// Reconcile is what a reconciliation compares.
type Reconcile struct {
	Provider string
	Since    time.Time
	Until    time.Time // not any more
	Progress Done
}

// Reconciled is what came of it.
type Reconciled struct {
	Provider string     `json:"provider"`
	Since    string     `json:"since"`
	Until    string     `json:"until"`
	Listed   int64      `json:"listed"`    // messages at the provider
	Attempts int64      `json:"attempts"`  // of the ledger, accepted or unknown
	NotYet   int64      `json:"not_yet"`   // too young to be listed
	Unasked  int64      `json:"unasked"`   // messages that were not asked for one by one
	Erased   int64      `json:"erased"`    // rows of that time that were erased
	OfErased int64      `json:"of_erased"` // messages that are theirs, or may be
	Found    []Mismatch `json:"differences"`
}

// Mismatch is one difference between a provider's list and the ledger.
type Mismatch struct {
	Kind       string   `json:"kind"`
	ID         *string  `json:"id"` // of the notification; null: none is known
	MessageIDs []string `json:"message_ids"`
	Recipient  string   `json:"recipient"`
	At         string   `json:"at"`
	Detail     string   `json:"detail"`
}

// reconcileCommand compares with what a provider says it sent. It works on files: it needs the provider's credentials and every row,
// and must work where the service does not run.
func (a *app) reconcileCommand() *cobra.Command {
	var since, until string
	cmd := &cobra.Command{
		Use: "reconcile PROVIDER --since TIME", Args: oneProvider,
		Short: "Compare the ledger with what a provider says it sent",
		Long: "Compare the ledger with what a provider says it sent, and report: messages there that no row has, messages there\n" +
			"of rows that are not sent, sent rows that it has nothing of, and rows with more than one message.\n" +
			"It asks the provider and reads the ledger, beside the service if that runs; it writes nothing and sends nothing.\n" +
			"Rows that are too young to be listed are counted apart. The list is read in order of time: a long time may be\n" +
			"compared in parts, with --until of one as --since of the next.",
		Example: "  sendonce reconcile twilio_main --since 24h",
		RunE: a.withArgs(func(cmd *cobra.Command, c config.Config, args []string) error {
			now := time.Now()
			q := Reconcile{Provider: args[0], Until: now}
			if since == "" {
				return usage("reconcile needs --since: how far back to compare, such as 24h")
			}
			for name, at := range map[string]*string{"since": &since, "until": &until} {
				if err := relative(name, at, now, -1); err != nil {
					return err
				}
			}
			var err error
			if q.Since, err = time.Parse(time.RFC3339, since); err != nil {
				return usage("--since must be a time such as 2026-11-30T09:30:00Z, or a duration such as 24h")
			}
			if until != "" {
				if q.Until, err = time.Parse(time.RFC3339, until); err != nil {
					return usage("--until must be a time such as 2026-11-30T09:30:00Z, or a duration such as 1h")
				}
			}
			if !q.Since.Before(q.Until) || q.Until.After(now.Add(time.Minute)) {
				return usage("--since must be before --until, and --until not in the future")
			}
			done, end := a.progress("messages listed", false)
			q.Progress = done
			r, err := a.service.Reconcile(cmd.Context(), c, q)
			end()
			if err != nil {
				return exitNo(err)
			}
			if err := a.showReconciled(r); err != nil {
				return err
			}
			if len(r.Found) > 0 {
				return errNo
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&since, "since", "", "from when on: RFC 3339, or so long ago, such as 24h")
	cmd.Flags().StringVar(&until, "until", "", "before when: RFC 3339, or so long ago (default now)")
	return cmd
}

// showReconciled shows the counts also when there are no differences: a comparison that says nothing could be one that did not run.
func (a *app) showReconciled(r Reconciled) error {
	if a.json {
		if r.Found == nil {
			r.Found = []Mismatch{}
		}
		return a.printJSON(r)
	}
	if len(r.Found) > 0 {
		t := a.table("KIND", "AT", "ROW", "MESSAGE IDS", "RECIPIENT", "DETAIL")
		t.Blocks()
		for _, m := range r.Found {
			t.row(m.Kind, moment(m.At), text(m.ID), strings.Join(m.MessageIDs, " "), m.Recipient, m.Detail)
		}
		if err := t.flush(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(a.streams.Out, "%s: %s there, %s here, %s\n", count(int64(len(r.Found)), "difference"),
		count(r.Listed, "message"), count(r.Attempts, "attempt"), count(r.NotYet, "row")+" not yet to be expected")
	if err == nil && r.Unasked > 0 {
		a.hint("%s of the differences could not be asked for one by one; compare a shorter time.", count(r.Unasked, "message"))
	}
	if err == nil && r.OfErased > 0 {
		a.hint("Messages that are, or may be, of erased rows: %d; %s had attempts in that time. They are no differences.",
			r.OfErased, count(r.Erased, "erased row"))
	}
	return exitNo(err)
}
