package api

import (
	"encoding/json"

	"sendonce/ledger"
)

// Notification is a row as answers show it: every field is always there, null where there is nothing.
type Notification struct {
	ID                   string  `json:"id"`
	DedupeKey            string  `json:"dedupe_key"`
	Duplicate            bool    `json:"duplicate"`
	State                string  `json:"state"`
	Final                bool    `json:"final"`
	MaybeSent            bool    `json:"maybe_sent"`
	Reason               *string `json:"reason"`
	NextAction           *string `json:"next_action"`
	Delivery             *string `json:"delivery"`
	EventID              *string `json:"event_id"` // this, provider and lane are null only once the row was erased
	EventType            *string `json:"event_type"`
	Source               string  `json:"source"`
	UserID               *string `json:"user_id"`
	OccurredAt           *string `json:"occurred_at"`
	Channel              string  `json:"channel"`
	Recipient            *string `json:"recipient"`
	Provider             *string `json:"provider"`
	Lane                 *string `json:"lane"`
	MessageID            *string `json:"message_id"`
	AttemptCount         int     `json:"attempt_count"`
	Version              int64   `json:"version"`
	ResendOf             *string `json:"resend_of"`
	DuplicateCount       int64   `json:"duplicate_count"`
	LastDuplicateAt      *string `json:"last_duplicate_at"`
	SuspectedDuplicateOf *string `json:"suspected_duplicate_of"`
	ClaimedAt            string  `json:"claimed_at"`
	DueAt                *string `json:"due_at"`
	ExpiresAt            *string `json:"expires_at"`
	ConfirmedAt          *string `json:"confirmed_at"`
	UpdatedAt            string  `json:"updated_at"`

	// Differs is there only in an answer 200 to a claim whose message differs.
	Differs []string `json:"differs,omitempty"`

	// Segments is there only in the answer to a claim of an SMS whose text is cut by a provider that says how.
	Segments *Segments `json:"segments,omitempty"`
}

// Segments are the parts in which a text is sent.
type Segments struct {
	Encoding string `json:"encoding"` // GSM-7 or UCS-2
	Count    int    `json:"count"`
}

// Record is one row in full.
type Record struct {
	Notification
	Message     json.RawMessage `json:"message"`
	Metadata    json.RawMessage `json:"metadata"`
	Attempts    []Attempt       `json:"attempts"`
	Receipts    []Receipt       `json:"receipts"`
	Settlements []Settlement    `json:"settlements"`
	Duplicates  []Duplicate     `json:"duplicates"`
	Resends     []string        `json:"resends"`
	ErasedAt    *string         `json:"erased_at"` // since then only key, outcome and times are left
}

// Attempt is one handing to a provider.
type Attempt struct {
	Number    int     `json:"number"`
	Kind      string  `json:"kind"`
	Provider  string  `json:"provider"`
	StartedAt string  `json:"started_at"`
	EndedAt   *string `json:"ended_at"`
	Outcome   *string `json:"outcome"`
	Phase     *string `json:"phase"`
	Status    *int    `json:"status"`
	Code      *string `json:"code"`
	MessageID *string `json:"message_id"`
	Error     *string `json:"error"`
	Answer    *string `json:"answer"`
}

// Receipt is a delivery report or another proof.
type Receipt struct {
	Provider   string  `json:"provider"`
	Attempt    *int    `json:"attempt"` // null: of a row that no attempt was made for
	MessageID  *string `json:"message_id"`
	Kind       string  `json:"kind"`
	Delivery   *string `json:"delivery"`
	Code       *string `json:"code"`
	ProviderAt *string `json:"provider_at"`
	ArrivedAt  string  `json:"arrived_at"`
}

// Settlement is a change of a row that is no attempt.
type Settlement struct {
	At       string          `json:"at"`
	Action   string          `json:"action"`
	From     string          `json:"from_state"`
	To       string          `json:"to_state"`
	Actor    string          `json:"actor"`
	By       *string         `json:"by"`
	Reason   *string         `json:"reason"`
	Evidence json.RawMessage `json:"evidence"`
}

