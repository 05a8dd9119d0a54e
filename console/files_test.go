package console

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"sendonce/ledger"
)

// What others wrote is what its packages have, with its licence.
func TestFiles_Vendored(t *testing.T) {
	b, err := os.ReadFile("vendor.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ File, Package, Version, Licence, From, SHA256 string }
	if err := json.Unmarshal(b, &list); err != nil || len(list) < 4 {
		t.Fatal(len(list), err)
	}
	licences, err := staticFiles.ReadFile("static/licences.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		content, err := staticFiles.ReadFile("static/" + one.File)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		if hex.EncodeToString(sum[:]) != one.SHA256 {
			t.Errorf("%s is not the file of %s %s: run make assets", one.File, one.Package, one.Version)
		}
		if one.Licence == "" || !strings.Contains(string(licences), "== "+one.Package+"@"+one.Version+" ==") {
			t.Errorf("%s: no licence of this version", one.Package)
		}
	}
}

var assetAddress = regexp.MustCompile(`/console(/static/[^"]+)"`)

// Everything that a page loads is there, may be kept for ever, and weighs little.
func TestFiles_Weight(t *testing.T) {
	for _, path := range []string{"/", "/notifications", "/waiting", "/providers", "/mailbox"} {
		t.Run(path, func(t *testing.T) { weigh(t, path) })
	}
}

func weigh(t *testing.T, path string) {
	r := newRig(t, open)
	for i := range pageRows { // a page of full length
		r.claim(ledger.Event{EventID: fmt.Sprintf("evt_%d", i), EventType: "order.shipped", Source: "shop", Provider: "lost"})
	}
	page := r.as("").get(path)
	weight := page.Body.Len()
	addresses := assetAddress.FindAllStringSubmatch(page.Body.String(), -1)
	if len(addresses) < 5 {
		t.Fatalf("the page loads %v", addresses)
	}
	for _, a := range addresses {
		w := r.as("").get(a[1], "Accept-Encoding: gzip, br")
		if w.Code != 200 || w.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" || w.Header().Get("Content-Type") == "" {
			t.Fatalf("%s: %d %v", a[1], w.Code, w.Header())
		}
		weight += w.Body.Len()
		plain := r.as("").get(a[1], "Accept-Encoding: gzip;q=0").Body.String()
		if w.Header().Get("Content-Encoding") != "gzip" {
			continue
		}
		unpacked, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(unpacked); err != nil || string(got) != plain {
			t.Errorf("%s: packed and plain differ (%v)", a[1], err)
		}
	}
	if weight > 150<<10 {
		t.Errorf("the page weighs %d bytes", weight)
	}
	t.Logf("weight %d bytes", weight)
}
