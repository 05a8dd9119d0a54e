package providers

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"sendonce/ledger"
)

// Rate is requests a second, written as "10/s", "300/m" or "1000/h"; 0 is no limit.
type Rate float64

// MaxRate is the highest rate that can be set, in requests a second.
const MaxRate = 100_000

var perUnit = map[string]float64{"s": 1, "m": 60, "h": 3600}

// ParseRate reads a rate as it is written in the configuration.
func ParseRate(s string) (Rate, error) {
	count, unit, _ := strings.Cut(s, "/")
	n, err := strconv.ParseUint(count, 10, 31)
	seconds, ok := perUnit[unit]
	if err != nil || !ok || n == 0 || float64(n)/seconds > MaxRate {
		return 0, fmt.Errorf("%q is no rate: write a whole number over s, m or h, such as 10/s, and at most %d/s", s, MaxRate)
	}
	return Rate(float64(n) / seconds), nil
}

// UnmarshalText is ParseRate for decoders.
func (r *Rate) UnmarshalText(text []byte) error {
	parsed, err := ParseRate(string(text))
	if err == nil {
		*r = parsed
	}
	return err
}

// String writes the rate in the unit in which it is a whole number.
func (r Rate) String() string {
	if r == 0 {
		return "none"
	}
	for _, unit := range []string{"s", "m", "h"} {
		if n := float64(r) * perUnit[unit]; n >= 1 && n-float64(int64(n+0.5)) < 1e-6 && float64(int64(n+0.5))-n < 1e-6 {
			return strconv.FormatInt(int64(n+0.5), 10) + "/" + unit
		}
	}
	return strconv.FormatFloat(float64(r), 'g', 6, 64) + "/s"
}

// Secret is a setting that never shows in a log, an error or the printed configuration; string(s) is its value.
type Secret string

const masked = "***"

// String hides the value.
func (s Secret) String() string { return masked }

// GoString hides the value.
func (s Secret) GoString() string { return masked }

// Format hides the value from every verb, also from those that would print the raw text as a fault of the format.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(masked)) }

// LogValue hides the value from handlers that do not use String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalText hides the value from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// faults are what is wrong with the common settings of a type that calls out over HTTP.
func (c Common) faults() []ledger.FieldError {
	var out []ledger.FieldError
	add := func(field, detail string) { out = append(out, ledger.FieldError{Field: field, Detail: detail}) }
	if c.BaseURL != "" {
		if detail := baseURLFault(c.BaseURL); detail != "" {
			add("base_url", detail)
		}
	}
	if c.Timeout < 0 {
		add("timeout", "must not be negative")
	}
	if c.Rate < 0 || c.Rate > MaxRate {
		add("rate", fmt.Sprintf("must be 1/h to %d/s", MaxRate))
	}
	if c.Workers < 0 {
		add("workers", "must not be negative")
	}
	if c.RepeatWindow < 0 {
		add("repeat_window", "must not be negative")
	}
	if c.LookUp != "" && c.LookUp != LookUpOn && c.LookUp != LookUpOff {
		add("look_up", "must be on or off")
	}
	return out
}

// baseURLFault says what is wrong with a base URL. Plain http is for this machine, private addresses and names
// without a dot: the requests carry the provider's key.
func baseURLFault(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return "must be a URL such as https://api.example.test"
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "must have no user name, query or fragment"
	case u.Scheme == "https":
		return ""
	case u.Scheme != "http":
		return "must begin with https://"
	}
	if privateHost(u.Hostname()) {
		return ""
	}
	return "must begin with https://, since the requests carry a key (http:// is for private addresses only)"
}

// privateHost reports whether a host is this machine, a private address or a name without a dot.
func privateHost(host string) bool {
	host = strings.ToLower(host)
	if ip, err := netip.ParseAddr(host); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate()
	}
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost")
}

// fingerprint names an account of a provider without showing it: the first bytes of a hash over type, base URL
// and whatever tells accounts apart.
func fingerprint(kind, baseURL, account string) [8]byte {
	inner := sha256.Sum256([]byte(account))
	sum := sha256.Sum256([]byte(kind + "\x00" + baseURL + "\x00" + string(inner[:])))
	return [8]byte(sum[:8])
}
