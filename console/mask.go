package console

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"sendonce/ledger"
)

const hiddenPart = "•••"

// mask shows enough of a recipient to tell two apart, and too little to reach one.
func mask(n *ledger.Notification) string {
	form := n.RecipientKey
	if form == "" {
		return "" // erased
	}
	switch n.Channel {
	case ledger.SMS:
		if len(form) > 7 {
			return form[:3] + hiddenPart + form[len(form)-2:]
		}
	case ledger.Email:
		if local, domain, ok := strings.Cut(form, "@"); ok {
			_, size := utf8.DecodeRuneInString(local)
			return local[:size] + hiddenPart + "@" + domain
		}
	case ledger.Webhook:
		if u, err := url.Parse(form); err == nil && u.Host != "" {
			return u.Scheme + "://" + u.Host + "/" + hiddenPart
		}
	case ledger.Push:
		if len(form) > 16 {
			return strings.ToValidUTF8(form[:4], "") + hiddenPart
		}
	}
	return hiddenPart
}
