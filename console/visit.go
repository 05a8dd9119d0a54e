package console

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// visit is one request: who asks, and the ways to answer.
type visit struct {
	c   *Console
	w   http.ResponseWriter
	r   *http.Request
	who Identity

	asked asked // by the address, or by the form that was posted
}

// view is what the layout gets; Data is the page's own.
type view struct {
	Title   string
	Nav     []place
	Who     Identity
	Known   bool   // somebody is logged in, or no keys are configured
	Open    bool   // no keys are configured
	Query   string // of the search box
	Told    string // what was just done
	Wrong   string // why it was not
	Trouble string // what keeps the service from its work
	Data    any
}

// place is one line of the navigation.
type place struct {
	Path    string
	Title   string
	Current bool
}

// serve makes a handler of a route: it finds out who asks, reads the form, and shows errors.
func (c *Console) serve(r route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, rq *http.Request) {
		v := &visit{c: c, w: w, r: rq}
		err := v.admit(r)
		if err == nil {
			err = r.handler(v)
		}
		if err != nil {
			v.refuse(err)
		}
	})
}

// admit lets a visit in.
func (v *visit) admit(r route) error {
	if r.needs&anybody == 0 {
		who, ok := v.c.identify(v.r, !v.byItself(r))
		if !ok {
			return errLogin
		}
		if v.who = who; !who.meets(r.needs) {
			return errRole
		}
		if !who.begins(r.needs) {
			return errElsewhere
		}
	}
	if v.r.Method != http.MethodPost {
		return v.read(r, v.r.URL.RawQuery)
	}
	if r.path == "/csp" {
		return nil
	}
	if kind, _, err := mime.ParseMediaType(v.r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return errForm
	}
	form, err := io.ReadAll(v.r.Body)
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return errTooLarge
	}
	if err != nil {
		return errForm
	}
	return v.read(r, string(form))
}

// livePart is the id of the part of a page that news replace.
const livePart = "live"

// byItself reports whether a page asks and no person does: one that waits opens its stream again and again, and fetches what has
// changed, long after whoever was logged in has left.
func (v *visit) byItself(r route) bool {
	return r.needs&unattended != 0 || v.r.Header.Get("HX-Target") == livePart
}

// read reads what is asked for, by routes that take anything.
func (v *visit) read(r route, text string) (err error) {
	if r.takes != nil {
		v.asked, err = readAsked(text, r.takes)
	}
	return err
}

// render answers with a page, completely rendered before its first byte leaves.
func (v *visit) render(status int, name, title string, data any) error {
	return v.page(status, name, view{Title: title, Data: data})
}

// page is render for a view that tells or refuses something.
func (v *visit) page(status int, name string, s view) error {
	s.Who, s.Open, s.Known = v.who, v.c.settings.Login == nil, v.who.Name != ""
	s.Query = v.asked["q"]
	s.Nav = v.nav()
	if s.Known {
		s.Trouble = v.c.trouble()
	}
	s.Told = v.told()
	var b bytes.Buffer
	if err := v.c.templates[name].ExecuteTemplate(&b, "layout", s); err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	v.w.WriteHeader(status)
	_, err := v.w.Write(b.Bytes())
	return gone(err)
}

// nav is the navigation for whoever asks.
func (v *visit) nav() []place {
	if v.who.Name == "" {
		return nil
	}
	var out []place
	for _, r := range v.c.routes() {
		if r.nav == "" || !v.who.meets(r.needs) || !v.who.begins(r.needs) {
			continue
		}
		path := Path + strings.TrimSuffix(r.path, "{$}")
		current := v.r.URL.Path == path || path != Path+"/" && strings.HasPrefix(v.r.URL.Path, path+"/")
		out = append(out, place{path, r.nav, current})
	}
	return out
}

// redirect leads to another page of the console, with GET.
func (v *visit) redirect(path string) error {
	http.Redirect(v.w, v.r, Path+path, http.StatusSeeOther)
	return nil
}
