package api

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/labstack/echo/v4"
)

// admit lets a request in: it must be meant for this host, not come from a foreign page, and bring a key
// where one is needed. Nothing of the body is read before that.
func (a *API) admit(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		h := c.Response().Header()
		h["Cache-Control"], h["X-Content-Type-Options"] = noStore, noSniff
		r := c.Request()
		if len(a.keys) == 0 && !loopbackHost(r.Host) {
			// A name that somebody pointed at 127.0.0.1 would make a browser our caller.
			a.logRefusal(c, codeHostNotAllowed)
			return refuse(codeHostNotAllowed)
		}
		if !a.signed[c.Path()] && a.crossSite(r) { // a provider may send any headers, and brings no cookie or key to misuse
			a.logRefusal(c, codeCrossSite)
			return refuse(codeCrossSite)
		}
		if a.wantsPages(r) {
			return c.Redirect(http.StatusFound, "/console/")
		}
		rq := &request{Context: c, key: &local}
		if !a.public[c.Path()] {
			var err error
			if rq.key, err = a.authenticate(r); err != nil {
				return err
			}
		}
		return next(rq)
	}
}

// wantsPages reports whether a person has typed the service's bare address into a browser. For everybody else it is no route.
func (a *API) wantsPages(r *http.Request) bool {
	return a.settings.Console != nil && r.Method == http.MethodGet && r.URL.Path == "/" && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// crossSite reports whether a browser sent the request on behalf of a foreign page. Where no key protects
// the reading routes either, they are judged as strictly as the others.
func (a *API) crossSite(r *http.Request) bool {
	if len(a.keys) == 0 && r.Method != http.MethodPost {
		strict := *r
		strict.Method = http.MethodPost
		r = &strict
	}
	return a.origins.Check(r) != nil
}

// loopbackHost reports whether a Host header names this machine from inside.
func loopbackHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(name, "["), "]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// logRefusal notes that somebody was turned away, at most about once a second.
func (a *API) logRefusal(c echo.Context, code string) {
	a.refusals.Do(func() {
		a.log.Warn("request refused", "code", code, "method", c.Request().Method, "route", c.Path())
	})
}

// recoverPanic turns a panic in a handler into a 500 and one log line. The panic's text is logged only where
// the runtime wrote it: any other may hold what a caller sent.
func (a *API) recoverPanic(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			p := recover()
			switch p := p.(type) {
			case nil:
				return
			case runtime.Error:
				a.troubles.Tell("panic in a handler", "route", c.Path(), "panic", p.Error(), "stack", string(debug.Stack()))
			default:
				if p == http.ErrAbortHandler {
					panic(p)
				}
				a.troubles.Tell("panic in a handler", "route", c.Path(), "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			}
			err = refuse(codeInternal)
		}()
		return next(c)
	}
}
