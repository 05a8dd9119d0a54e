package fill

import (
	"encoding/binary"
	"strconv"
	"time"
)

// Spacing is the time between two claims in a made ledger.
const Spacing = 20 * time.Millisecond

// row is what the columns of one notification are made from.
type row struct {
	n                              int64
	id                             [16]byte
	event, recipient, key, message []byte
	hash                           []byte // of recipient and message
	messageID, answer              []byte
	claimed, sent                  int64 // Unix milliseconds
	binaryKey                      bool  // how the schema keeps keys
	short                          bool  // a message without the sentence that fills it up
}

// ID is the id of row n of a ledger whose first row was claimed at from (Unix milliseconds): a UUIDv7.
func ID(n, from int64) (id [16]byte) {
	at := uint64(claimedAt(n, from))
	binary.BigEndian.PutUint64(id[:], at<<16|7<<12|mix(uint64(n)^0xabcd)&0xfff)
	binary.BigEndian.PutUint64(id[8:], 1<<63|mix(uint64(n)^0xef01)>>2)
	return id
}

func claimedAt(n, from int64) int64 { return from + (n-1)*Spacing.Milliseconds() }

// set makes r row n. The provider took 120 ms and answered as Infrai's pages show it.
func (r *row) set(n, from int64) {
	r.n, r.id = n, ID(n, from)
	r.event, r.recipient = appendEventID(r.event[:0], n), appendRecipient(r.recipient[:0], n)
	r.key, r.message = appendKey(r.key[:0], r.event, r.recipient), appendMessage(r.message[:0], n, r.short)
	r.hash = contentHash(r.recipient, r.message)
	r.claimed = claimedAt(n, from)
	r.sent = r.claimed + 120
	r.messageID = append(append(r.messageID[:0], "msg_01"...), strconv.FormatUint(mix(uint64(n)^0x7777)|1<<63, 36)...)
	r.messageID = append(r.messageID, strconv.FormatUint(uint64(n)+1e10, 36)...)
	r.answer = append(append(r.answer[:0], `{"ok":true,"data":{"results":[{"message_id":"`...), r.messageID...)
	r.answer = append(append(append(r.answer, `","to":"`...), r.recipient...), `"}]},"error":null,"metadata":{"cost_usd":0.007475,"latency_ms":41,`...)
	r.answer = append(r.answer, `"vendor":"v1","cache_hit":false,"request_id":"req_01"}}`...)
}
