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

// MaxLogMessages is how many messages a Log keeps in memory.
const MaxLogMessages = 100

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
	messages []LogMessage
}

// LogMessage is a message that was printed.
type LogMessage struct {
	ID        string // the message id
	Channel   ledger.Channel
	Recipient string
	EventType string
	Message   []byte // JSON
	At        time.Time
}

type logRequest struct {
	LogMessage
	refuse, drop bool
}

// Body returns the message.
func (r *logRequest) Body() []byte { return r.Message }

// Messages returns the last messages, newest first.
func (l *Log) Messages() []LogMessage {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := slices.Clone(l.messages)
	slices.Reverse(out)
	return out
}

// Account implements ledger.Provider.
func (l *Log) Account() [8]byte { return fingerprint("log", "", "") }

// Build implements ledger.Provider.
func (l *Log) Build(o ledger.Order) (ledger.Request, error) {
	if !json.Valid(o.Message) {
		return nil, errMessage
	}
	r := &logRequest{LogMessage: LogMessage{
		ID: "log_" + o.Reference(), Channel: o.Channel, Recipient: o.Recipient,
		EventType: o.EventType, Message: o.Message, At: o.At,
	}}
	if chance(o.Reference()) < l.settings.Share {
		r.refuse, r.drop = l.settings.Refuse, l.settings.DropAnswer
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
	if err := l.print(r.LogMessage); err != nil {
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
	if r.drop {
		return lost
	}
	return ledger.Result{Outcome: ledger.Accepted, Phase: ledger.Answered, MessageIDs: []string{r.ID}}
}

func (l *Log) print(m LogMessage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := io.WriteString(l.out, m.text(l.name)); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	if len(l.messages) == MaxLogMessages {
		l.messages = slices.Delete(l.messages, 0, 1)
	}
	l.messages = append(l.messages, m)
	return nil
}

// text is the message as a person reads it: a head line, then each field, its lines indented.
func (m LogMessage) text(provider string) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "[%s] %s to %s (%s)\n", provider, m.Channel, printable(m.Recipient), m.ID)
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
