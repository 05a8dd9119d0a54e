package ledger

import "time"

// Filter selects rows. Zero fields do not filter. Rows that were erased are found by their key only. The first five are indexed; a filter without any of them looks
// at no more than MaxScan rows and goes on by the cursor.
type Filter struct {
	EventID   string
	Recipient string // compared with both forms
	MessageID string
	DedupeKey string
	States    []State
	Channel   Channel
	Provider  string
	EventType string
	Source    *string // nil: any; the empty source is a source
	UserID    string
	Delivery  Delivery
	After     time.Time // claimed_at >=
	Before    time.Time // claimed_at <
	Oldest    bool
	Limit     int   // 1 to MaxList
	Cursor    int64 // Seq of the last row of the page before; 0: start
}

// Page is a part of a list. Next is 0 at the end.
type Page struct {
	Rows []Notification
	Next int64
}

// Stats are counts over the whole ledger.
type Stats struct {
	Notifications int64 // erased ones included
	States        map[State]int64
	MaybeSent     int64
	Duplicates    int64 // suppressed
	ProvenTwice   int64 // duplicates that receipts proved
	Shared        int64 // message ids that came for a second row
	Receipts      int64 // stored, each once
	Unmatched     int64 // of them, those whose row is not known
	Erased        int64 // rows of which only key, outcome and times are left; they are in no state's count
	OldestUnknown time.Time
}
