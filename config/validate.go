package config

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sendonce/ledger"
)

// The bounds of settings. docs/configuration.md has them too.
const (
	MinWait    = 10 * time.Millisecond // of every wait that must not be zero
	MaxTimeout = 10 * time.Minute
	MaxRetry   = 7 * 24 * time.Hour // one step of a ladder
	MaxSteps   = 20
	MaxExpiry  = 365 * 24 * time.Hour
	MaxDrain   = 10 * time.Minute
	MaxWindow  = 24 * time.Hour // of near duplicates
	MaxReserve = 1 << 40        // bytes
	MinKept    = leastKept      // what is erased earlier is missed by reports that are still to come
	MaxKept    = 10 * 365 * 24 * time.Hour
	MaxWorkers = 1024
	MaxNames   = 1000 // items of a list: keys, policies
)

// The actions on a near duplicate.
const (
	NearWarn = "warn"
	NearOff  = "off"
)

var keyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// emptyHash is what an empty key hashes to; nobody means to let an empty key in.
const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// checker looks at what is in force. What follows from a fault that was found before is not reported again.
type checker struct {
	*Config
	faults *faults
}

// validate checks ranges and how settings fit together, and brings texts into one form.
func (c *Config) validate(found *faults) {
	v := checker{c, found}
	c.PublicURL = plainOrigin(strings.TrimRight(c.PublicURL, "/"))
	for i := range c.Auth.Keys {
		c.Auth.Keys[i].SHA256 = strings.ToLower(c.Auth.Keys[i].SHA256)
	}
	v.server()
	v.keys()
	v.providers()
	v.channels()
	v.policies()
	v.recipes()
	v.rest()
}

// fault notes a fault at the place that decides the key.
func (v checker) fault(key, format string, args ...any) {
	if !v.faults.covers(key) {
		v.faults.add(v.sources.where(key), key, format, args...)
	}
}

// between checks a duration against its bounds, which count as allowed.
func (v checker) between(key string, d, least, most time.Duration) {
	if d < least || d > most {
		v.fault(key, "must be %s to %s", span(least), span(most))
	}
}

// word checks a setting that takes one of a few words.
func word[T ~string](v checker, key string, got T, allowed ...T) {
	if !slices.Contains(allowed, got) {
		names := make([]string, len(allowed))
		for i, a := range allowed {
			names[i] = string(a)
		}
		v.fault(key, "must be %s%s", oneOf(names), suggest(string(got), names))
	}
}

// oneOf writes "a, b or c".
func oneOf(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// server checks how the service is reached. Without keys that is from this machine alone: whoever reaches the
// service could send in the owner's name and at the owner's cost.
func (v checker) server() {
	open := len(v.Auth.Keys) == 0 && !v.faults.covers("auth.keys")
	host, port, err := net.SplitHostPort(v.Listen)
	n, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || portErr != nil {
		v.fault("listen", "must be host:port, such as 127.0.0.1:8484, with a port from 0 (any free one) to 65535")
	} else if open && !loopback(host) {
		v.fault("listen", "must be a loopback address, such as 127.0.0.1:%d, as long as auth.keys is empty: whoever reaches the service could send", n)
	}
	if v.Database == ":memory:" || strings.HasPrefix(v.Database, "file:") || strings.ContainsRune(v.Database, 0) {
		v.fault("database", "must be the path of a file: a ledger that forgets sends twice")
	}
	if v.PublicURL == "" {
		return
	}
	u, err := url.Parse(v.PublicURL)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		v.fault("public_url", "must be a URL such as https://notify.example.test")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		v.fault("public_url", "must have no user name, query or fragment")
	case open:
		v.fault("public_url", "needs auth.keys: a service that others reach must know its callers")
	}
}

// loopback reports whether only this machine reaches an address. An empty host is every address of the machine.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// keys checks the API keys. One hash under two names would leave open who acted; more than two keys of one name
// are no rotation.
func (v checker) keys() {
	if len(v.Auth.Keys) > MaxNames {
		v.fault("auth.keys", "must have at most %d items", MaxNames)
	}
	sharing, hashes := map[string]int{}, map[string]int{}
	for i, k := range v.Auth.Keys {
		at := index("auth.keys", i)
		sharing[k.Name]++
		switch {
		case !keyName.MatchString(k.Name) || k.Name == "sendonce":
			v.fault(at+".name", "must be 1 to 64 of letters, digits, _, . and -, beginning with a letter or digit, and not sendonce")
		case sharing[k.Name] > 2:
			v.fault(at+".name", "stands here a third time: two keys may share a name, while one replaces the other")
		}
		switch first, twice := hashes[k.SHA256]; {
		case !isHash(k.SHA256):
			v.fault(at+".sha256", "must be the SHA-256 of the key as 64 hex digits (printf %%s KEY | sha256sum)")
		case k.SHA256 == emptyHash:
			v.fault(at+".sha256", "is the hash of an empty key")
		case twice:
			v.fault(at+".sha256", "is the same key as %s", index("auth.keys", first))
		default:
			hashes[k.SHA256] = i
		}
		v.roles(at+".roles", k.Roles)
		if utf8.RuneCountInString(k.Source) > ledger.MaxSource || hasControl(k.Source) {
			v.fault(at+".source", "must be at most %d characters, none of them a control character", ledger.MaxSource)
		}
	}
}

// roles checks the roles of one key. A key without any could do nothing and was meant otherwise.
func (v checker) roles(key string, roles []string) {
	if len(roles) == 0 {
		v.fault(key, "must name at least one of %s", oneOf(Roles))
	}
	for i, r := range roles {
		word(v, index(key, i), r, Roles...)
		if slices.Contains(roles[:i], r) {
			v.fault(index(key, i), "stands there twice")
		}
	}
}

// isHash reports whether s is a SHA-256 in lower-case hex.
func isHash(s string) bool {
	return len(s) == len(emptyHash) && strings.Trim(s, "0123456789abcdef") == ""
}

// hasControl reports whether a text would break a line or a terminal.
func hasControl(s string) bool { return strings.IndexFunc(s, unicode.IsControl) >= 0 }

// plainOrigin writes scheme and host of a URL in lower case, as clients do that ask for it: some providers sign it as asked for.
func plainOrigin(address string) string {
	if scheme, rest, ok := strings.Cut(address, "://"); ok {
		host, path, more := strings.Cut(rest, "/")
		address = strings.ToLower(scheme) + "://" + strings.ToLower(host)
		if more {
			address += "/" + path
		}
	}
	return address
}
