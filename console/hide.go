package console

import (
	"encoding/json"
	"index/suffixarray"
	"net/url"
	"strings"
	"sync"

	"sendonce/ledger"
)

const (
	// tooDeep stands in place of what is encoded more than maxDepth times over.
	tooDeep = hiddenPart + " (all of it is hidden: it is encoded too many times over to tell whether the recipient stands in it)"

	minWord   = 4  // bytes of a text of the message: what is shorter than a code of four digits stands in every answer by chance
	minSecret = 10 // bytes of a part of an address that is looked for alone
	minNumber = 7  // last digits of a number: it is often written without its country
)

// hide takes the recipient and what the message says out of what a provider said: many repeat the text, and with it a one-time
// code. They are found in any case of their letters and under any mix of escapes (spelling), a phone number with any separators,
// and cut where they stand. The time is linear in the text.
func hide(n *ledger.Notification, text string) string { return hiderOf(n)(text) }

// hiderOf is hide for all that was said of a row. What is looked for is listed once: a message may have tens of thousands of words.
func hiderOf(n *ledger.Notification) func(text string) string {
	secrets := sync.OnceValue(func() map[string]bool { return secretsOf(n) })
	return func(text string) string {
		if text == "" || n.RecipientKey == "" {
			return text
		}
		return hideAll(n, secrets(), text)
	}
}

// hideAll takes the secrets, and the number of a phone, out of a text.
func hideAll(n *ledger.Notification, secrets map[string]bool, text string) string {
	number := ""
	if n.Channel == ledger.SMS {
		number = strings.TrimPrefix(n.RecipientKey, "+")
	}
	c := cuts{at: make([]cut, len(text)+1)}
	deep := layers(text, func(s spelling) {
		f := s.folded()
		index := suffixarray.New(f.text)
		for secret, whole := range secrets {
			for _, i := range index.Lookup([]byte(secret), -1) {
				c.add(f, i, i+len(secret), whole)
			}
		}
		if number != "" {
			c.number(f, number)
		}
	})
	if deep {
		return tooDeep
	}
	return c.apply(text, mask(n))
}

// secretsOf lists what may not be read, folded, in each of the spellings that it has when its own escapes are undone. True: it is
// the whole recipient.
func secretsOf(n *ledger.Notification) map[string]bool {
	secrets := map[string]bool{}
	add := func(s string, whole bool, least int) {
		layers(s, func(s spelling) {
			if f := string(s.folded().text); len(f) >= least {
				secrets[f] = secrets[f] || whole
			}
		})
	}
	if n.Channel != ledger.SMS { // a number is found by its digits
		add(n.RecipientKey, true, 1)
		add(n.Recipient, true, 1)
	}
	if n.Channel == ledger.Webhook {
		for _, form := range []string{n.RecipientKey, n.Recipient} {
			for _, part := range partsOf(form) {
				add(part, false, minWord)
			}
		}
	}
	var message any
	if json.Unmarshal(n.Message, &message) == nil {
		for _, words := range wordsIn(message, nil) {
			add(words, false, minWord)
		}
	}
	return secrets
}

// partsOf lists the parts of a URL that may be its secret: the path with and without the query, and long parts of both alone.
func partsOf(form string) []string {
	u, err := url.Parse(form)
	if err != nil {
		return nil
	}
	path := u.EscapedPath()
	parts := []string{path, u.RawQuery, u.RequestURI()}
	for _, part := range strings.FieldsFunc(path+"&"+u.RawQuery, func(r rune) bool { return strings.ContainsRune("/&=;", r) }) {
		if len(part) >= minSecret {
			parts = append(parts, part)
		}
	}
	return parts
}

// wordsIn lists the texts of a message that are long enough to be looked for.
func wordsIn(message any, found []string) []string {
	switch m := message.(type) {
	case string:
		if len(m) >= minWord {
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

// cut counts the stretches that begin at a byte, less those that end there.
type cut struct{ any, whole int }

// cuts are the stretches of a text to take out.
type cuts struct {
	at    []cut // by byte of the text
	found bool
}

// add takes out what the bytes from i to j of a spelling came from.
func (c *cuts) add(s spelling, i, j int, whole bool) {
	from, to := s.from[i], s.to[j-1]
	c.found = true
	c.at[from].any++
	c.at[to].any--
	if whole {
		c.at[from].whole++
		c.at[to].whole--
	}
}

// number takes out a phone number: its last digits, what stands before them of it, and the separators between.
func (c *cuts) number(s spelling, number string) {
	digits, places := digitsOf(s.text)
	last := number[max(0, len(number)-minNumber):]
	for begin := 0; ; {
		i := strings.Index(digits[begin:], last)
		if i < 0 {
			return
		}
		i += begin
		begin = i + len(last)
		for rest := len(number) - len(last); rest > 0 && i > 0 && digits[i-1] == number[rest-1]; rest-- {
			i--
		}
		c.add(s, places[i], places[begin-1]+1, true)
	}
}

// apply takes the stretches out of the text: masked stands for what holds the whole recipient.
func (c *cuts) apply(text, masked string) string {
	if !c.found {
		return text
	}
	var b strings.Builder
	var depth cut
	begin, with := 0, hiddenPart
	for i := range c.at {
		before := depth.any
		depth.any += c.at[i].any
		depth.whole += c.at[i].whole
		if before == 0 {
			begin = i
		}
		if depth.whole > 0 {
			with = masked
		}
		if before > 0 && depth.any == 0 {
			if strings.HasSuffix(text[:begin], "+") { // of the number
				with = strings.TrimPrefix(with, "+")
			}
			b.WriteString(with)
			with = hiddenPart
		}
		if depth.any == 0 && i < len(text) {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}
