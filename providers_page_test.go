package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sendonce/config"
	"sendonce/fake"
	"sendonce/ledger"
	"sendonce/providers"
)

var update = flag.Bool("update", false, "write the generated parts of docs/providers.md anew")

const providersPage = "docs/providers.md"

// generated is a part of the page between its two marks.
var generated = regexp.MustCompile(`(?s)(<!-- generated: ([a-z]+) ([a-z]+) -->\n)(.*?)(<!-- end -->)`)

// The tables of the page are what the adapters do: go test . -run ProvidersPage -update writes them.
func TestProvidersPage_TablesAreTheAdapters(t *testing.T) {
	page := read(t, providersPage)
	seen := map[string]bool{}
	want := generated.ReplaceAllStringFunc(page, func(part string) string {
		m := generated.FindStringSubmatch(part)
		seen[m[2]+" "+m[3]] = true
		return m[1] + table(t, m[2], m[3]) + m[5]
	})
	for kind := range providers.Types {
		parts := []string{"capabilities", "codes"}
		if _, reports := providers.WordsOf(kind); reports {
			parts = append(parts, "receipts")
		}
		for _, part := range parts {
			if !seen[kind+" "+part] {
				t.Errorf("%s lacks the lines <!-- generated: %s %s --> and <!-- end -->", providersPage, kind, part)
			}
		}
	}
	if !seen["all capabilities"] {
		t.Errorf("%s lacks the table of all capabilities", providersPage)
	}
	switch {
	case page == want:
	case *update:
		if err := os.WriteFile(providersPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s says something else than the adapters do: go test . -run ProvidersPage -update", providersPage)
	}
}

// table writes one generated part.
func table(t *testing.T, kind, part string) string {
	t.Helper()
	typed, known := providers.Types[kind]
	switch {
	case kind == "all" && part == "capabilities":
		return allCapabilities()
	case known && part == "capabilities":
		return capabilities(typed)
	case known && part == "codes":
		return codeTable(kind)
	case known && part == "receipts":
		return wordTable(kind)
	}
	t.Errorf("%s: there is no part %s %s", providersPage, kind, part)
	return ""
}

// allCapabilities is a line for each type: what its service has, and in bold what sendonce uses.
func allCapabilities() string {
	var b strings.Builder
	b.WriteString("| type | channels |")
	for _, c := range ledger.Capabilities {
		fmt.Fprintf(&b, " %s |", c)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(ledger.Capabilities)) + "\n")
	for _, kind := range slices.Sorted(maps.Keys(providers.Types)) {
		typed := providers.Types[kind]
		channels := make([]string, len(typed.Channels))
		for i, c := range typed.Channels {
			channels[i] = string(c)
		}
		fmt.Fprintf(&b, "| `%s` | %s |", kind, strings.Join(channels, ", "))
		for _, c := range ledger.Capabilities {
			i := slices.IndexFunc(typed.Offers, func(o providers.Offer) bool { return o.Capability == c })
			switch {
			case i < 0:
				b.WriteString(" – |")
			case typed.Offers[i].Used:
				b.WriteString(" **used** |")
			default:
				b.WriteString(" offered |")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// capabilities is how one service has each of its capabilities.
func capabilities(typed providers.Type) string {
	if len(typed.Offers) == 0 {
		return "It has nothing besides taking messages.\n"
	}
	var b strings.Builder
	b.WriteString("| it has | by | sendonce |\n|---|---|---|\n")
	for _, o := range typed.Offers {
		used := "not yet"
		if o.Used {
			used = "uses it"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", o.Capability, o.How, used)
	}
	return b.String()
}

// codeTable is what one type makes of its provider's codes.
func codeTable(kind string) string {
	codes, ok := providers.CodesOf(kind)
	if !ok {
		return "It has no codes of its own.\n"
	}
	var b strings.Builder
	b.WriteString("| code | outcome | means |\n|---|---|---|\n")
	for _, c := range codes.Codes {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.Code, c.Does(), c.Means)
	}
	fmt.Fprintf(&b, "\nSource: %s\n", codes.Source)
	return b.String()
}

// wordTable is what one type makes of its provider's words in receipts.
func wordTable(kind string) string {
	words, _ := providers.WordsOf(kind)
	var b strings.Builder
	b.WriteString("| word | delivery | means |\n|---|---|---|\n")
	for _, w := range words.List {
		delivery := string(w.Delivery)
		if w.Delivery == ledger.NoDelivery {
			delivery = "–"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", w.Word, delivery, w.Means)
	}
	fmt.Fprintf(&b, "\nSource: %s\n", words.Source)
	return b.String()
}

// secretFiles are the files that the page's examples name, with contents of the right form.
var secretFiles = map[string]func() string{
	"infrai.key":    func() string { return "example-key\n" },
	"sendgrid.key":  func() string { return "example-key\n" },
	"resend.key":    func() string { return "example-key\n" },
	"fcm.json":      func() string { return fake.ServiceAccount("https://oauth2.example.test/token") },
	"smtp.password": func() string { return "example-password\n" },
	"twilio.token":  func() string { return "example-token\n" },
	"vonage.secret": func() string { return "example-secret\n" },
	"vonage.pem":    newPrivateKey,
	"webhook.keys":  func() string { return "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n" },
}

// newPrivateKey makes a private key in PEM.
func newPrivateKey() string {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
}

// Each type has an example of its settings on the page, which a person can copy as it is.
func TestProvidersPage_ExamplesAreGoodSettings(t *testing.T) {
	page := read(t, providersPage)
	examples := map[string][]string{}
	for _, section := range strings.Split(page, "\n## ")[1:] {
		kind, text, _ := strings.Cut(section, "\n")
		for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(text, -1) {
			examples[kind] = append(examples[kind], m[1])
		}
	}
	t.Chdir(t.TempDir())
	for name, content := range secretFiles {
		if err := os.WriteFile(name, []byte(content()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for kind := range providers.Types {
		if len(examples[kind]) == 0 {
			t.Errorf("%s has no example under the heading %s", providersPage, kind)
		}
		for _, example := range examples[kind] {
			checkExample(t, kind, example)
		}
	}
}

func checkExample(t *testing.T, kind, example string) {
	t.Helper()
	if err := os.WriteFile("example.yaml", []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(example, "\n"); n > 5 {
		t.Errorf("the example of %s has %d lines, want at most 5", kind, n)
	}
	c, err := config.Load(config.Source{File: "example.yaml", FileGiven: true})
	if err != nil {
		t.Errorf("the example of %s is refused: %v\n%s", kind, err, example)
		return
	}
	for _, p := range c.Providers {
		if p.Type == kind {
			return
		}
	}
	t.Errorf("the example of %s has no provider of that type", kind)
}

// Codes are looked up by their text, so each stands once, and a fault or a reason stands beside its outcome only.
func TestProvidersPage_CodeTablesAreSound(t *testing.T) {
	for kind := range providers.Types {
		codes, ok := providers.CodesOf(kind)
		if !ok {
			continue
		}
		if codes.Source == "" || len(codes.Codes) == 0 {
			t.Errorf("%s: a table of %d codes from %q", kind, len(codes.Codes), codes.Source)
		}
		seen := map[string]bool{}
		for _, c := range codes.Codes {
			switch {
			case c.Code == "" || c.Means == "" || seen[c.Code]:
				t.Errorf("%s: %+v is empty or stands twice", kind, c)
			case c.Fault != ledger.NoFault && c.Outcome != ledger.Deferred, c.Reason != "" && c.Outcome != ledger.Ambiguous:
				t.Errorf("%s: %+v has what does not go with its outcome", kind, c)
			case c.Outcome == ledger.Accepted:
				t.Errorf("%s: %+v: no code alone says yes", kind, c)
			}
			seen[c.Code] = true
		}
	}
}
