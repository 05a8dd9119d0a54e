package providers

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"sendonce/ledger"
)

// addressGuard says which addresses a webhook may reach. Whoever may write a recipient could otherwise make
// this machine call its neighbours, or the metadata service of its cloud.
type addressGuard struct {
	private []netip.Prefix // allowed although not public
	only    bool           // nothing but private: plain http
}

// Blocks that are not for the public internet, after the IANA special-purpose registries (RFC 6890).
var (
	notPublic4 = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
		"172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
		"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4")
	// Of IPv6 only 2000::/3 is public; these are its parts that are not. 2001::/23 has Teredo in it.
	public6    = netip.MustParsePrefix("2000::/3")
	notPublic6 = prefixes("2001::/23", "2001:db8::/32", "3fff::/20")
	// Addresses that carry an IPv4 address, judged by that.
	nat64   = netip.MustParsePrefix("64:ff9b::/96")
	sixTo4  = netip.MustParsePrefix("2002::/16")
	nobody4 = prefixes("0.0.0.0/8", "224.0.0.0/4", "255.255.255.255/32") // not even allow_private opens these
)

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, s := range texts {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// parsePrivate reads the setting allow_private, and names each of its faults.
func parsePrivate(cidrs []string) (private []netip.Prefix, faults []ledger.FieldError) {
	for i, cidr := range cidrs {
		p, err := netip.ParsePrefix(cidr)
		if err != nil || p.Masked() != p || p.Addr().Is4In6() {
			faults = append(faults, ledger.FieldError{
				Field: fmt.Sprintf("allow_private[%d]", i), Detail: "must be a CIDR such as 10.1.0.0/16, without bits past its length",
			})
			continue
		}
		private = append(private, p)
	}
	return private, faults
}

func within(list []netip.Prefix, ip netip.Addr) bool {
	for _, p := range list {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

// allows reports whether ip may be dialled.
func (g addressGuard) allows(ip netip.Addr) bool {
	ip = ip.Unmap() // ::ffff:a.b.c.d is that IPv4 address; one with a zone is in no block, so it stays refused
	if ip.IsUnspecified() || ip.IsMulticast() || within(nobody4, ip) {
		return false
	}
	return within(g.private, ip) || !g.only && public(ip)
}

func public(ip netip.Addr) bool {
	if ip.Is4() {
		return !within(notPublic4, ip)
	}
	b := ip.As16()
	switch {
	case nat64.Contains(ip):
		return public(netip.AddrFrom4([4]byte(b[12:16])))
	case sixTo4.Contains(ip):
		return public(netip.AddrFrom4([4]byte(b[2:6])))
	}
	return public6.Contains(ip) && !within(notPublic6, ip)
}

// dialer returns a dialer that looks at the address really dialled, after the name was resolved and before the
// first packet, so that neither odd spellings nor names with several or changing addresses get past it.
func (g addressGuard) dialer() DialFunc {
	d := &net.Dialer{ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || (network != "tcp4" && network != "tcp6") || !g.allows(to.Addr()) {
			return fmt.Errorf("%w", errAddressRefused)
		}
		return nil
	}}
	return d.DialContext
}
