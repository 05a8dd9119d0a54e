package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sendonce/api"
)

const (
	maxEventFile = 1 << 20 // bytes; the service takes less
	maxWait      = 30 * time.Second

	againSend = "repeat the same command: that is safe, a known event sends nothing"
)

// eventFlags are the flags that describe an event.
type eventFlags struct {
	event    api.Event
	source   string
	key      string
	metadata string
	message  string
	data     string
	text     string
	subject  string
	file     string
	wait     time.Duration
}

// sendCommand claims one event. It ends with ExitDone whatever became of the message: the claim is made, and
// the state in the output tells the rest.
func (a *app) sendCommand() *cobra.Command {
	var e eventFlags
	cmd := &cobra.Command{
		Use: "send", Args: cobra.NoArgs,
		Short: "Claim a notification and have it sent",
		Long: "Claim a notification and have it sent. The same event again is shown its row and sends nothing, so\n" +
			"that repeating the command is safe.",
		Example: "  sendonce send --event-id evt_2291 --channel sms --recipient +14155550142 --text 'Order A-2291 shipped.'\n" +
			"  sendonce send --file - < event.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			body, err := a.eventBody(cmd, &e)
			if err != nil {
				return err
			}
			if e.wait < 0 || e.wait > maxWait {
				return usage("--wait must be 0s to %s", maxWait)
			}
			return a.send(cmd, body, e.wait)
		},
	}
	f := cmd.Flags()
	keyFlags(cmd, &e)
	f.StringVar(&e.text, "text", "", "text of the message (sms, email)")
	f.StringVar(&e.subject, "subject", "", "subject of the message (email)")
	f.StringVar(&e.data, "data", "", "data of the message as JSON (push, webhook)")
	f.StringVar(&e.message, "message", "", "the whole message as JSON")
	f.StringVar(&e.event.Provider, "provider", "", "provider to use and no other")
	f.StringVar(&e.event.Lane, "lane", "", "urgent or normal")
	f.StringVar(&e.event.OccurredAt, "occurred-at", "", "when the event happened, RFC 3339")
	f.StringVar(&e.event.SendAt, "send-at", "", "not before this time: RFC 3339, or from now such as 10m")
	f.StringVar(&e.event.ExpiresAt, "expires-at", "", "not after this time: RFC 3339, or from now such as 10m")
	f.StringVar(&e.key, "dedupe-key", "", "a key of your own in place of the derived one")
	f.StringVar(&e.metadata, "metadata", "", "JSON object to keep with the row")
	f.StringVar(&e.file, "file", "", "read the whole event as JSON from a file, - is standard input")
	f.DurationVar(&e.wait, "wait", 0, "wait this long for the end of the first attempt")
	return cmd
}

// keyFlags are the fields that may enter a key.
func keyFlags(cmd *cobra.Command, e *eventFlags) {
	f := cmd.Flags()
	f.StringVar(&e.event.EventID, "event-id", "", "id of the event at the caller")
	f.StringVar(&e.event.Channel, "channel", "", "sms, email, push or webhook")
	f.StringVar(&e.event.Recipient, "recipient", "", "phone number, address, token or URL")
	f.StringVar(&e.event.EventType, "event-type", "", "kind of the event")
	f.StringVar(&e.event.UserID, "user-id", "", "the caller's own id of the person")
	f.StringVar(&e.source, "source", "", "application that the event comes from")
}

