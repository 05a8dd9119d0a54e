package ledger

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Why receipts are refused. The api package turns them into statuses.
var (
	ErrUnverified = errors.New("the receipt's signature, its time or the secret for it is missing or wrong")           // 403
	ErrUnsigned   = fmt.Errorf("%w: it has none at all, and its provider signs it when it posts again", ErrUnverified) // 503
	ErrUnreadable = errors.New("the receipt is signed, but its body cannot be read")                                   // 400
)

// Posted is a request of a provider to its receipts route, as it came.
type Posted struct {
	URL       string              // public_url with the path and the query as they came: what the provider was told, and what it signs
	Header    map[string][]string // names in the canonical form of net/http
	Body      []byte              // byte for byte
	Reference string              // what stands behind the provider's name in the path, "" for nothing. It is no right: unless the signature covers the URL it says nothing
	At        time.Time           // our clock
}

// Reporter is a provider that posts receipts: delivery reports about what it took.
type Reporter interface {
	// TakesReceipts reports whether what it posts can be verified, as it is configured.
	TakesReceipts() bool

	// Receipts verifies a request over its bytes as they came and reads what it reports; pure. ErrUnverified: no secret is
	// configured, or signature or time are wrong; ErrUnsigned instead: nothing is wrong but that its provider left the signature
	// out. ErrUnreadable: the signature is right and the body is no report at all; a part that cannot be read or used beside good
	// ones is left out. Provider and ArrivedAt are set by the ledger.
	Receipts(p Posted) ([]Receipt, error)
}

// ParseReference reads what Order.Reference wrote and a provider echoed.
func ParseReference(s string) (id uuid.UUID, number int, ok bool) {
	i := strings.LastIndexByte(s, '-')
	if i != 36 { // a UUID in its usual form
		return uuid.Nil, 0, false
	}
	number, err := strconv.Atoi(s[i+1:])
	if err != nil || number < 1 || s[i+1:] != strconv.Itoa(number) {
		return uuid.Nil, 0, false
	}
	id, err = uuid.Parse(s[:i])
	return id, number, err == nil && id.String() == s[:i]
}
