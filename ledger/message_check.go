package ledger

import (
	"slices"
	"strings"
)

// has reports whether a field was there, whatever its value.
func (r *messageReader) has(name string) bool {
	i := slices.Index(r.fields, name)
	return i >= 0 && r.seen&(1<<i) != 0
}

// check judges what was read by the rules of the channel.
func (r *messageReader) check() {
	if r.m.Template != nil {
		r.checkTemplate()
	} else {
		r.checkContent()
	}
	m := &r.m
	if r.ch == SMS && hasInvisible(m.From) {
		r.fault("from", "must not contain line breaks, control characters or invisible characters")
	}
	if r.ch != Email {
		return
	}
	for _, address := range []struct{ path, value string }{{"from", m.From}, {"reply_to", m.ReplyTo}} {
		if address.value == "" {
			continue
		}
		if _, err := RecipientKey(Email, address.value, ""); err != nil {
			r.fault(address.path, "must be a plain mail address, such as shop@example.test; a sender's name stands in from_name")
		}
	}
	for _, line := range []struct{ path, value string }{{"subject", m.Subject}, {"from_name", m.FromName}} {
		if hasLineBreak(line.value) {
			r.fault(line.path, "must not contain line breaks or control characters")
		}
	}
	r.checkHeaders()
}

// checkContent demands what each channel needs.
func (r *messageReader) checkContent() {
	m := &r.m
	switch r.ch {
	case SMS:
		if m.Text == "" {
			r.fault("text", "must not be empty")
		}
	case Email:
		if m.Subject == "" {
			r.fault("subject", "must not be empty")
		}
		if m.Text == "" && m.HTML == "" {
			r.fault("text", "or html must be there and not be empty")
		}
	case Push:
		if m.Title == "" && m.Body == "" && r.pairs == 0 {
			r.fault("body", "or title or data must be there and not be empty")
		}
	case Webhook:
		if m.Data == nil {
			r.fault("data", "must be there; it may be any JSON")
		}
	}
}

// checkTemplate refuses content beside a template: only one of them could be sent.
func (r *messageReader) checkTemplate() {
	id := r.m.Template.ID
	if isBlank(id) || hasInvisible(id) {
		r.fault("template.id", "must not be empty nor contain line breaks, control characters or invisible characters")
	}
	for _, name := range []string{"text", "subject", "html", "title", "body", "data"} {
		if r.has(name) {
			r.fault(name, "must not stand beside a template")
		}
	}
}

// Limits of a message's own headers. A mail line may have 998 bytes (RFC 5322 section 2.1.1).
const (
	maxHeaders    = 50
	maxHeaderLine = 998
)

// reservedHeaders are set from other fields or by the providers, or would send the message to further people.
// A name that ends in - stands for all that begin so.
var reservedHeaders = []string{
	"from", "sender", "to", "cc", "bcc", "apparently-to", "reply-to", "subject", "date", "message-id", "return-path", "received",
	"mime-version", "content-", "resent-", "dkim-signature", "x-smtpapi", "x-sg-", "idempotency-key", "resend-idempotency-key",
}

// checkHeaders refuses what would break out of a header, or say something else than the message's fields.
func (r *messageReader) checkHeaders() {
	if len(r.m.Headers) == 0 {
		return
	}
	if len(r.m.Headers) > maxHeaders {
		r.fault("headers", "must be at most 50")
		return
	}
	names := make([]string, 0, len(r.m.Headers))
	for name := range r.m.Headers {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		value := r.m.Headers[name]
		sameName := func(other string) bool { return strings.EqualFold(other, name) }
		switch {
		case name == "" || !only(name, isHeaderNameByte):
			r.fault("headers."+name, "must have a name of printable ASCII without blanks and colons")
		case slices.ContainsFunc(names[:i], sameName):
			r.fault("headers."+name, "must not be there twice, whatever its case")
		case isReserved(name):
			r.fault("headers."+name, "is set by sendonce or by the provider")
		case hasLineBreak(value):
			r.fault("headers."+name, "must not contain line breaks or control characters")
		case len(name)+len(": ")+len(value) > maxHeaderLine:
			r.fault("headers."+name, "must be at most 998 bytes long together with its name")
		}
	}
}

func isReserved(name string) bool {
	return slices.ContainsFunc(reservedHeaders, func(h string) bool {
		if strings.HasSuffix(h, "-") && len(name) > len(h) {
			return strings.EqualFold(name[:len(h)], h)
		}
		return strings.EqualFold(name, h)
	})
}

// isHeaderNameByte is RFC 9110's token, which is narrower than what mail allows.
func isHeaderNameByte(c byte) bool {
	return isLabelByte(c) || 'A' <= c && c <= 'Z' || strings.IndexByte("!#$%&'*+.^_`|~", c) >= 0
}