// eventBody is what a claim sends: the file as it is, or an event made of the flags.
func (a *app) eventBody(cmd *cobra.Command, e *eventFlags) (any, error) {
	if cmd.Flags().Changed("file") {
		for _, name := range []string{
			"event-id", "channel", "recipient", "event-type", "user-id", "source", "text", "subject", "data", "message", "provider",
			"lane", "occurred-at", "send-at", "expires-at", "dedupe-key", "metadata",
		} {
			if cmd.Flags().Changed(name) {
				return nil, usage("--%s stands beside --file: the file has the whole event", name)
			}
		}
		return a.eventFile(e.file)
	}
	var missing []string
	for name, value := range map[string]string{"event-id": e.event.EventID, "channel": e.event.Channel, "recipient": e.event.Recipient} {
		if value == "" {
			missing = append(missing, "--"+name)
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		return nil, usage("send needs %s, or the whole event with --file", strings.Join(missing, ", "))
	}
	if err := e.fillMessage(cmd); err != nil {
		return nil, err
	}
	now := time.Now()
	for name, at := range map[string]*string{"send-at": &e.event.SendAt, "expires-at": &e.event.ExpiresAt} {
		if err := relative(name, at, now, 1); err != nil {
			return nil, err
		}
	}
	if cmd.Flags().Changed("source") {
		e.event.Source = &e.source
	}
	if cmd.Flags().Changed("dedupe-key") {
		e.event.DedupeKey = &e.key
	}
	return e.event, nil
}

// fillMessage makes the message of the flags that describe it.
func (e *eventFlags) fillMessage(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	parts := map[string]any{}
	for name, value := range map[string]string{"text": e.text, "subject": e.subject} {
		if given(name) {
			parts[name] = value
		}
	}
	if given("data") {
		if !json.Valid([]byte(e.data)) {
			return usage("--data must be JSON")
		}
		parts["data"] = json.RawMessage(e.data)
	}
	if given("metadata") {
		if !json.Valid([]byte(e.metadata)) {
			return usage("--metadata must be a JSON object")
		}
		e.event.Metadata = json.RawMessage(e.metadata)
	}
	switch {
	case given("message") && len(parts) > 0:
		return usage("--message is the whole message: leave out --text, --subject and --data")
	case given("message"):
		if !json.Valid([]byte(e.message)) {
			return usage("--message must be JSON, such as '{\"text\":\"Hello\"}'")
		}
		e.event.Message = json.RawMessage(e.message)
		return nil
	case len(parts) == 0:
		return usage("send needs a message: --text, --data or --message")
	}
	message, err := encode(parts)
	if err != nil {
		return usage("the message can't be written as JSON: %v", err)
	}
	e.event.Message = message
	return nil
}

// eventFile reads a whole event. The service judges it, so that nothing is lost on the way.
func (a *app) eventFile(path string) (any, error) {
	in := a.streams.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, usage("--file can't be read: %v", err)
		}
		defer f.Close()
		in = f
	}
	body, err := io.ReadAll(io.LimitReader(in, maxEventFile+1))
	switch {
	case err != nil:
		return nil, usage("--file can't be read: %v", err)
	case len(body) > maxEventFile:
		return nil, usage("--file has more than %d bytes", maxEventFile)
	case len(strings.TrimSpace(string(body))) == 0:
		return nil, usage("--file is empty")
	}
	return json.RawMessage(body), nil
}

// send makes the claim and shows whether it was new, which is what callers of a ledger ask first.
func (a *app) send(cmd *cobra.Command, body any, wait time.Duration) error {
	if wait > 0 {
		wait = max(wait.Round(time.Second), time.Second) // the service counts in seconds
	}
	var n api.Notification
	shown, err := a.fetch(cmd.Context(), call{
		method: http.MethodPost, path: "/v1/notifications", body: body, wait: wait, again: againSend,
	}, &n)
	if err != nil || shown {
		return err
	}
	t := a.table()
	t.row("id", n.ID)
	t.row("state", stateOf(&n))
	t.row("duplicate", yesNo(n.Duplicate))
	t.field("differs", strings.Join(n.Differs, ", "))
	t.field("next action", nextAction(&n))
	if s := n.Segments; s != nil {
		t.field("segments", strconv.Itoa(s.Count)+" ("+s.Encoding+")")
	}
	t.field("suspected duplicate of", text(n.SuspectedDuplicateOf))
	if err := t.flush(); err != nil {
		return err
	}
	if n.Duplicate {
		a.hint("The event was known: nothing was sent for this command.")
	}
	a.adviseOn(&n)
	if n.SuspectedDuplicateOf != nil {
		a.hint("The same message to the same recipient was claimed under another event a short time ago. Is the event id a new one on each try?")
	}
	if !n.Final && n.State != "ambiguous" {
		a.hint("sendonce get %s shows what becomes of it.", n.ID)
	}
	return nil
}

// relative turns a duration into a time before or after now; RFC 3339 is left to the service.
func relative(flag string, at *string, now time.Time, direction time.Duration) error {
	if *at == "" || strings.ContainsAny(*at, "TZ:") {
		return nil
	}
	d, err := time.ParseDuration(*at)
	if err != nil || d <= 0 {
		return usage("--%s must be a time such as 2026-11-30T09:30:00Z, or a duration such as 10m", flag)
	}
	*at = now.Add(direction * d).UTC().Format(time.RFC3339)
	return nil
}
