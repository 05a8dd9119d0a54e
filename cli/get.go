package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"sendonce/api"
	"sendonce/terminal"
)

// getCommand shows all that is known about one row: whoever settles it must see this first.
func (a *app) getCommand() *cobra.Command {
	return &cobra.Command{
		Use: "get ID", Args: oneID,
		Short: "Show a notification with its whole history",
		RunE: func(cmd *cobra.Command, args []string) error {
			var r api.Record
			shown, err := a.fetch(cmd.Context(), call{method: http.MethodGet, path: path("notifications", args[0])}, &r)
			if err != nil || shown {
				return err
			}
			if err := a.showRecord(&r); err != nil {
				return err
			}
			if r.ErasedAt == nil {
				a.adviseOn(&r.Notification)
			}
			return nil
		},
	}
}

// oneID takes the id of a notification. Anything else would be another path of the service.
func oneID(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage("it takes the id of one notification")
	}
	if uuid.Validate(args[0]) != nil || len(args[0]) != 36 {
		return usage("the id of a notification looks like 01890a5d-ac96-774b-bcce-b302099a8057")
	}
	return nil
}

// showRecord shows the row, its message, and the lists of its history that are not empty.
func (a *app) showRecord(r *api.Record) error {
	t := a.table()
	rowFields(t, &r.Notification)
	t.field("resent as", strings.Join(r.Resends, " "))
	t.field("metadata", compact(r.Metadata))
	if message := compact(r.Message); message == "" {
		t.row("message", strings.TrimSpace("erased "+moment(text(r.ErasedAt))))
	} else {
		t.row("message", message)
	}
	if err := t.flush(); err != nil {
		return err
	}
	for _, show := range []func(*api.Record) error{a.showAttempts, a.showReceipts, a.showSettlements, a.showDuplicates} {
		if err := show(r); err != nil {
			return err
		}
	}
	return nil
}

// part begins a list below a row.
func (a *app) part(title string, heads ...string) *table {
	t := a.table(heads...)
	t.Blocks()
	if _, err := fmt.Fprintf(a.streams.Out, "\n%s\n", a.out().Paint(terminal.Bold, title)); err != nil {
		t.err = err
	}
	return t
}

// showAttempts shows each handing to a provider. What the provider answered in full stands in the JSON only.
func (a *app) showAttempts(r *api.Record) error {
	if len(r.Attempts) == 0 {
		return nil
	}
	t := a.part("attempts", "NO", "KIND", "PROVIDER", "STARTED", "ENDED", "OUTCOME", "PHASE", "STATUS", "CODE", "MESSAGE ID", "ERROR")
	for _, at := range r.Attempts {
		ended, outcome, status := "running", "", ""
		if at.EndedAt != nil {
			ended, outcome = moment(*at.EndedAt), text(at.Outcome)
		}
		if at.Status != nil {
			status = strconv.Itoa(*at.Status)
		}
		t.row(strconv.Itoa(at.Number), at.Kind, at.Provider, moment(at.StartedAt), ended, outcome, text(at.Phase), status,
			text(at.Code), text(at.MessageID), text(at.Error))
	}
	return t.flush()
}

// showReceipts shows delivery reports; one that names no attempt proves none in particular.
func (a *app) showReceipts(r *api.Record) error {
	if len(r.Receipts) == 0 {
		return nil
	}
	t := a.part("receipts", "ARRIVED", "PROVIDER", "ATTEMPT", "KIND", "DELIVERY", "CODE", "MESSAGE ID")
	for _, v := range r.Receipts {
		attempt := ""
		if v.Attempt != nil {
			attempt = strconv.Itoa(*v.Attempt)
		}
		t.row(moment(v.ArrivedAt), v.Provider, attempt, v.Kind, text(v.Delivery), text(v.Code), text(v.MessageID))
	}
	return t.flush()
}

// showSettlements shows who moved the row, when and why, and what look-ups and proofs rest on.
func (a *app) showSettlements(r *api.Record) error {
	if len(r.Settlements) == 0 {
		return nil
	}
	t := a.part("settlements", "AT", "ACTION", "FROM", "TO", "ACTOR", "BY", "REASON", "EVIDENCE")
	for _, s := range r.Settlements {
		e := evidence(s.Evidence)
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(e)) {
			parts = append(parts, name+"="+e[name])
		}
		t.row(moment(s.At), s.Action, s.From, s.To, s.Actor, text(s.By), text(s.Reason), strings.Join(parts, " "))
	}
	return t.flush()
}

// showDuplicates shows the last repeats; the count in the row is of all.
func (a *app) showDuplicates(r *api.Record) error {
	if len(r.Duplicates) == 0 {
		return nil
	}
	t := a.part("suppressed repeats", "AT", "CALLER", "DIFFERS")
	for _, d := range r.Duplicates {
		t.row(moment(d.At), d.Caller, strings.Join(d.Differs, ", "))
	}
	return t.flush()
}

// evidence is what a settlement rests on, by name; what has further values inside is shown as JSON.
func evidence(raw json.RawMessage) map[string]string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	out := make(map[string]string, len(fields))
	for name, value := range fields {
		var s string
		if json.Unmarshal(value, &s) != nil {
			s = compact(value)
		}
		out[name] = s
	}
	return out
}

// compact is JSON in one line; null is nothing.
func compact(raw json.RawMessage) string {
	var buf bytes.Buffer
	if len(raw) == 0 || string(raw) == "null" || json.Compact(&buf, raw) != nil {
		return ""
	}
	return buf.String()
}
