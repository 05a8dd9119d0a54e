package providers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"sendonce/ledger"
)

// How much a Log keeps in memory, the newest: whichever bound is met first.
const (
	MaxLogMessages = 200
	maxLogBytes    = 4 << 20 // of recipients and messages
)

// LogSettings configure the type "log": nothing leaves, messages are printed. It can be told to misbehave.
type LogSettings struct {
	Delay      time.Duration `koanf:"delay"`       // between the message and its answer
	Refuse     bool          `koanf:"refuse"`      // refuse the message for good
	DropAnswer bool          `koanf:"drop_answer"` // take the message and never say so
	Share      float64       `koanf:"share"`       // of attempts that refuse and drop_answer happen to; 1: all

	Out io.Writer `koanf:"-"` // nil: stdout
}

// Validate implements Settings.
func (s *LogSettings) Validate(c Common) []ledger.FieldError {
	var out []ledger.FieldError
	if s.Delay < 0 {
		out = append(out, ledger.FieldError{Field: "delay", Detail: "must not be negative"})
	}
	if s.Share < 0 || s.Share > 1 {
		out = append(out, ledger.FieldError{Field: "share", Detail: "must be between 0 and 1"})
	}
	if c.RepeatWindow != 0 {
		out = append(out, ledger.FieldError{Field: "repeat_window", Detail: "must be left out: log honours no key"})
	}
	return append(out, c.faults()...)
}

// New implements Settings; the provider is a *Log.
func (s *LogSettings) New(name string, _ Common) (ledger.Provider, error) {
	l := &Log{name: name, settings: *s, out: s.Out}
	if l.out == nil {
		l.out = os.Stdout
	}
	return l, nil
}

// Log prints messages instead of sending them, for development and demonstrations. What it prints is content:
// it goes to its writer and never into the log stream.
type Log struct {
	name     string
	settings LogSettings

	mu       sync.Mutex
	out      io.Writer
	messages []ledger.Printed
	bytes    int // of messages and recipients
}

type logRequest struct {
	ledger.Printed
	refuse bool
}

// Body returns the message.
func (r *logRequest) Body() []byte { return r.Message }

// Printed implements ledger.Outbox.
func (l *Log) Printed() []ledger.Printed {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.messages)
}

// Account implements ledger.Provider.
func (l *Log) Account() [8]byte { return fingerprint("log", "", "") }

// Build implements ledger.Provider.
func (l *Log) Build(o ledger.Order) (ledger.Request, error) {
	if !json.Valid(o.Message) {
		return nil, errMessage
	}
	r := &logRequest{Printed: ledger.Printed{
		MessageID: "log_" + o.Reference(), Notification: o.ID, Attempt: o.Number, Channel: o.Channel, Recipient: o.Recipient,
		EventType: o.EventType, Message: o.Message, At: o.At,
	}}
	if chance(o.Reference()) < l.settings.Share {
		r.refuse, r.Dropped = l.settings.Refuse, l.settings.DropAnswer
	}
	return r, nil
}

// chance is a number from 0 up to 1 that hangs on the attempt alone, so that a run can be repeated.
func chance(reference string) float64 {
	sum := sha256.Sum256([]byte(reference))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// Send implements ledger.Provider.
func (l *Log) Send(ctx context.Context, request ledger.Request) ledger.Result {
	r := request.(*logRequest)
	if r.refuse {
		return ledger.Result{Outcome: ledger.Rejected, Phase: ledger.Answered, Code: "refused", Error: "told to refuse"}
	}
	if err := l.print(r.Printed); err != nil {
		return ledger.Result{Reason: ledger.ReasonNoAnswer, Phase: ledger.Written, Error: "writing the message failed"}
	}
	lost := ledger.Result{Reason: ledger.ReasonNoAnswer, Phase: ledger.Written, Error: "told to drop the answer"}
	if l.settings.Delay > 0 {
		timer := time.NewTimer(l.settings.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			lost.Error = plainError(ledger.Written, ctx.Err())
			return lost
		}
	}
	if r.Dropped {
		return lost
	}
	return ledger.Result{Outcome: ledger.Accepted, Phase: ledger.Answered, MessageIDs: []string{r.MessageID}}
}

func (l *Log) print(m ledger.Printed) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := io.WriteString(l.out, printed(l.name, m)); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	l.messages = append(l.messages, m)
	l.bytes += size(m)
	for len(l.messages) > MaxLogMessages || l.bytes > maxLogBytes {
		l.bytes -= size(l.messages[0])
		l.messages = slices.Delete(l.messages, 0, 1)
	}
	return nil
}

func size(m ledger.Printed) int { return len(m.Message) + len(m.Recipient) }

// printed is a message as a person reads it: a head line, then each field, its lines indented.
func printed(provider string, m ledger.Printed) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "[%s] %s to %s (%s)\n", provider, m.Channel, printable(m.Recipient), m.MessageID)
	var fields map[string]json.RawMessage
	if json.Unmarshal(m.Message, &fields) != nil {
		fields = map[string]json.RawMessage{"message": m.Message}
	}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		value := string(fields[name])
		if s := ""; json.Unmarshal(fields[name], &s) == nil {
			value = s
		}
		fmt.Fprintf(&b, "    %s: %s\n", printable(name), printable(value))
	}
	return b.String()
}
