package ledger

import (
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"
	"golang.org/x/net/idna"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// Limits of an address, in bytes: RFC 5321 section 4.5.3.1, RFC 1035 section 2.3.4, E.164 (digits).
const (
	maxLocalPart = 64
	maxDomain    = 253
	maxLabel     = 63
	minDigits    = 7
	maxDigits    = 15
)

// RecipientKey returns the form of a recipient that enters keys and that answers show: different spellings of
// surely the same recipient have one form, and look-alikes are never folded together. The form of a form is
// itself. region is the ISO 3166 code that reads phone numbers without +; empty: they are refused.
// The error is an *InvalidError on "recipient".
func RecipientKey(ch Channel, recipient, region string) (string, error) {
	if !plainASCII(recipient) {
		if !utf8.ValidString(recipient) {
			return "", Invalid("recipient", "must be valid UTF-8")
		}
		if hasInvisible(recipient) {
			return "", Invalid("recipient", "must not contain line breaks, control characters or invisible characters")
		}
	}
	if isBlank(recipient) {
		return "", Invalid("recipient", "must not be empty")
	}
	if longer(recipient, MaxRecipient) {
		return "", Invalid("recipient", "must be at most %d characters long", MaxRecipient)
	}
	var form, detail string
	switch ch {
	case SMS:
		form, detail = phoneForm(recipient, region)
	case Email:
		form, detail = emailForm(recipient)
	case Webhook:
		form, detail = urlForm(recipient)
	case Push:
		form = recipient
	default:
		return "", Invalid("channel", "must be sms, email, push or webhook")
	}
	if detail != "" {
		return "", Invalid("recipient", "%s", detail)
	}
	return form, nil
}

// phoneForm returns + and digits. No metadata ever judges a number with +: numbering plans change, keys don't.
func phoneForm(s, region string) (form, fault string) {
	var space [32]byte
	left := space[:0]
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '-', '.', '(', ')':
		default:
			left = append(left, c)
		}
	}
	if len(left) > 0 && left[0] == '+' {
		if trunkZero(s) {
			return "", `must not have a trunk zero in brackets: write "+44 7700 900123", not "+44 (0)7700 900123"`
		}
		return e164(string(left))
	}
	if !only(string(left), isDigit) {
		return "", "must be + and 7 to 15 digits, such as +14155550142"
	}
	if region == "" {
		return "", "must begin with + and the country code, such as +14155550142 (no region is configured to read others)"
	}
	// Possible, not valid: ranges in use change with each release of the metadata, lengths hardly ever.
	number, err := phonenumbers.Parse(string(left), region)
	if err != nil || !phonenumbers.IsPossibleNumber(number) {
		return "", "is no phone number of region " + region + "; write + and the country code"
	}
	return e164(phonenumbers.Format(number, phonenumbers.E164))
}

// e164 checks what is left of a number with +.
func e164(s string) (form, fault string) {
	digits := s[1:]
	if len(digits) < minDigits || len(digits) > maxDigits || digits[0] == '0' || !only(digits, isDigit) {
		return "", "must be + and 7 to 15 digits that do not begin with 0, such as +14155550142"
	}
	return s, ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// trunkZero reports whether a pair of brackets opens with a zero: "(0)", "(020)". Behind a country code that
// may be meant to be dialled or not.
func trunkZero(s string) bool {
	for {
		i := strings.IndexByte(s, '(')
		if i < 0 {
			return false
		}
		s = strings.TrimLeft(s[i+1:], " -.(")
		if strings.HasPrefix(s, "0") {
			return true
		}
	}
}

// emailForm returns a mail address trimmed, in NFC, in lower case, its domain in ASCII. Quoted local parts and
// address literals are refused: hardly any provider takes them, and they have many spellings.
func emailForm(s string) (form, fault string) {
	s = strings.TrimSpace(s)
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return "", "must be a mail address, such as ada@example.test"
	}
	local, domain := lowerNFC(s[:at]), s[at+1:]
	if local == "" || len(local) > maxLocalPart {
		return "", "must have 1 to 64 bytes before the @"
	}
	for _, r := range local {
		if unicode.IsSpace(r) || strings.ContainsRune(`@"(),:;<>[\]`, r) {
			return "", "must be a plain mail address, such as ada@example.test: no name, blanks, quotes or brackets"
		}
	}
	if domain, fault = domainForm(domain); fault != "" {
		return "", fault
	}
	return local + "@" + domain, ""
}

// lowerNFC lowers with the full mapping of Unicode, as JavaScript and Python do: simple mapping would fold the
// dotted capital I of Turkish into i, another letter.
func lowerNFC(s string) string {
	if plainASCII(s) {
		return strings.ToLower(s)
	}
	s = cases.Lower(language.Und).String(norm.NFC.String(s))
	return norm.NFC.String(s)
}

// domainForm returns a domain in lower-case ASCII (IDNA 2008 look-up with the mapping of UTS 46).
func domainForm(s string) (form, fault string) {
	if plainASCII(s) {
		s = strings.ToLower(s)
	} else {
		ascii, err := idna.Lookup.ToASCII(s)
		if err != nil {
			return "", "must have a valid domain behind the @"
		}
		s = ascii
	}
	if len(s) > maxDomain {
		return "", "must have a domain of at most 253 bytes"
	}
	for rest, more := s, true; more; {
		var label string
		label, rest, more = strings.Cut(rest, ".")
		if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' || !only(label, isLabelByte) {
			return "", "must have a valid domain behind the @, such as example.test"
		}
	}
	return s, ""
}

func isLabelByte(c byte) bool { return 'a' <= c && c <= 'z' || isDigit(c) || c == '-' }

// urlForm returns a URL as net/url prints what it read.
func urlForm(s string) (form, fault string) {
	const shape = "must be a URL such as https://crm.example.test/hooks"
	u, err := url.Parse(s)
	if err != nil {
		return "", shape
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return "", shape + ": its scheme must be https or http"
	case u.Host == "" || u.Hostname() == "":
		return "", shape + ": it has no host"
	case u.User != nil:
		return "", "must not have a user name or password in its URL"
	case strings.Contains(s, "#"):
		return "", "must not have a #fragment: it never reaches the receiver"
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return "", "must have a port of 1 to 65535"
		}
	}
	form = u.String()
	// What is printed must be read as the same again, or one target would have two keys.
	if again, err := url.Parse(form); err != nil || again.String() != form || longer(form, MaxRecipient) {
		return "", shape
	}
	return form, ""
}
