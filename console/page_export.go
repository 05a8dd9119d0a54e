package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"sendonce/ledger"
)

const (
	maxExports  = 3                // at a time
	keyExports  = 2                // of one key: who reads slowly has a place for as long as his login
	exportPiece = 64 << 10         // bytes that are handed over at once
	exportWrite = 10 * time.Second // for one piece; a reader that takes longer is gone
)

// Why an export is cut.
var (
	errSlow     = errors.New("the reader is too slow, or gone")
	errLoggedIn = errors.New("the session has ended")
)

// export streams the rows of a filter, a page at a time. It ends with the session and with the service, and whatever ends it early
// cuts the connection, so that nobody takes a part for the whole.
func (c *Console) export(v *visit) error {
	write, kind := csvRow, "text/csv; charset=utf-8; header=present"
	switch v.asked["format"] {
	case "csv":
	case "ndjson":
		write, kind = jsonRow, "application/x-ndjson"
	default:
		return ledger.Invalid("format", "must be csv or ndjson")
	}
	_, f, err := v.readFilter(v.asked)
	if err != nil {
		return err
	}
	search, f, err := v.search(v.asked, f)
	if err != nil {
		return err
	}
	if search.One != uuid.Nil {
		return ledger.Invalid("search", "is the id of one notification, which has a page of its own; an export is of a list")
	}
	leave, ok := c.exports.enter(v.login())
	if !ok {
		return errBusy
	}
	defer leave()
	name := fmt.Sprintf("sendonce-%s.%s", time.Now().UTC().Format("20060102T150405Z"), v.asked["format"])
	v.w.Header().Set("Content-Type", kind)
	v.w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	f.Limit = ledger.MaxList
	var b bytes.Buffer
	if v.asked["format"] == "csv" {
		csvRow(&b, columnNames())
	}
	rows, err := 0, error(nil)
	if !search.Missed {
		rows, err = v.exportRows(f, &b, write)
	} else {
		err = v.hand(v.r.Context(), &b)
	}
	if err != nil {
		c.log.Warn("console export cut", "key", v.who.Name, "rows", rows, "error", err)
		panic(http.ErrAbortHandler)
	}
	c.log.Info("console export", "key", v.who.Name, "format", v.asked["format"], "rows", rows, "recipients", v.who.Operate)
	return nil
}

// exportRows writes all rows of a filter behind what stands in b.
func (v *visit) exportRows(f ledger.Filter, b *bytes.Buffer, write func(*bytes.Buffer, []any)) (rows int, err error) {
	ctx, cancel := context.WithCancel(v.r.Context())
	defer cancel()
	defer context.AfterFunc(v.c.running, cancel)()
	out := http.NewResponseController(v.w)
	_ = out.SetReadDeadline(time.Time{})                                                 // a request is long over when a long export still runs
	defer context.AfterFunc(ctx, func() { _ = out.SetWriteDeadline(time.Unix(1, 0)) })() // wakes a write that waits for its reader
	for more := true; more; {
		if _, in := v.c.identify(v.r, false); !in {
			return rows, errLoggedIn
		}
		page, err := v.c.ledger.List(ctx, f)
		if err != nil {
			return rows, err
		}
		for i := range page.Rows {
			write(b, cells(&page.Rows[i], v.who.Operate))
		}
		rows += len(page.Rows)
		f.Cursor, more = page.Next, page.Next != 0
		if err := v.hand(ctx, b); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// hand gives the reader what is there, each piece in its time.
func (v *visit) hand(ctx context.Context, b *bytes.Buffer) error {
	out := http.NewResponseController(v.w)
	for more := true; more; more = b.Len() > 0 {
		_ = out.SetWriteDeadline(time.Now().Add(exportWrite))
		if err := ctx.Err(); err != nil { // looked at behind the deadline, which its end would have moved
			return err
		}
		if _, err := v.w.Write(b.Next(exportPiece)); err != nil || out.Flush() != nil {
			return errors.Join(errSlow, ctx.Err())
		}
	}
	return nil
}
