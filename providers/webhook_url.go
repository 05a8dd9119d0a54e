package providers

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// target is a URL in the parts that a prefix is compared by.
type target struct {
	scheme string // lower case
	host   string // lower case, without port; "" only in a prefix: any host
	port   string // always there
	path   string // escaped, begins with a slash
}

// parseTarget takes a webhook's URL apart. detail says what is wrong with it, without showing it.
func parseTarget(s string) (t target, detail string) {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Opaque != "":
		return t, "must be a URL such as https://crm.example.test/hook"
	case u.Scheme != "http" && u.Scheme != "https":
		return t, "must begin with https://"
	case u.User != nil:
		return t, "must not hold a user name or password"
	case u.Hostname() == "":
		return t, "must name a host"
	case strings.Contains(s, "#"):
		return t, "must not have a fragment: it is never sent"
	}
	t = target{scheme: u.Scheme, host: strings.ToLower(u.Hostname()), port: u.Port(), path: u.EscapedPath()}
	if t.port == "" {
		t.port = map[string]string{"http": "80", "https": "443"}[t.scheme]
	}
	if n, err := strconv.ParseUint(t.port, 10, 16); err != nil || n == 0 {
		return t, "must have a port from 1 to 65535"
	} else {
		t.port = strconv.FormatUint(n, 10)
	}
	if t.path == "" {
		t.path = "/"
	}
	// Servers resolve dot segments, some take a backslash for a slash: both could leave the prefix.
	for _, segment := range strings.FieldsFunc(u.Path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == "." || segment == ".." {
			return t, "must not have . or .. in its path"
		}
	}
	if !plainHost(t.host) {
		return t, "must name its host in ASCII letters, digits, dots and hyphens, or as a whole IP address"
	}
	return t, ""
}

// plainHost accepts names, dotted IPv4 and IPv6 addresses. It refuses names that some resolvers read as an
// address: a last label that is a number, as in 2130706433, 0x7f.1 or 127.1.
func plainHost(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Zone() == ""
	}
	for _, r := range host {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_' {
			return false
		}
	}
	name := strings.TrimSuffix(host, ".")
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == "" || strings.HasPrefix(last, "0x") {
		return false
	}
	return strings.Trim(last, "0123456789") != ""
}

// literal returns the address that the host is, for a literal one and for localhost.
func (t target) literal() (netip.Addr, bool) {
	name := strings.TrimSuffix(t.host, ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	ip, err := netip.ParseAddr(t.host)
	return ip, err == nil
}

// parsePrefix reads one of the configured URL prefixes. https:// alone is any host.
func parsePrefix(s string) (target, string) {
	if scheme, rest, _ := strings.Cut(s, "://"); rest == "" && (scheme == "http" || scheme == "https") {
		return target{scheme: scheme}, ""
	}
	if strings.Contains(s, "?") {
		return target{}, "must not have a query"
	}
	return parseTarget(s)
}

// covers returns the length of the prefix if u lies under it, else 0. Host and port are compared whole, the
// path up to the end of a segment.
func (prefix target) covers(u target) int {
	if prefix.scheme != u.scheme {
		return 0
	}
	length := len(prefix.scheme) + len("://")
	if prefix.host == "" {
		return length
	}
	if prefix.host != u.host || prefix.port != u.port {
		return 0
	}
	rest, ok := strings.CutPrefix(u.path, prefix.path)
	if !ok || rest != "" && !strings.HasSuffix(prefix.path, "/") && rest[0] != '/' {
		return 0
	}
	return length + len(prefix.host) + len(":") + len(prefix.port) + len(prefix.path)
}
