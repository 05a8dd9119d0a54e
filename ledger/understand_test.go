package ledger

import (
	"slices"
	"strings"
	"testing"
)

// A customer reads a number out in any form; the row is found by the one that is stored.
func TestUnderstand_Recipients(t *testing.T) {
	for _, c := range []struct{ text, region, want string }{
		{"+14155550142", "", "+14155550142"},
		{"+1 (415) 555-0142", "", "+14155550142"},
		{"001 415.555.0142", "", "+14155550142"},
		{"  +1 415 555 0142\u202c ", "", "+14155550142"},
		{"\u202a+1\u2011415\u2011555\u20110142\u202c", "", "+14155550142"},
		{"tel:+1-415-555-0142", "", "+14155550142"},
		{"１ ４１５ ５５５ ０１４２", "", "+14155550142"},
		{"14155550142", "", "+14155550142"},
		{"(415) 555-0142", "US", "+14155550142"},
		{"+44 (0)7700 900123", "", "+447700900123"},
		{"0044 (0) 7700/900 123", "", "+4407700900123"},
		{"07700 900123", "GB", "+447700900123"},
		{"+49 170 123 45 67", "", "+491701234567"},
		{"Ada@Example.TEST", "", "ada@example.test"},
		{"Ada Lovelace <ada@example.test>", "", "ada@example.test"},
		{"mailto:ada@example.test?subject=x", "", "ada@example.test"},
		{"ada@BÜCHER.example", "", "ada@xn--bcher-kva.example"},
		{"https://CRM.example.test/hooks", "", "https://CRM.example.test/hooks"},
		{"token:Abc-123", "", "token:Abc-123"},
	} {
		var got []string
		for _, r := range understand(c.text, c.region) {
			if r.As == "recipient" {
				got = append(got, r.Text)
			}
		}
		if !slices.Contains(got, c.want) {
			t.Errorf("%q (%s) is read as %q, not as %q", c.text, c.region, got, c.want)
		}
	}
}

// Everything else that a person may have at hand is found too, and each reading is one that has an index.
func TestUnderstand_Others(t *testing.T) {
	const id = "01a22e1f-2f9c-79c6-9528-a6ad527e2c35"
	key := strings.Repeat("ab", 20)
	for _, c := range []struct{ text, as, want string }{
		{id, "id", id}, {" " + strings.ToUpper(id) + "\n", "id", id}, {id + "-2", "id", id},
		{key, "dedupe_key", key}, {strings.ToUpper(key), "dedupe_key", key}, {"my-Own:key", "dedupe_key", "my-Own:key"},
		{"SM0123", "message_id", "SM0123"}, {"evt 2291", "event_id", "evt 2291"}, {id, "event_id", id},
	} {
		found := slices.ContainsFunc(understand(c.text, ""), func(r Reading) bool { return r.As == c.as && r.Text == c.want })
		if !found {
			t.Errorf("%q is not read as %s %q", c.text, c.as, c.want)
		}
	}
	for _, text := range []string{"", "  ", "\u202e\u202c", strings.Repeat("x", MaxRecipient+1)} {
		if got := understand(text, ""); got != nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	if got := understand(strings.Repeat("x", 300), ""); len(got) != 2 { // a message id, and a token
		t.Errorf("300 letters are read as %v", got)
	}
	if got := numbersIn("4155550142 ext 5"); got != nil {
		t.Errorf("a number with letters is read as %v", got)
	}
}

func FuzzUnderstand(f *testing.F) {
	for _, s := range []string{"+1 (415) 555-0142", "a@b.test", "https://x", "\u202e", "01a22e1f-2f9c-79c6-9528-a6ad527e2c35-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		readings := understand(text, "US")
		if len(readings) > 10 {
			t.Errorf("%q has %d readings", text, len(readings))
		}
		for _, r := range readings {
			indexed := r.Filter.DedupeKey != "" || r.Filter.MessageID != "" || r.Filter.EventID != "" || r.Filter.Recipient != ""
			if indexed == (r.As == "id") {
				t.Errorf("%q: reading %+v", text, r)
			}
		}
	})
}
