package providers

import (
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"sendonce/ledger"
)

// A reply that comes while the message leaves is not the one to its dot, which then stays here.
func TestSMTP_SpeaksBeforeTheDot(t *testing.T) {
	long := `{"subject":"s","text":"` + strings.Repeat("0123456789abcdef", 8<<10) + `"}`
	for reply, want := range map[string]expected{
		"250 2.0.0 Early\r\n":     {outcome: ledger.Deferred, fault: ledger.FaultUnexpectedReply, code: "2.0.0"},
		"552 5.3.4 Too big\r\n":   {outcome: ledger.Rejected, code: "5.3.4"},
		"not a reply of SMTP\r\n": {outcome: ledger.Deferred, fault: ledger.FaultUnexpectedReply},
	} {
		t.Run(reply[:3], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var rest []byte
				s := secure()
				s.answer = at("DATA", func(c net.Conn) bool {
					_, _ = io.WriteString(c, "354 Go on\r\n")
					_, _ = io.CopyN(io.Discard, c, 1000)
					go func() { _, _ = io.WriteString(c, reply) }()
					rest, _ = io.ReadAll(c)
					return false
				})
				p := newSMTP(t, s)
				r, err := p.Build(smtpOrder(long))
				if err != nil {
					t.Fatal(err)
				}
				check(t, p.Send(t.Context(), r), want)
				s.running.Wait()
				if strings.HasSuffix(string(rest), "\r\n.\r\n") || strings.Contains(string(rest), "QUIT") {
					t.Errorf("the message has an end: %q", rest[max(0, len(rest)-20):])
				}
			})
		})
	}
}
