package fake

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// details are what a request says of a message besides its text, as far as receipts and look-ups bring it back.
type details struct {
	account   string // that it was sent by; "": the request does not say
	password  string // that it signed in with
	to        string
	from      string
	service   string // Twilio's MessagingServiceSid
	text      string
	html      string
	subject   string
	reference string            // our own, where the provider has a field for it
	callback  string            // where its receipts go; "": to the webhook of the account
	args      map[string]string // SendGrid's custom_args, Resend's tags
	category  []string
}

// message is something that the fake accepted.
type message struct {
	Message
	details
	number int    // among all, from 1
	kind   string // of its route
	way    way    // what becomes of it
	shows  time.Time
}

// keep remembers the ith message of a call for receipts and look-ups. p.mu is held.
func (p *Provider) keep(c *call, m Message, i int) *message {
	kept := &message{Message: m, number: len(p.accepted), kind: c.kind}
	if i < len(c.details) {
		kept.details = c.details[i]
	}
	kept.way = p.way(kept)
	kept.shows = m.At.Add(p.lag(kept))
	p.messages = append(p.messages, kept)
	p.byID[m.ID] = kept
	p.byRecipient[kept.to] = append(p.byRecipient[kept.to], kept)
	return kept
}

// newID is an id in the form that the provider gives to messages.
func (p *Provider) newID(kind string, number int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %d", p.options.Seed, kind, number))
	text := hex.EncodeToString(sum[:])
	switch kind {
	case "twilio":
		return "SM" + text[:32]
	case "vonage_sms":
		return strings.ToUpper(text[:16])
	case "vonage_messages", "resend":
		return uuid(sum)
	case "sendgrid":
		return base64.RawURLEncoding.EncodeToString(sum[:])[:22]
	}
	return fmt.Sprintf("msg_fake_%06d", number)
}

// uuid writes 16 bytes as a UUID of version 4.
func uuid(b [32]byte) string {
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// Each of the following reads the details of a request in one provider's form. What it cannot read stays empty: the request is
// refused elsewhere, if at all.

func twilioDetails(r *http.Request, body []byte) (d details) {
	form, _ := url.ParseQuery(string(body))
	d.account = strings.Split(r.URL.Path, "/")[3] // /2010-04-01/Accounts/{AccountSid}/…
	if user, password, ok := r.BasicAuth(); ok && user == d.account {
		d.password = password
	}
	d.to, d.from, d.service = form.Get("To"), form.Get("From"), form.Get("MessagingServiceSid")
	d.text, d.callback = form.Get("Body"), form.Get("StatusCallback")
	return d
}

func vonageSMSDetails(_ *http.Request, body []byte) (d details) {
	form, _ := url.ParseQuery(string(body))
	d.account, d.to, d.from, d.text = form.Get("api_key"), form.Get("to"), form.Get("from"), form.Get("text")
	d.reference, d.callback = form.Get("client-ref"), form.Get("callback")
	return d
}

func vonageMessagesDetails(r *http.Request, body []byte) (d details) {
	var m struct {
		To         string `json:"to"`
		From       string `json:"from"`
		Text       string `json:"text"`
		ClientRef  string `json:"client_ref"`
		WebhookURL string `json:"webhook_url"`
	}
	_ = json.Unmarshal(body, &m)
	d.account, _, _ = r.BasicAuth() // an application's token names no key
	d.to, d.from, d.text, d.reference, d.callback = m.To, m.From, m.Text, m.ClientRef, m.WebhookURL
	return d
}

func sendGridDetails(_ *http.Request, body []byte) (d details) {
	type address struct{ Email string }
	var m struct {
		From             address
		Subject          string
		Categories       []string
		Personalizations []struct {
			To         []address
			CustomArgs map[string]string `json:"custom_args"`
		}
	}
	_ = json.Unmarshal(body, &m)
	d.from, d.subject, d.category = m.From.Email, m.Subject, m.Categories
	if len(m.Personalizations) > 0 && len(m.Personalizations[0].To) > 0 {
		d.to, d.args = m.Personalizations[0].To[0].Email, m.Personalizations[0].CustomArgs
	}
	return d
}

func resendDetails(_ *http.Request, body []byte) (d details) {
	var m struct {
		From, Subject, Text, HTML string
		To                        []string
		Tags                      []struct{ Name, Value string }
	}
	_ = json.Unmarshal(body, &m)
	d.from, d.subject, d.text, d.html = m.From, m.Subject, m.Text, m.HTML
	if len(m.To) > 0 {
		d.to = m.To[0]
	}
	d.args = map[string]string{}
	for _, t := range m.Tags {
		d.args[t.Name] = t.Value
	}
	return d
}
