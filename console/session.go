package console

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	sessionIdle = time.Hour      // since the last request
	sessionLong = 12 * time.Hour // since the login
	maxSessions = 1000           // the one that was idle longest makes room
	keySessions = 250            // of one key, however many log in with it: it makes room among its own, and ends nobody else's
	cookieName  = "sendonce_console"
)

// sessions are the logins of this process, by the sum of what the browser has: whoever reads memory or a log finds no cookie.
type sessions struct {
	mu  sync.Mutex
	all map[[32]byte]session
}

// session is one login.
type session struct {
	who    Identity
	opened time.Time
	used   time.Time
}

func (s session) over(now time.Time) bool {
	return now.Sub(s.used) >= sessionIdle || now.Sub(s.opened) >= sessionLong
}

// open begins a session and returns the value of its cookie.
func (s *sessions) open(who Identity, now time.Time) string {
	var id [32]byte
	_, _ = rand.Read(id[:]) // never fails
	token := base64.RawURLEncoding.EncodeToString(id[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoom(who.Name, now)
	s.all[sha256.Sum256([]byte(token))] = session{who, now, now}
	return token
}

// makeRoom removes what is over, and what was idle longest where one more would be too many: of the key's own sessions, then of all.
func (s *sessions) makeRoom(key string, now time.Time) {
	maps.DeleteFunc(s.all, func(_ [32]byte, one session) bool { return one.over(now) })
	s.bound(keySessions, func(one session) bool { return one.who.Name == key })
	s.bound(maxSessions, func(session) bool { return true })
}

// bound removes the session of a kind that was idle longest, where there are as many as there may be.
func (s *sessions) bound(most int, of func(session) bool) {
	var longest [32]byte
	var since time.Time
	n := 0
	for sum, one := range s.all {
		if !of(one) {
			continue
		}
		if n++; n == 1 || one.used.Before(since) {
			longest, since = sum, one.used
		}
	}
	if n >= most {
		delete(s.all, longest)
	}
}

// find returns who a cookie belongs to. touch says that a person asked: a stream that waits keeps no session alive.
func (s *sessions) find(token string, now time.Time, touch bool) (Identity, bool) {
	sum := sha256.Sum256([]byte(token))
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[sum]
	if !ok {
		return Identity{}, false
	}
	if one.over(now) {
		delete(s.all, sum)
		return Identity{}, false
	}
	if touch {
		one.used = now
		s.all[sum] = one
	}
	return one.who, true
}

func (s *sessions) end(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, sha256.Sum256([]byte(token)))
}

// identify finds out who asks. Without keys it is somebody on this machine: the API lets in nobody else.
func (c *Console) identify(r *http.Request, touch bool) (Identity, bool) {
	if c.settings.Login == nil {
		return local, true
	}
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return Identity{}, false
	}
	return c.sessions.find(cookie.Value, time.Now(), touch)
}

// login names the session, by its sum, and the key of a visit; both are "" where there are no keys.
func (v *visit) login() (session, key string) {
	if cookie, err := v.r.Cookie(cookieName); err == nil && v.c.settings.Login != nil {
		sum := sha256.Sum256([]byte(cookie.Value))
		return string(sum[:]), v.who.Name
	}
	return "", ""
}

// setSession gives the browser a session, or takes it away with an empty token.
func (v *visit) setSession(token string) {
	age := 0 // as long as the browser runs
	if token == "" {
		age = -1
	}
	v.setCookie(cookieName, Path, token, age)
}

// setCookie sets a cookie that no script reads and no other site's page brings along.
func (v *visit) setCookie(name, path, value string, age int) {
	http.SetCookie(v.w, &http.Cookie{
		Name: name, Value: value, Path: path, MaxAge: age, HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: v.secure(),
	})
}

// secure reports whether the browser speaks https to us, or to a proxy before us that says so. Anybody may say so: it makes his own
// cookie stricter and nothing else, and no page can make another's browser say it.
func (v *visit) secure() bool {
	said, _, _ := strings.Cut(v.r.Header.Get("X-Forwarded-Proto"), ",")
	return strings.HasPrefix(v.c.settings.PublicURL, "https://") || v.r.TLS != nil || strings.EqualFold(strings.TrimSpace(said), "https")
}
