package console

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"sendonce/ledger"
)

// mailboxPage is how many messages stand on one page.
const mailboxPage = 40

// mailPolicy is what a mail in its frame may do: show its own styles and the pictures that it carries itself. It is a document
// without an origin: no script, no form, no window, no request.
const mailPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"

// mailboxData is what providers that let nothing leave have "sent".
type mailboxData struct {
	Is       bool // there is such a provider
	Channels []string
	Channel  string
	Threads  []thread
	Kept     int
	From, To int    // of the messages that are shown, from 1
	Newer    string // addresses; "": none
	Older    string
	Here     string
	Mark     string
}

// thread is what stands on one screen: the texts or pushes to one recipient, the oldest first, or one mail or webhook.
type thread struct {
	Channel   ledger.Channel
	Recipient string
	Messages  []letter
}

// letter is one message as its channel shows it. What its channel has not is empty.
type letter struct {
	ledger.Printed
	Text     string // sms; the plain part of a mail
	From     string
	Name     string // of the sender of a mail
	ReplyTo  string
	Subject  string
	Frame    string // address of the mail's HTML
	Title    string // push
	Body     string
	JSON     string // what a webhook gets, what a push carries beside its text, or whatever has no other form
	Template string // id of the template that the provider would fill
}

// mailbox shows what did not leave.
func (c *Console) mailbox(v *visit) error {
	list, is := c.ledger.Mailbox()
	data := mailboxData{Is: is, Channel: v.asked["channel"], Mark: c.mailMark(list), Channels: words(ledger.Channels)}
	if data.Channel != "" && !slices.Contains(data.Channels, data.Channel) {
		return ledger.Invalid("channel", "must be one of %s", strings.Join(data.Channels, ", "))
	}
	if data.Channel != "" {
		list = slices.DeleteFunc(list, func(p ledger.Printed) bool { return string(p.Channel) != data.Channel })
	}
	data.Kept = len(list)
	skip, err := v.readSkip(len(list))
	if err != nil {
		return err
	}
	page := list[skip:min(len(list), skip+mailboxPage)]
	data.Here = mailboxAddress(data.Channel, skip)
	data.From, data.To = skip+1, skip+len(page)
	if skip > 0 {
		data.Newer = mailboxAddress(data.Channel, max(0, skip-mailboxPage))
	}
	if data.To < data.Kept {
		data.Older = mailboxAddress(data.Channel, data.To)
	}
	data.Threads = threads(page)
	return v.render(http.StatusOK, "mailbox", "Mailbox", data)
}

// readSkip reads how many messages stand before a page. Messages may have gone meanwhile, so beyond the last one stands the last page.
func (v *visit) readSkip(kept int) (int, error) {
	if v.asked["skip"] == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(v.asked["skip"])
	if err != nil || n < 0 {
		return 0, ledger.Invalid("skip", "must be a number of messages")
	}
	return min(n, max(0, kept-1)/mailboxPage*mailboxPage), nil
}

func mailboxAddress(channel string, skip int) string {
	a := asked{}
	if channel != "" {
		a["channel"] = channel
	}
	if skip > 0 {
		a["skip"] = strconv.Itoa(skip)
	}
	return a.address("/mailbox")
}

// mailMark names what the mailbox holds.
func (c *Console) mailMark(list []ledger.Printed) string {
	if len(list) == 0 {
		return c.markOf()
	}
	return c.markOf(len(list), list[0].Provider, list[0].MessageID, list[0].At.Format(time.RFC3339Nano))
}

// liveMailbox tells when there is another message.
func (c *Console) liveMailbox(v *visit) error {
	rows := func(ch ledger.Changes) bool { return len(ch.Rows) > 0 }
	return v.stream(rows, func(context.Context) (string, error) {
		list, _ := c.ledger.Mailbox()
		return c.mailMark(list), nil
	})
}

// threads puts messages, the newest first, on screens.
func threads(list []ledger.Printed) []thread {
	var out []thread
	for _, p := range list {
		at := -1
		if p.Channel == ledger.SMS || p.Channel == ledger.Push {
			at = slices.IndexFunc(out, func(t thread) bool { return t.Channel == p.Channel && t.Recipient == p.Recipient })
		}
		if at < 0 {
			out, at = append(out, thread{Channel: p.Channel, Recipient: p.Recipient}), len(out)
		}
		out[at].Messages = append(out[at].Messages, letterOf(p))
	}
	for _, t := range out {
		slices.Reverse(t.Messages)
	}
	return out
}

// content is a message of any channel.
type content struct {
	Text     string          `json:"text"`
	From     string          `json:"from"`
	FromName string          `json:"from_name"`
	ReplyTo  string          `json:"reply_to"`
	Subject  string          `json:"subject"`
	HTML     string          `json:"html"`
	Title    string          `json:"title"`
	Body     string          `json:"body"`
	Data     json.RawMessage `json:"data"`
	Template *struct {
		ID string `json:"id"`
	} `json:"template"`
}

// letterOf reads a message. The claim has checked it; what cannot be read all the same is shown as it is.
func letterOf(p ledger.Printed) letter {
	l := letter{Printed: p}
	var m content
	if json.Unmarshal(p.Message, &m) != nil || m.Template != nil {
		if m.Template != nil {
			l.Template = m.Template.ID
		}
		l.JSON = indented(p.Message)
		return l
	}
	l.Text, l.From, l.Name, l.ReplyTo, l.Subject, l.Title, l.Body = m.Text, m.From, m.FromName, m.ReplyTo, m.Subject, m.Title, m.Body
	if len(m.Data) > 0 {
		l.JSON = indented(m.Data)
	}
	if m.HTML != "" {
		l.Frame = asked{"provider": p.Provider, "message": p.MessageID}.address("/mailbox/mail")
	}
	return l
}

// indented is JSON for people, digit for digit.
func indented(b []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, b, "", "  ") != nil {
		return string(b)
	}
	return out.String()
}

// mail serves the HTML of a mail, for its frame.
func (c *Console) mail(v *visit) error {
	list, _ := c.ledger.Mailbox()
	i := slices.IndexFunc(list, func(p ledger.Printed) bool {
		return p.Provider == v.asked["provider"] && p.MessageID == v.asked["message"] && p.Channel == ledger.Email
	})
	var m content
	if i < 0 || json.Unmarshal(list[i].Message, &m) != nil || m.HTML == "" {
		return errNoPage
	}
	h := v.w.Header()
	h.Set("Content-Security-Policy", mailPolicy)
	h.Del("X-Frame-Options")            // the policy says who may frame it
	h.Del("Cross-Origin-Opener-Policy") // a sandboxed document with it is not shown at all
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(m.HTML)))
	v.w.WriteHeader(http.StatusOK)
	_, err := v.w.Write([]byte(m.HTML))
	return gone(err)
}