// Duplicate is a suppressed repeat.
type Duplicate struct {
	At      string   `json:"at"`
	Caller  string   `json:"caller"`
	Differs []string `json:"differs"`
}

// List is a page of rows.
type List struct {
	Notifications []Notification `json:"notifications"`
	NextCursor    *string        `json:"next_cursor"`
}

// BatchResult is one item of a batch's answer.
type BatchResult struct {
	Status       int           `json:"status"`
	Notification *Notification `json:"notification,omitempty"`
	Problem      *Problem      `json:"problem,omitempty"`
}

// BatchAnswer is the answer to a batch.
type BatchAnswer struct {
	Results    []BatchResult `json:"results"`
	Claimed    int           `json:"claimed"`
	Duplicates int           `json:"duplicates"`
	Refused    int           `json:"refused"`
}

// BulkAnswer counts.
type BulkAnswer struct {
	Matched int64 `json:"matched"`
	Changed int64 `json:"changed"`
	Skipped int64 `json:"skipped"`
}

// Provider is a provider and its gate. Capabilities are those in use as it is configured, Offers those that the service has.
type Provider struct {
	Name         string   `json:"name"`
	Type         string   `json:"type"`
	Channels     []string `json:"channels"`
	Gate         Gate     `json:"gate"`
	Capabilities []string `json:"capabilities"`
	Offers       []string `json:"offers"`
}

// Gate says whether a provider may be used now.
type Gate struct {
	State  string  `json:"state"`
	Until  *string `json:"until"`
	Reason *string `json:"reason"`
	By     *string `json:"by"`
}

// Providers is the answer of GET /v1/providers.
type Providers struct {
	Providers []Provider `json:"providers"`
}

// Keys is the answer of GET /v1/keys.
type Keys struct {
	Keys []Key `json:"keys"`
}

// Key is a key under one recipe.
type Key struct {
	Recipe       string        `json:"recipe"`
	Parts        []KeyPart     `json:"parts"`
	DedupeKey    string        `json:"dedupe_key"`
	Notification *Notification `json:"notification"`
}

// KeyPart is one part of a key.
type KeyPart struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Health is the answer of GET /healthz.
type Health struct {
	Status  string `json:"status"` // "ok"
	Version string `json:"version"`
}

// Stats is the answer of GET /v1/stats.
type Stats struct {
	Notifications   int64            `json:"notifications"`
	States          map[string]int64 `json:"states"`
	MaybeSent       int64            `json:"maybe_sent"`
	Duplicates      int64            `json:"duplicates_suppressed"`
	ProvenTwice     int64            `json:"duplicates_proven"`
	Shared          int64            `json:"message_ids_shared"`
	Receipts        int64            `json:"receipts"`
	Unmatched       int64            `json:"receipts_unmatched"`
	Erased          int64            `json:"erased"` // of notifications; no state counts them
	OldestAmbiguous *string          `json:"oldest_ambiguous_at"`
}

// Ready is the answer of GET /readyz.
type Ready struct {
	Ready     bool       `json:"ready"`
	Reason    *string    `json:"reason"`
	Providers []Provider `json:"providers"`
}

// Problem is an error (RFC 9457). Type is a path on this server that explains Code to a person.
type Problem struct {
	Type   string              `json:"type"`
	Title  string              `json:"title"`
	Status int                 `json:"status"`
	Detail string              `json:"detail"`
	Code   string              `json:"code"`
	Errors []ledger.FieldError `json:"errors,omitempty"`

	Notification *Current `json:"notification,omitempty"`
	Differs      []string `json:"differs,omitempty"`
	State        string   `json:"state,omitempty"`
	Allowed      []string `json:"allowed,omitzero"` // an empty list with wrong_state: nothing is allowed
	Matched      *int64   `json:"matched,omitempty"`
}

// Current is a row as a problem shows it. With 412 and 428 it names its resends, so that a second click on
// resend finds what the first one made.
type Current struct {
	Notification
	Resends []string `json:"resends,omitzero"`
}
