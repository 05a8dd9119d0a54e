package providers

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"sendonce/ledger"
)

// vonageClaims are what the token of a signed webhook says.
type vonageClaims struct {
	jwt.RegisteredClaims
	PayloadHash string `json:"payload_hash"` // hex SHA-256 of the body as it came
	APIKey      string `json:"api_key"`      // the account, whose secret signs
}

// Receipts implements ledger.Reporter: one state of one message, signed by a token in the header. The path is not signed, so
// client_ref alone says which row is meant. After a fault of its own Vonage posts a status unsigned, and signed once more after a
// 5xx (developer.vonage.com/messages/concepts/signed-webhooks).
func (p *vonageMessages) Receipts(r ledger.Posted) ([]ledger.Receipt, error) {
	switch {
	case p.TakesReceipts() && p.verified(&r):
		return p.read(r.Body)
	case p.TakesReceipts() && len(http.Header(r.Header).Values("Authorization")) == 0:
		return nil, ledger.ErrUnsigned
	}
	return nil, ledger.ErrUnverified
}

// verified reports whether the token is right, of these minutes, of this account, and about this body.
func (p *vonageMessages) verified(r *ledger.Posted) bool {
	scheme, token, _ := strings.Cut(headerOnce(r, "Authorization"), " ")
	var claims vonageClaims
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithStrictDecoding(),
		jwt.WithTimeFunc(func() time.Time { return r.At }), jwt.WithLeeway(receiptClockSkew), jwt.WithIssuedAt(),
	)
	_, err := parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return []byte(p.settings.SignatureSecret), nil })
	return err == nil && strings.EqualFold(scheme, "Bearer") && claims.IssuedAt != nil &&
		near(claims.IssuedAt.Time, r.At, receiptClockSkew, receiptClockSkew) && hashes(r.Body, strings.ToLower(claims.PayloadHash)) &&
		(p.settings.APIKey == "" || claims.APIKey == p.settings.APIKey)
}

type vonageStatus struct {
	UUID      json.RawMessage `json:"message_uuid"`
	Status    json.RawMessage `json:"status"`
	ClientRef json.RawMessage `json:"client_ref"`
	Timestamp json.RawMessage `json:"timestamp"`
	Error     json.RawMessage `json:"error"`
}

// read reads one state; none comes of a body that is about no message of ours, such as one that came in.
func (p *vonageMessages) read(body []byte) ([]ledger.Receipt, error) {
	var s *vonageStatus
	if readReport(body, &s) != nil || s == nil {
		return nil, ledger.ErrUnreadable
	}
	var problem vonageProblem
	if given(s.Error) && readReport(s.Error, &problem) != nil {
		problem = vonageProblem{}
	}
	id, word := textOf(s.UUID), textOf(s.Status)
	r, ok := vonageWords.receipt(reportText{
		reference: textOf(s.ClientRef), messageID: id, word: word, code: problem.code(), at: reportTime(textOf(s.Timestamp), time.RFC3339),
		fact: reportKey(id, word), body: body,
	})
	if ok && id != "" {
		return []ledger.Receipt{r}, nil
	}
	return nil, nil
}
