package console

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	guessBurst = 10              // wrong keys that an address may try at once
	guessEvery = 6 * time.Second // then one in this time
	maxGuesses = 10_000          // addresses that are remembered
	maxKey     = 512             // bytes of a key that is looked at
)

type limiter = rate.Limiter

// guesses bound the tries of each address; a key may be a word that somebody can guess.
type guesses struct {
	mu  sync.Mutex
	all map[string]*limiter
}

// try checks a key, unless too many wrong ones have come from an address. Only a wrong one counts: behind one address of a proxy
// many people may log in. The checks stand in a line, so that none begins before the ones before it are counted.
func (g *guesses) try(remote string, right func() bool) (ok, allowed bool) {
	name := networkOf(remote)
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.all[name]
	if one != nil && one.Tokens() < 1 {
		return false, false
	}
	if right() {
		return true, true
	}
	if one == nil {
		if len(g.all) >= maxGuesses {
			clear(g.all)
		}
		one = rate.NewLimiter(rate.Every(guessEvery), guessBurst)
		g.all[name] = one
	}
	one.Allow()
	return false, true
}

// networkOf is the address that a request comes from, or its network where one has them all.
func networkOf(remote string) string {
	if a, err := netip.ParseAddrPort(remote); err == nil {
		bits := 32
		if a.Addr().Unmap().Is6() {
			bits = 64
		}
		if p, err := a.Addr().Unmap().Prefix(bits); err == nil {
			return p.String()
		}
	}
	if host, _, err := net.SplitHostPort(remote); err == nil {
		return host
	}
	return remote
}

// loginData is what the login page shows.
type loginData struct {
	Next  string // where to go afterwards
	Wrong string
}

// showLogin shows the form; whoever is logged in goes on.
func (c *Console) showLogin(v *visit) error {
	next := ownPath(v.asked["next"])
	if _, ok := c.identify(v.r, false); ok {
		return v.redirect(next)
	}
	return v.render(http.StatusOK, "login", "Log in", loginData{Next: next})
}

// login checks a key and opens a session.
func (c *Console) login(v *visit) error {
	next := ownPath(v.asked["next"])
	if c.settings.Login == nil {
		return v.redirect(next)
	}
	key := strings.TrimSpace(v.asked["key"])
	var who Identity
	ok, allowed := c.guesses.try(v.r.RemoteAddr, func() (ok bool) {
		if key != "" && len(key) <= maxKey {
			who, ok = c.settings.Login(key)
		}
		return ok
	})
	if !allowed {
		v.w.Header().Set("Retry-After", "6")
		return v.render(http.StatusTooManyRequests, "login", "Log in", loginData{next, "Too many wrong keys from your address. Wait a few seconds."})
	}
	if !ok {
		return v.render(http.StatusForbidden, "login", "Log in", loginData{next, "No key of this service is that one."})
	}
	if old, err := v.r.Cookie(cookieName); err == nil {
		c.sessions.end(old.Value)
	}
	v.setSession(c.sessions.open(who, time.Now()))
	c.log.Info("console login", "key", who.Name)
	return v.redirect(next)
}

// logout ends the session.
func (c *Console) logout(v *visit) error {
	if cookie, err := v.r.Cookie(cookieName); err == nil {
		c.sessions.end(cookie.Value)
	}
	v.setSession("")
	return v.redirect("/login")
}

// ownPath returns a path of the console, without Path itself, to go on to; anything else becomes the first page.
func ownPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") || strings.ContainsAny(next, "\\\r\n") ||
		strings.HasPrefix(u.Path, "//") || strings.Contains(u.Path, "..") || u.Path == "/login" {
		return "/"
	}
	return (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
}
