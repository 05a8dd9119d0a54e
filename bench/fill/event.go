// Package fill makes ledgers that look as if a service had written them for months: rows go straight into the
// schema, and each index is built from sorted keys, so that ten million rows take minutes.
//
// Everything about row n follows from n, so that a load can repeat its event and a test can check it without a list.
package fill

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// recipients is how many people there are: a fraction of the rows, as with real customers.
const recipients = 2_000_000

// messageBytes is the length of a message as JSON.
const messageBytes = 200

// mix scatters n over all 64-bit numbers, each exactly once (the finisher of SplitMix64).
func mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// EventID is the event id of row n.
func EventID(n int64) string { return string(appendEventID(nil, n)) }

// appendEventID appends the event id of row n. It is as random as a UUID, the hardest case for an index.
func appendEventID(b []byte, n int64) []byte {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	b = append(b, "evt_"...)
	for i := range uint64(2) {
		for v, k := mix(uint64(n)<<1|i), 0; k < 13; v, k = v>>5, k+1 {
			b = append(b, digits[v&31])
		}
	}
	return b
}

// Recipient is the phone number of row n.
func Recipient(n int64) string { return string(appendRecipient(nil, n)) }

// appendRecipient appends the phone number of row n, in the form that enters the key.
func appendRecipient(b []byte, n int64) []byte {
	person := mix(uint64(n)^0x5bd1e995) % recipients
	return strconv.AppendUint(append(b, "+1415"...), 2_000_000+person, 10)
}

// appendMessage appends the message of row n as JSON: of messageBytes, or short.
func appendMessage(b []byte, n int64, short bool) []byte {
	start := len(b)
	b = strconv.AppendInt(append(b, `{"text":"Order A-`...), n, 10)
	b = strconv.AppendInt(append(b, ` shipped. Track it at https://example.test/t/A-`...), n, 10)
	b = append(b, ` and reply STOP to end these messages.`...)
	if short {
		return append(b, `"}`...)
	}
	const rest = " It comes to the address that you gave when you ordered; our courier rings twice and leaves a card if nobody is there."
	return append(append(b, rest[:messageBytes-2-(len(b)-start)]...), `"}`...)
}

// AppendClaim appends the claim of row n as the HTTP API takes it.
func AppendClaim(b []byte, n int64) []byte {
	b = append(appendEventID(append(b, `{"event_id":"`...), n), `","event_type":"order.shipped","channel":"sms","recipient":"`...)
	b = append(appendRecipient(b, n), `","message":`...)
	return append(appendMessage(b, n, false), '}')
}

// appendKey appends the dedupe key: the recipe "event" of an event without source.
func appendKey(b, eventID, recipient []byte) []byte {
	var buf [128]byte
	joined := append(append(buf[:0], eventID...), "\x00sms\x00"...)
	sum := sha256.Sum256(append(joined, recipient...))
	return hex.AppendEncode(b, sum[:20])
}

// contentHash is the ledger's hash of recipient and message. In the form that it hashes a comma follows each member.
func contentHash(recipient, message []byte) []byte {
	var buf [512]byte
	b := append(append(buf[:0], "sms\x00"...), recipient...)
	b = append(append(append(b, 0), message[:len(message)-1]...), ",}"...)
	sum := sha256.Sum256(b)
	return sum[:16]
}
