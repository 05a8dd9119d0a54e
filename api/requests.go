package api

import "encoding/json"

// Event is the body of POST /v1/notifications and an item of a batch. Optional fields that are null or empty
// count as not given, except that an empty source is the empty source and an empty dedupe_key is refused.
type Event struct {
	EventID    string          `json:"event_id"`
	EventType  string          `json:"event_type,omitempty"`
	Source     *string         `json:"source,omitempty"`
	UserID     string          `json:"user_id,omitempty"`
	OccurredAt string          `json:"occurred_at,omitempty"`
	Channel    string          `json:"channel"`
	Recipient  string          `json:"recipient"`
	Message    json.RawMessage `json:"message"`
	Provider   string          `json:"provider,omitempty"`
	Lane       string          `json:"lane,omitempty"`
	SendAt     string          `json:"send_at,omitempty"`
	ExpiresAt  string          `json:"expires_at,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	DedupeKey  *string         `json:"dedupe_key,omitempty"`
}

// Batch is the body of POST /v1/notifications/batch; each item is an Event.
type Batch struct {
	Notifications []json.RawMessage `json:"notifications"`
}

// Action is the body of the six actions: message_id with confirm only, expires_at with release only.
type Action struct {
	Reason    string `json:"reason"`
	By        string `json:"by,omitempty"`
	MessageID string `json:"message_id,omitempty"`
	ExpiresAt string `json:"expires_at,omitempty"`
}

// ResendRequest is the body of a resend.
type ResendRequest struct {
	Reason          string `json:"reason"`
	By              string `json:"by,omitempty"`
	AcceptDuplicate bool   `json:"accept_duplicate,omitempty"`
}

// Bulk is the body of POST /v1/settlements. ExpectedCount is needed unless DryRun is set.
type Bulk struct {
	Action        string     `json:"action"`
	Filter        BulkFilter `json:"filter"`
	Reason        string     `json:"reason"`
	By            string     `json:"by,omitempty"`
	ExpectedCount *int64     `json:"expected_count,omitempty"`
	DryRun        bool       `json:"dry_run,omitempty"`
}

// BulkFilter takes the list's parameters; at least one is needed and none is empty. State may be several, separated by commas.
type BulkFilter struct {
	EventID       string  `json:"event_id,omitempty"`
	Recipient     string  `json:"recipient,omitempty"`
	MessageID     string  `json:"message_id,omitempty"`
	DedupeKey     string  `json:"dedupe_key,omitempty"`
	State         string  `json:"state,omitempty"`
	Channel       string  `json:"channel,omitempty"`
	Provider      string  `json:"provider,omitempty"`
	EventType     string  `json:"event_type,omitempty"`
	Source        *string `json:"source,omitempty"`
	UserID        string  `json:"user_id,omitempty"`
	Delivery      string  `json:"delivery,omitempty"`
	ClaimedAfter  string  `json:"claimed_after,omitempty"`
	ClaimedBefore string  `json:"claimed_before,omitempty"`
}

// PauseRequest is the body of pause and resume; resume keeps no reason and needs none.
type PauseRequest struct {
	Reason string `json:"reason"`
}
