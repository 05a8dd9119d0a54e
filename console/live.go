package console

import (
	"context"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"net/http"
	"time"

	"sendonce/ledger"
)

const (
	streamRest  = 250 * time.Millisecond // between a change and the look at it
	streamBeat  = 15 * time.Second       // between two signs of life, for proxies
	streamEnds  = 10 * time.Minute       // then the browser asks again by itself
	streamWrite = 10 * time.Second       // a reader that takes longer is gone
)

// markOf is a short name for what a page shows, the trouble that stands above every page included. The page and its stream compute it
// the same way, so that a change between the two is seen.
func (c *Console) markOf(parts ...any) string {
	h := fnv.New64a()
	for _, p := range append(parts, c.trouble()) {
		fmt.Fprintf(h, "%v\x00", p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// stream sends an event "change" each time that mark differs from what the page has: ?mark= at first, then the last one sent. It
// looks when the ledger tells of a change that concerns the page, or is in other trouble than before, and ends with the session, the
// service, or after streamEnds. Where not even the first look succeeds there is no stream but a refusal: the page says so then.
func (v *visit) stream(concerns func(ledger.Changes) bool, mark func(context.Context) (string, error)) error {
	leave, ok := v.c.streams.enter(v.login())
	if !ok {
		return errBusy
	}
	defer leave()
	ctx, cancel := context.WithTimeout(v.r.Context(), streamEnds)
	defer cancel()
	defer context.AfterFunc(v.c.running, cancel)()
	watcher := v.c.ledger.Watch(ctx, v.who.Source) // before the first look, so that nothing falls between
	trouble := v.c.trouble()
	now, err := mark(ctx)
	if err != nil {
		return err
	}
	out := http.NewResponseController(v.w)
	_ = out.SetReadDeadline(time.Time{})
	v.w.Header().Set("Content-Type", "text/event-stream")
	v.w.Header().Set("X-Accel-Buffering", "no")
	send := func(text string) bool {
		_ = out.SetWriteDeadline(time.Now().Add(streamWrite))
		_, err := v.w.Write([]byte(text))
		return err == nil && out.Flush() == nil
	}
	shown := v.asked["mark"]
	if last := v.r.Header.Get("Last-Event-ID"); last != "" {
		shown = last
	}
	for text := "retry: 3000\n\n"; send(text); {
		text = ": still here\n\n"
		if now != shown {
			shown = now
			text = "event: change\nid: " + now + "\ndata: " + now + "\n\n"
			continue
		}
		look, ok := v.await(ctx, watcher, concerns)
		if !ok {
			return nil
		}
		if is := v.c.trouble(); look || is != trouble {
			trouble = is
			if now, err = mark(ctx); err != nil {
				return nil // the browser asks again, and is told then
			}
		}
	}
	return nil
}

// await waits for a change that concerns the page, at most for streamBeat; ok is false when the stream is over.
func (v *visit) await(ctx context.Context, w *ledger.Watcher, concerns func(ledger.Changes) bool) (look, ok bool) {
	beat, cancel := context.WithTimeout(ctx, streamBeat)
	defer cancel()
	for {
		c, err := w.Next(beat)
		if ctx.Err() != nil {
			return false, false
		}
		if _, in := v.c.identify(v.r, false); !in {
			return false, false
		}
		if err != nil {
			return false, true
		}
		if c.Lost || concerns(c) {
			select { // what happens together is shown together
			case <-time.After(streamRest):
			case <-ctx.Done():
			}
			return true, ctx.Err() == nil
		}
	}
}
