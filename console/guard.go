package console

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// policy is what a browser may do on a page: load our own files, talk to us, and frame a mail that may do nothing.
var policy = strings.Join([]string{
	"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'", "form-action 'self'",
	"frame-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "report-uri " + Path + "/csp",
}, "; ")

const maxForm = 64 << 10 // bytes of a form

// secure sets what every answer has. A handler that needs another policy replaces it.
func secure(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		next.ServeHTTP(w, r)
	})
}

// protect refuses what a foreign page makes a browser post.
func (c *Console) protect(next http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	if c.settings.PublicURL != "" {
		u, err := url.Parse(c.settings.PublicURL)
		if err == nil {
			err = origins.AddTrustedOrigin(u.Scheme + "://" + u.Host)
		}
		if err != nil {
			panic(fmt.Sprintf("console: public URL: %v", err))
		}
	}
	return origins.Handler(next)
}

// reports count what browsers refused because of the policy. There should be none: it is our fault, or an attack.
type reports struct {
	count  atomic.Int64
	seldom rate.Sometimes
}

// Reports is how many times a browser reported that a page broke its own policy.
func (c *Console) Reports() int64 { return c.reports.count.Load() }

// report takes such a report. Only its length is logged: anybody can post one.
func (c *Console) report(v *visit) error {
	b, err := io.ReadAll(v.r.Body)
	if err != nil {
		return errTooLarge
	}
	c.reports.count.Add(1)
	c.reports.seldom.Do(func() { c.log.Warn("a browser reported a breach of the console's policy", "bytes", len(b)) })
	v.w.WriteHeader(http.StatusNoContent)
	return nil
}
