package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strconv"
	"strings"
)

//go:embed static
var staticFiles embed.FS

// file is one of our static files, ready to be served.
type file struct {
	address string // with a part of its sum, so that a browser may keep it for ever
	kind    string
	plain   []byte
	packed  []byte // gzip; nil where it saves nothing
}

// kinds are the media types of our files. Nothing writes to it.
var kinds = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
}

// readFiles makes the table of static files, by their name in addresses. It panics on a file of an unknown kind.
func readFiles() map[string]file {
	out := map[string]file{}
	entries, err := staticFiles.ReadDir("static")
	if err != nil {
		panic("console: " + err.Error())
	}
	for _, e := range entries {
		b, err := staticFiles.ReadFile("static/" + e.Name())
		if err != nil {
			panic("console: " + err.Error())
		}
		ext := path.Ext(e.Name())
		if kinds[ext] == "" {
			panic("console: no media type for " + e.Name())
		}
		sum := sha256.Sum256(b)
		f := file{address: strings.TrimSuffix(e.Name(), ext) + "." + hex.EncodeToString(sum[:6]) + ext, kind: kinds[ext], plain: b}
		if packed := pack(b); len(packed) < len(b) {
			f.packed = packed
		}
		out[f.address] = f
	}
	return out
}

func pack(b []byte) []byte {
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(b)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("console: " + err.Error()) // memory only
	}
	return buf.Bytes()
}

// addressOf is the address of a static file, for templates. It panics on a name that is none: a mistake in a template.
func addressOf(files map[string]file) func(name string) string {
	addresses := map[string]string{}
	for address := range files {
		ext := path.Ext(address)
		addresses[strings.TrimSuffix(strings.TrimSuffix(address, ext), path.Ext(strings.TrimSuffix(address, ext)))+ext] = Path + "/static/" + address
	}
	return func(name string) string {
		if addresses[name] == "" {
			panic("console: no static file " + name)
		}
		return addresses[name]
	}
}

// static serves a file.
func (c *Console) static(v *visit) error {
	f, ok := c.files[v.r.PathValue("file")]
	if !ok {
		return errNoPage
	}
	h := v.w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	body := f.plain
	if f.packed != nil && takesGzip(v.r.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body = f.packed
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	v.w.WriteHeader(http.StatusOK)
	_, err := v.w.Write(body)
	return gone(err)
}

// takesGzip reads Accept-Encoding as browsers write it; gzip;q=0 is a no.
func takesGzip(accepted string) bool {
	for part := range strings.SplitSeq(accepted, ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(name, "gzip") {
			return !strings.HasPrefix(strings.ReplaceAll(weight, " ", ""), "q=0") || strings.Contains(weight, "q=0.")
		}
	}
	return false
}
