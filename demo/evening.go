package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"sendonce/api"
	"sendonce/terminal"
)

// settleTime is how long the evening waits at most for what settles by itself. What takes longer goes on while the console is open.
const settleTime = 25 * time.Second

// evening waits until nothing more is under way, stops the service, and counts.
func (d *day) evening(ctx context.Context) (*Result, error) {
	d.tell(clock(openFor), "The shop closes. What can be proven is settled: by receipts, and by repeats under the providers' own keys.\n")
	if err := d.settle(ctx); err != nil {
		return nil, err
	}
	rows, err := d.rows(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.service.stop(); err != nil {
		return nil, err
	}
	r := d.count(rows)
	out, err := d.service.run("check", "--json")
	if len(out) == 0 && err != nil {
		return nil, err
	}
	if err := json.Unmarshal(out, &r.Check); err != nil {
		return nil, fmt.Errorf("reading the check: %w", err)
	}
	r.Kept = r.Sendonce.Twice == 0 && r.Lost == 0 && r.Check.Rows == int64(len(d.script)) && len(r.Check.Found) == 0
	return r, nil
}

// settle waits for what settles by itself, settleTime at most.
func (d *day) settle(ctx context.Context) error {
	var bar *terminal.Progress
	first := 0
	receipts := time.Now().Add(d.length / 4) // the last of most of them leaves by then
	for end := time.Now().Add(settleTime); ; {
		busy, err := d.busy(ctx)
		if err != nil {
			return err
		}
		if left := time.Until(end); left <= 0 || busy == 0 && time.Now().After(receipts) {
			return nil
		}
		if bar == nil && busy > 0 {
			first, bar = busy, d.say.Progress("settling by itself", int64(busy), false)
			defer bar.End()
		}
		if bar != nil {
			bar.Set(int64(max(first-busy, 0)))
		}
		pause(ctx, 200*time.Millisecond)
	}
}

// busy counts the rows with which something is about to happen by itself.
func (d *day) busy(ctx context.Context) (rows int, err error) {
	for _, state := range []string{"claimed", "sending", "ambiguous"} {
		var list api.List
		if err := d.read(ctx, "/v1/notifications?limit=500&state="+state, &list); err != nil {
			return 0, err
		}
		for _, n := range list.Notifications {
			if next := n.NextAction; state != "ambiguous" || next != nil && *next == "repeat" {
				rows++
			}
		}
	}
	return rows, nil
}

// read is call for what can't be refused.
func (d *day) read(ctx context.Context, path string, value any) error {
	status, err := d.service.call(ctx, http.MethodGet, path, "", value)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("GET %s: %d", path, status)
	}
	return err
}

// rows reads every row of the ledger in full, by the token of its text.
func (d *day) rows(ctx context.Context) (map[string]*api.Record, error) {
	rows := map[string]*api.Record{}
	for cursor := ""; ; {
		var page api.List
		if err := d.read(ctx, "/v1/notifications?limit=500"+cursor, &page); err != nil {
			return nil, err
		}
		for _, n := range page.Notifications {
			var r api.Record
			if err := d.read(ctx, "/v1/notifications/"+n.ID, &r); err != nil {
				return nil, err
			}
			rows[token.FindString(string(r.Message))] = &r
		}
		if page.NextCursor == nil {
			return rows, nil
		}
		cursor = "&cursor=" + *page.NextCursor
	}
}

// leaveOpen starts the service once more, for the console, until ctx is done.
func (d *day) leaveOpen(ctx context.Context, r *Result) error {
	d.service.key = ""
	if err := d.writeConfig(false); err != nil {
		return err
	}
	if err := d.service.start(ctx); err != nil {
		return stopped(ctx, err)
	}
	waits := "Nothing waits for a person today."
	if n := len(r.Waiting); n > 0 {
		waits = fmt.Sprintf("%d rows wait there for evidence or for you.", n)
	}
	d.tell("", "\nThe console: %s/console   %s", d.service.url, waits)
	d.tell("", "The terminal: sendonce list --state ambiguous --url %s", d.service.url)
	d.tell("", "Ctrl-C ends the demo and removes its ledger.")
	<-ctx.Done()
	return d.service.stop()
}
