package providers

import (
	"net/mail"
	"testing"

	"sendonce/ledger"
)

func TestReadMail_Sender(t *testing.T) {
	shop := mail.Address{Name: "Shop", Address: "shop@example.test"}
	cases := map[string]struct {
		fields     string
		configured mail.Address
		want       string
		own        bool
	}{
		"the configured one":               {``, shop, "Shop <shop@example.test>", false},
		"another name":                     {`,"from_name":"Søren, Ltd."`, shop, `"Søren, Ltd." <shop@example.test>`, false},
		"its own":                          {`,"from":"desk@example.test"`, shop, "desk@example.test", true},
		"its own with a name":              {`,"from":"desk@example.test","from_name":"Desk \"24/7\""`, shop, `"Desk \"24/7\"" <desk@example.test>`, true},
		"its own is the configured one":    {`,"from":"SHOP@example.test"`, shop, "Shop <SHOP@example.test>", false},
		"none is configured":               {`,"from":"desk@example.test"`, mail.Address{}, "desk@example.test", true},
		"blanks, and a domain in Cyrillic": {`,"from":" Desk@почта.example.test "`, shop, "Desk@xn--80a1acny.example.test", true},
	}
	for name, c := range cases {
		m, err := readMail([]byte(`{"subject":"s","text":"t"`+c.fields+`}`), testAddress, c.configured)
		if err != nil || friendly(m.sender) != c.want || m.own != c.own {
			t.Errorf("%s: %s, own %v, %v; want %s", name, friendly(m.sender), m.own, err, c.want)
		}
	}
}

// What no provider of mail takes is refused before the claim.
func TestMail_Check(t *testing.T) {
	for name, p := range map[string]ledger.Checker{
		"sendgrid": build(t, &SendGridSettings{APIKey: testKey, Category: "c"}, Common{}).(ledger.Checker),
		"resend":   build(t, &ResendSettings{APIKey: testKey}, Common{}).(ledger.Checker),
	} {
		for message, field := range map[string]string{
			`{"subject":"s","text":"t","from":"shop@example.test"}`:                                  "",
			`{"subject":"s","text":"t"}`:                                                             "message.from",
			`{"subject":"s\r\nBcc: eve@example.test","text":"t","from":"shop@example.test"}`:         "message.subject",
			`{"subject":"s","text":"t","from":"shop@example.test","from_name":"a\nb"}`:               "message.from_name",
			`{"subject":"s","text":"t","from":"Shop <shop@example.test>"}`:                           "message.from",
			`{"subject":"s","text":"t","from":"shop@example.test","reply_to":"nobody"}`:              "message.reply_to",
			`{"subject":"s","text":"t","from":"shop@example.test","headers":{"X-A":"1\r\nX-B: 2"}}`:  "message.headers.X-A",
			`{"subject":"s","text":"t","from":"shop@example.test","headers":{"Bcc":"e@x.test"}}`:     "message.headers.Bcc",
			`{"subject":"s","text":"t","from":"shop@example.test","headers":{"X-SG-EID":"x"}}`:       "message.headers.X-SG-EID",
			`{"subject":"s","text":"t","from":"shop@example.test","headers":{"Idempotency-Key":""}}`: "message.headers.Idempotency-Key",
			`{"subject":"","text":"t","from":"shop@example.test"}`:                                   "message.subject",
			`{"subject":"s","from":"shop@example.test"}`:                                             "message.text",
			`{"template":{"id":"d-1"}}`:                                                              "message.from",
		} {
			err := p.Check(ledger.Event{Channel: ledger.Email, Recipient: testAddress, Message: []byte(message)})
			checkInvalid(t, name+" "+message, err, field)
		}
	}
}
