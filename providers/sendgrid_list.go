package providers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sendonce/ledger"
)

const (
	sendGridLag   = 15 * time.Minute // a margin: nothing says how late a mail turns up in the logs
	sendGridLimit = 1000             // mails of one answer; there are no further pages
)

// ListLag implements ledger.Lister.
func (p *sendGrid) ListLag() time.Duration { return sendGridLag }

// List implements ledger.Lister: the Email Logs, by our category and time.
func (p *sendGrid) List(ctx context.Context, q ledger.ListQuery) error {
	l := listing{sender: p.sender, header: p.reading(), query: q}
	return l.days(func(from, until time.Time) error {
		return l.split(from, until, func(from, until time.Time) ([]ledger.Listed, bool, error) {
			query, err := p.listQuery(from, until)
			if err != nil {
				return nil, false, err
			}
			x, err := l.ask(ctx, request{url: p.logs, body: query, most: maxListRead})
			if err != nil {
				return nil, false, err
			}
			list, err := readSendGridList(x)
			return list, len(list) < sendGridLimit, err
		})
	})
}

// reading is the header of requests that read.
func (p *sendGrid) reading() http.Header {
	header := authorized("Bearer " + string(p.settings.APIKey))
	return header
}

// listQuery asks for our mails of a time. A category with a mark that the query language may read is left out.
func (p *sendGrid) listQuery(from, until time.Time) ([]byte, error) {
	query := fmt.Sprintf(`sg_message_id_created_at >= TIMESTAMP "%s" AND sg_message_id_created_at < TIMESTAMP "%s"`,
		from.UTC().Format(sendGridTime), until.UTC().Format(sendGridTime))
	if c := p.settings.Category; c != "" && strings.Trim(c, wordChars+".+-@ ") == "" {
		query = "categories IN ('" + c + "') AND " + query
	}
	return canonicalJSON(struct {
		Limit int    `json:"limit"`
		Query string `json:"query"`
	}{sendGridLimit, query})
}

func readSendGridList(x *exchange) ([]ledger.Listed, error) {
	var a struct {
		Messages *[]struct {
			ID     string `json:"sg_message_id"`
			To     string `json:"to_email"`
			Status string `json:"status"`
			At     string `json:"sg_message_id_created_at"`
		} `json:"messages"`
	}
	if x.read(&a) != nil || a.Messages == nil {
		return nil, illegible(x)
	}
	var list []ledger.Listed
	for _, m := range *a.Messages {
		id := messageID(m.ID)
		at, err := time.Parse(time.RFC3339, m.At)
		if id == "" || err != nil {
			return nil, illegible(x) // left out, it would be missed in the ledger's place
		}
		name, _, _ := strings.Cut(id, ".") // what X-Message-Id is
		list = append(list, ledger.Listed{MessageID: name, Name: id, Recipient: m.To, Status: m.Status, At: at})
	}
	return list, nil
}

// Reference implements ledger.Lister: a mail alone shows what we sent along.
func (p *sendGrid) Reference(ctx context.Context, q ledger.ListQuery, m ledger.Listed) (string, error) {
	l := listing{sender: p.sender, header: p.reading(), query: q, begun: true}
	x, err := l.ask(ctx, request{method: http.MethodGet, url: p.logs + "/" + url.PathEscape(m.Name)})
	if notFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var a struct {
		ID   string          `json:"sg_message_id"`
		Args json.RawMessage `json:"custom_args"`
	}
	var args sendGridArgs
	if x.read(&a) != nil || a.ID != m.Name {
		return "", illegible(x)
	}
	if x.readPart(a.Args, &args) != nil {
		return "", nil
	}
	return args.Reference, nil
}
