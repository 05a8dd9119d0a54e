package console

import (
	"encoding/json"
	"net/url"
	"strings"

	"sendonce/ledger"
)

// hide takes the recipient and what the message says out of what a provider said, in the forms in which they may stand there: many
// repeat the text, and with it a one-time code.
func hide(n *ledger.Notification, text string) string {
	if text == "" || n.RecipientKey == "" {
		return text
	}
	masked := mask(n)
	pairs := []string{n.RecipientKey, masked}
	if n.Recipient != "" {
		pairs = append([]string{n.Recipient, masked}, pairs...)
	}
	if digits, ok := strings.CutPrefix(n.RecipientKey, "+"); ok {
		pairs = append(pairs, "%2B"+digits, masked, digits, masked)
	}
	if at := strings.Replace(n.RecipientKey, "@", "%40", 1); at != n.RecipientKey {
		pairs = append(pairs, at, masked)
	}
	var message any
	if json.Unmarshal(n.Message, &message) == nil {
		for _, words := range wordsIn(message, nil) {
			for _, wary := range []bool{true, false} {
				once := quoted(words, wary)
				pairs = append(pairs, quoted(once, wary), hiddenPart, once, hiddenPart)
			}
			pairs = append(pairs, words, hiddenPart, url.QueryEscape(words), hiddenPart)
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// wordsIn lists the texts of a message. What is shorter than a code of four digits stands in every answer by chance.
func wordsIn(message any, found []string) []string {
	switch m := message.(type) {
	case string:
		if len(m) >= 4 {
			return append(found, m)
		}
	case []any:
		for _, part := range m {
			found = wordsIn(part, found)
		}
	case map[string]any:
		for _, part := range m {
			found = wordsIn(part, found)
		}
	}
	return found
}

// quoted is a text as it stands between the quotes of JSON. A wary writer escapes what HTML would read, too.
func quoted(s string, wary bool) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(wary)
	_ = e.Encode(s) // a text is never refused
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
}
