package console

import (
	"embed"
	"html/template"
	"strings"
	"time"

	"sendonce/ledger"
)

//go:embed templates
var templateFiles embed.FS

// templates are the pages by name, each with the layout and the parts.
type templates map[string]*template.Template

// readTemplates reads all pages. It panics on one that is broken.
func (c *Console) readTemplates() templates {
	base := template.New("").Funcs(template.FuncMap{
		"asset":    addressOf(c.files),
		"path":     func(p string) string { return Path + p },
		"visible":  visible,
		"fold":     fold,
		"brief":    brief,
		"marked":   marked,
		"many":     many,
		"machine":  machine,
		"readable": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" },
		"dict":     dict,
		"meaning":  meaning,
		"because":  because,
		"next":     next,
		"phase":    phase,
		"does":     does,
		"title":    title,
		"took":     func(a *ledger.Attempt) string { return short(a.EndedAt.Sub(a.StartedAt)) },
		"asText":   func(b []byte) string { return string(b) },
		"zero":     zero,
		"mask":     func(n ledger.Notification) string { return mask(&n) },
		"count":    count,
		"short":    short,
		"able":     able,
		"licences": func() string { return addressOf(c.files)("licences.txt") },
	})
	base = template.Must(base.ParseFS(templateFiles, "templates/layout.html", "templates/parts.html"))
	entries, err := templateFiles.ReadDir("templates")
	if err != nil {
		panic("console: " + err.Error())
	}
	out := templates{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".html")
		if name == "layout" || name == "parts" {
			continue
		}
		page := template.Must(base.Clone())
		out[name] = template.Must(page.ParseFS(templateFiles, "templates/"+e.Name()))
	}
	return out
}

// dict makes a map of names and values, so that a part can be given several.
func dict(pairs ...any) map[string]any {
	m := make(map[string]any, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

// machine is a time as programs read it.
func machine(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
